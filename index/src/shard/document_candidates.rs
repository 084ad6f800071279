//! Candidate documents of a document query and filters, and the blocks to search in them. A
//! document may match by name alone, and an empty one has no block.
//! **Invariant:** includes every document accepted by filters and query, and every block of it that
//! can match.

use super::candidates::Evaluator;
use super::error::Result;
use super::{BlockId, DocId, Shard};
use crate::filter::Filters;
use crate::plan::{DocumentQuery, TrigramQuery};
use crate::posting::{self, push_range};
use std::ops::Range;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentCandidates {
    /// Ascending, nonempty, separate ranges of ids.
    pub documents: Vec<Range<u32>>,
    /// Blocks to search, ascending, all in these documents; `None` means all.
    pub blocks: Option<Vec<u32>>,
    /// Each counted once.
    pub block_count: u64,
}

type Accepted = (Vec<Range<u32>>, Vec<Range<u32>>);

impl Shard {
    /// Live documents that satisfy `query` and `filters`, with their blocks that
    /// satisfy one of `looks`; `None` once `stop` returned true (see
    /// [`filtered_candidates`](Self::filtered_candidates)).
    pub fn document_candidates(
        &self,
        query: &DocumentQuery,
        looks: &[&TrigramQuery],
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<DocumentCandidates>> {
        if filters.in_histories != self.is_history() {
            return Ok(Some(DocumentCandidates::default()));
        }
        let scope = self.texts_of_accepted(filters, stop)?;
        let blocks = self.blocks_of_all(&scope)?;
        let evaluator = Evaluator::new(self, &blocks, stop);
        let texts = match self.texts_with(query, filters, &evaluator)? {
            None => scope.into_owned(),
            Some(texts) => posting::joined(texts),
        };
        let Some((texts, documents)) = self.accepted_documents(texts, filters, stop)? else {
            return Ok(None);
        };
        let ranges = self.blocks_of_all(&texts)?;
        let blocks = self.blocks_to_look_at(&ranges, looks, &evaluator)?;
        self.intact()?;
        let block_count = match &blocks {
            Some(blocks) => blocks.len() as u64,
            None => ranges.iter().map(|range| range.len() as u64).sum(),
        };
        let candidates = DocumentCandidates {
            documents,
            blocks,
            block_count,
        };
        Ok(Some(candidates).filter(|_| !stop()))
    }

    /// Ascending; `None` means all.
    fn texts_with(
        &self,
        query: &DocumentQuery,
        filters: &Filters,
        evaluator: &Evaluator<'_>,
    ) -> Result<Option<Vec<u32>>> {
        match query {
            DocumentQuery::Block(query) => {
                self.read_lists_ahead(query);
                let blocks = evaluator.blocks(query)?;
                blocks.map(|blocks| self.texts_of(&blocks)).transpose()
            }
            DocumentQuery::Path(query) => {
                let documents = self.documents_of_paths(query)?;
                let texts = documents.map(|it| self.texts_of_documents(it, query, filters));
                texts.transpose()
            }
            DocumentQuery::And(parts) => {
                posting::common(parts, |part| self.texts_with(part, filters, evaluator))
            }
            DocumentQuery::Or(parts) => {
                posting::united(parts, |part| self.texts_with(part, filters, evaluator))
            }
        }
    }

    /// Texts of accepted documents whose path satisfies `query`, ascending. Other documents must
    /// not count: callers who cannot see them would notice.
    fn texts_of_documents(
        &self,
        documents: Vec<Range<u32>>,
        query: &TrigramQuery,
        filters: &Filters,
    ) -> Result<Vec<u32>> {
        let mut texts = Vec::new();
        for id in documents.into_iter().flatten().map(DocId) {
            if query.is_in(self.document(id)?.path) && self.is_accepted(filters, id)? {
                texts.push(self.text_of_document(id)?.0);
            }
        }
        texts.dedup();
        Ok(texts)
    }

    fn texts_of(&self, blocks: &[u32]) -> Result<Vec<u32>> {
        self.read_tables_ahead(Some(blocks));
        let (mut texts, mut rest) = (Vec::new(), blocks);
        while let Some(&block) = rest.first() {
            let text = self.text_with(BlockId(block))?;
            texts.push(text.id.0);
            rest = &rest[rest.partition_point(|&block| block < text.blocks.end)..];
        }
        Ok(texts)
    }

    /// Accepted documents and their texts; `None` if stopped.
    fn accepted_documents(
        &self,
        texts: Vec<Range<u32>>,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Accepted>> {
        let out_of_order = || self.inconsistent("order of documents");
        let is_narrowed = filters.has_package_filters() || !self.dead().is_empty();
        let asks = filters.has_document_filters()
            || self.has_out_of_reach(filters)
            || (is_narrowed && self.has_copies());
        let (mut left, mut accepted) = (Vec::new(), Vec::new());
        for range in &texts {
            let documents = self.documents_of_texts(range)?;
            if !asks {
                push_range(&mut accepted, documents).ok_or_else(out_of_order)?;
                continue;
            }
            for id in documents {
                if stop() {
                    return Ok(None);
                }
                if !self.is_accepted(filters, DocId(id))? {
                    continue;
                }
                push_range(&mut accepted, id..id + 1).ok_or_else(out_of_order)?;
                let text = self.text_of_document(DocId(id))?.0;
                if left.last() != Some(&text) {
                    left.push(text);
                }
            }
        }
        let texts = if asks { posting::joined(left) } else { texts };
        Ok(Some((texts, accepted)))
    }

    /// Blocks in `ranges` that satisfy one of `looks`; `None` means all.
    fn blocks_to_look_at(
        &self,
        ranges: &[Range<u32>],
        looks: &[&TrigramQuery],
        evaluator: &Evaluator<'_>,
    ) -> Result<Option<Vec<u32>>> {
        let mut all = Vec::new();
        for look in looks {
            match evaluator.blocks(look)? {
                None => return Ok(None),
                Some(blocks) => all.extend(blocks),
            }
        }
        all.sort_unstable();
        all.dedup();
        let mut ranges = ranges.iter().peekable();
        all.retain(|block| {
            while ranges.next_if(|range| range.end <= *block).is_some() {}
            ranges.peek().is_some_and(|range| range.contains(block))
        });
        Ok(Some(all))
    }
}
