//! Documents of a shard in top-k order, and the blocks that define a word.

use super::error::Result;
use super::{DocId, Shard};
use crate::trigram::Trigram;
use language::definition;
use schema::order;
use std::ops::Range;

/// All documents, dead ones included, by static rank and hash; 4 bytes each.
#[derive(Debug)]
pub struct BestFirst {
    /// Within a static rank, ordered by [`order::document_hash`].
    pub documents: Box<[u32]>,
    /// Static ranks, highest first, with their document ranges.
    pub groups: Box<[(f32, Range<usize>)]>,
}

impl Shard {
    /// Live blocks that may define `word` (ignoring ASCII case) at this level; `None`
    /// if not listed.
    pub fn definitions(&self, word: &[u8], level: u8) -> Result<Option<Vec<u32>>> {
        if self.file.header.definition_rules.get() != definition::RULES {
            return Ok(None);
        }
        let list = self.postings(Trigram::of_definition(word, level))?;
        let blocks = list.map_or(Vec::new(), |list| list.within(self.live_blocks()));
        self.intact()?;
        Ok(Some(blocks))
    }

    /// Tie-breaking hash of a document.
    pub fn document_hash(&self, id: DocId) -> Result<u64> {
        let document = self.document(id)?;
        let package = self.package(document.package)?;
        let has_revisions = !self.revisions_of(id).is_empty();
        let text = has_revisions.then_some(&document.hash[..]);
        Ok(order::document_hash(package.directory, document.path, text))
    }

    /// Documents, best first; sorted by the first call.
    pub fn best_first(&self) -> Result<&BestFirst> {
        if let Some(sorted) = self.best_first.get() {
            return Ok(sorted);
        }
        let mut all = Vec::with_capacity(self.document_count() as usize);
        for id in (0..self.document_count()).map(DocId) {
            let rank = self.document(id)?.static_rank;
            all.push((rank, self.document_hash(id)?, id.0));
        }
        self.intact()?;
        all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let (mut groups, mut start) = (Vec::new(), 0);
        for group in all.chunk_by(|a, b| a.0.to_bits() == b.0.to_bits()) {
            groups.push((group[0].0, start..start + group.len()));
            start += group.len();
        }
        let sorted = BestFirst {
            documents: all.into_iter().map(|(.., id)| id).collect(),
            groups: groups.into(),
        };
        Ok(self.best_first.get_or_init(|| sorted))
    }
}
