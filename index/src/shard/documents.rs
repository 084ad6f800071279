//! From a query of documents and filters to the documents that they do not rule out, and to those of
//! their blocks that patterns can match in.
//!
//! Unlike [`Candidates`](super::Candidates), which are blocks, these are documents: they may be
//! found by their names, and those without a line have no block.
//! **Invariant:** no document that the filters leave and the query holds of is missing, and no block
//! of one in which a pattern can match.

use super::inside::Inside;
use super::{BlockId, DocId, Shard, ShardError, ranges};
use crate::filter::Filters;
use crate::format::Section;
use crate::plan::{DocumentQuery, TrigramQuery};
use crate::posting;
use std::ops::Range;

/// Documents, and where to look in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentCandidates {
    /// The documents' numbers, in ranges that ascend, with something else between any two.
    pub documents: Vec<Range<u32>>,
    /// The blocks to look at, ascending, all of these documents; `None`: all of theirs.
    pub blocks: Option<Vec<u32>>,
    /// How many blocks there are to look at.
    pub block_count: u64,
}

impl Shard {
    /// The live documents that neither `query` nor `filters` rule out, and those of their blocks that
    /// satisfy one of `looks`. `stop` is asked as for
    /// [`filtered_candidates`](Self::filtered_candidates).
    pub fn document_candidates(
        &self,
        query: &DocumentQuery,
        looks: &[&TrigramQuery],
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<DocumentCandidates>, ShardError> {
        let packages = self.documents_of_packages(filters, stop)?;
        let blocks = self.blocks_of_documents(&packages)?;
        let inside = Inside::new(self, &blocks, stop);
        let documents = match self.documents_with(query, &inside)? {
            None => packages,
            Some(documents) => joined(&documents),
        };
        let Some(documents) = self.documents_filtered(documents, filters, stop)? else {
            return Ok(None);
        };
        let blocks = self.blocks_to_look_at(&documents, looks, &inside)?;
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

    /// The documents of the live packages that the filters by package leave.
    fn documents_of_packages(
        &self,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Range<u32>>, ShardError> {
        let mut left = Vec::new();
        for package in self.live_packages() {
            if stop() {
                break;
            }
            let package = self.package(package)?;
            if filters.accepts_package(package.directory) {
                ranges::push(&mut left, package.documents)
                    .ok_or_else(|| self.corrupt(Section::Packages, "order of packages"))?;
            }
        }
        Ok(left)
    }

    /// The blocks of ranges of documents.
    fn blocks_of_documents(&self, documents: &[Range<u32>]) -> Result<Vec<Range<u32>>, ShardError> {
        let mut blocks = Vec::new();
        for range in documents {
            let start = self.document(DocId(range.start))?.blocks.start;
            let end = self.document(DocId(range.end - 1))?.blocks.end;
            ranges::push(&mut blocks, start..end.max(start))
                .ok_or_else(|| self.inconsistent("order of documents"))?;
        }
        Ok(blocks)
    }

    /// The documents with blocks that satisfy a query, ascending; `None`: all.
    fn documents_with(
        &self,
        query: &DocumentQuery,
        inside: &Inside<'_>,
    ) -> Result<Option<Vec<u32>>, ShardError> {
        match query {
            DocumentQuery::Block(query) => {
                let blocks = inside.blocks(query)?;
                blocks.map(|blocks| self.documents_of(&blocks)).transpose()
            }
            DocumentQuery::And(parts) => {
                let mut left: Option<Vec<u32>> = None;
                for part in parts {
                    match (&mut left, self.documents_with(part, inside)?) {
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
                    match self.documents_with(part, inside)? {
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

    /// The documents that blocks, which ascend, belong to.
    fn documents_of(&self, blocks: &[u32]) -> Result<Vec<u32>, ShardError> {
        let (mut documents, mut rest) = (Vec::new(), blocks);
        while let Some(&block) = rest.first() {
            let document = self.document(self.document_of(BlockId(block))?)?;
            if !document.blocks.contains(&block) {
                return Err(self.inconsistent("a block of no document"));
            }
            documents.push(document.id.0);
            rest = &rest[rest.partition_point(|&block| block < document.blocks.end)..];
        }
        Ok(documents)
    }

    /// What the filters by path and language leave of documents; `None`: it was stopped.
    fn documents_filtered(
        &self,
        documents: Vec<Range<u32>>,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Range<u32>>>, ShardError> {
        if !filters.has_document_filters() {
            return Ok(Some(documents));
        }
        let mut left = Vec::new();
        for id in documents.into_iter().flatten() {
            if stop() {
                return Ok(None);
            }
            if self.leaves(filters, &self.document(DocId(id))?)? {
                ranges::push(&mut left, id..id + 1)
                    .ok_or_else(|| self.inconsistent("order of documents"))?;
            }
        }
        Ok(Some(left))
    }

    /// Of the documents' blocks those that satisfy one of `looks`; `None`: all.
    fn blocks_to_look_at(
        &self,
        documents: &[Range<u32>],
        looks: &[&TrigramQuery],
        inside: &Inside<'_>,
    ) -> Result<Option<Vec<u32>>, ShardError> {
        let mut all = Vec::new();
        for look in looks {
            match inside.blocks(look)? {
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

/// Numbers that ascend, as ranges.
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
