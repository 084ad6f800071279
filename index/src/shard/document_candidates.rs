//! From a document query and filters to the documents that they do not rule out, and to the blocks
//! of these documents in which patterns can match.
//!
//! [`Candidates`](super::Candidates) are blocks; these are documents. A document may match by its
//! name alone, and an empty document has no block.
//! **Invariant:** every document that the filters accept and the query holds for is included, and
//! so is every block of it in which a pattern can match.

use super::candidates::Evaluator;
use super::error::ShardError;
use super::live_set::push_range;
use super::{BlockId, DocId, Package, Shard};
use crate::filter::Filters;
use crate::plan::{DocumentQuery, TrigramQuery};
use crate::posting;
use std::ops::Range;

/// Documents that may match, and the blocks in which to look for matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentCandidates {
    /// The documents: ascending ranges of ids, none empty, never two that touch.
    pub documents: Vec<Range<u32>>,
    /// The blocks to look at, ascending, all in these documents; `None` means all their blocks.
    pub blocks: Option<Vec<u32>>,
    /// Number of blocks to look at.
    pub block_count: u64,
}

impl Shard {
    /// Returns the live documents that neither `query` nor `filters` rule out, and their blocks that
    /// satisfy one of `looks`; `None` when `stop` returned true. `stop` is asked as in
    /// [`filtered_candidates`](Self::filtered_candidates).
    pub fn document_candidates(
        &self,
        query: &DocumentQuery,
        looks: &[&TrigramQuery],
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<DocumentCandidates>, ShardError> {
        let documents = |package: &Package<'_>| Ok(package.documents.clone());
        let packages = self.ranges_of_accepted_packages(filters, stop, documents)?;
        let blocks = self.blocks_of_documents(&packages)?;
        let evaluator = Evaluator::new(self, &blocks, stop);
        let documents = match self.documents_with(query, &evaluator)? {
            None => packages,
            Some(documents) => joined(&documents),
        };
        let Some(documents) = self.accepted_documents(documents, filters, stop)? else {
            return Ok(None);
        };
        let blocks = self.blocks_to_look_at(&documents, looks, &evaluator)?;
        self.intact()?;
        let block_count = match &blocks {
            Some(blocks) => blocks.len() as u64,
            None => {
                let ranges = self.blocks_of_documents(&documents)?;
                ranges.iter().map(|range| range.len() as u64).sum()
            }
        };
        let candidates = DocumentCandidates {
            documents,
            blocks,
            block_count,
        };
        Ok(Some(candidates).filter(|_| !stop()))
    }

    /// Returns the blocks of ranges of documents.
    fn blocks_of_documents(&self, documents: &[Range<u32>]) -> Result<Vec<Range<u32>>, ShardError> {
        let mut blocks = Vec::new();
        for range in documents {
            let start = self.document(DocId(range.start))?.blocks.start;
            let end = self.document(DocId(range.end - 1))?.blocks.end;
            push_range(&mut blocks, start..end.max(start))
                .ok_or_else(|| self.inconsistent("order of documents"))?;
        }
        Ok(blocks)
    }

    /// Returns the documents for which a query holds, ascending; `None` means all.
    fn documents_with(
        &self,
        query: &DocumentQuery,
        evaluator: &Evaluator<'_>,
    ) -> Result<Option<Vec<u32>>, ShardError> {
        match query {
            DocumentQuery::Block(query) => {
                let blocks = evaluator.blocks(query)?;
                blocks.map(|blocks| self.documents_of(&blocks)).transpose()
            }
            DocumentQuery::And(parts) => {
                let mut left: Option<Vec<u32>> = None;
                for part in parts {
                    match (&mut left, self.documents_with(part, evaluator)?) {
                        (_, None) => {}
                        (None, documents) => left = documents,
                        (Some(left), Some(documents)) => posting::retain_common(left, &documents),
                    }
                    if left.as_ref().is_some_and(Vec::is_empty) {
                        break;
                    }
                }
                Ok(left)
            }
            DocumentQuery::Or(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    match self.documents_with(part, evaluator)? {
                        None => return Ok(None),
                        Some(documents) => all.extend(documents),
                    }
                }
                all.sort_unstable();
                all.dedup();
                Ok(Some(all))
            }
        }
    }

    /// Returns the documents that hold the ascending `blocks`.
    fn documents_of(&self, blocks: &[u32]) -> Result<Vec<u32>, ShardError> {
        let (mut documents, mut rest) = (Vec::new(), blocks);
        while let Some(&block) = rest.first() {
            let document = self.document_with(BlockId(block))?;
            documents.push(document.id.0);
            rest = &rest[rest.partition_point(|&block| block < document.blocks.end)..];
        }
        Ok(documents)
    }

    /// Returns those of `documents` that the document filters accept; `None` when it was stopped.
    fn accepted_documents(
        &self,
        documents: Vec<Range<u32>>,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Range<u32>>>, ShardError> {
        if !filters.has_document_filters() {
            return Ok(Some(documents));
        }
        let mut accepted = Vec::new();
        for id in documents.into_iter().flatten() {
            if stop() {
                return Ok(None);
            }
            if self.is_accepted(filters, &self.document(DocId(id))?)? {
                push_range(&mut accepted, id..id + 1)
                    .ok_or_else(|| self.inconsistent("order of documents"))?;
            }
        }
        Ok(Some(accepted))
    }

    /// Returns the documents' blocks that satisfy one of `looks`; `None` means all.
    fn blocks_to_look_at(
        &self,
        documents: &[Range<u32>],
        looks: &[&TrigramQuery],
        evaluator: &Evaluator<'_>,
    ) -> Result<Option<Vec<u32>>, ShardError> {
        let mut all = Vec::new();
        for look in looks {
            match evaluator.blocks(look)? {
                None => return Ok(None),
                Some(blocks) => all.extend(blocks),
            }
        }
        all.sort_unstable();
        all.dedup();
        let ranges = self.blocks_of_documents(documents)?;
        let mut ranges = ranges.iter().peekable();
        all.retain(|block| {
            while ranges.next_if(|range| range.end <= *block).is_some() {}
            ranges.peek().is_some_and(|range| range.contains(block))
        });
        Ok(Some(all))
    }
}

/// Converts ascending numbers to ranges.
fn joined(numbers: &[u32]) -> Vec<Range<u32>> {
    let mut joined: Vec<Range<u32>> = Vec::new();
    for &number in numbers {
        match joined.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => joined.push(number..number + 1),
        }
    }
    joined
}
