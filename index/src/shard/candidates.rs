//! From a trigram query and filters to the blocks that they do not rule out.
//!
//! Filters are applied in two steps, ordered by cost. Package filters come first, for every live
//! package: a package is one range of blocks, and posting lists are intersected only inside the
//! ranges that remain. Path and language filters come last: a regular expression on every path
//! would cost more than most posting lists, so it is matched only against documents that still have
//! a candidate (or against all remaining ones when the query rules nothing out).
//! **Invariant:** no block of a document that the filters reject is a candidate, and the filters
//! rule out no block of a document that they accept.

use super::error::ShardError;
use super::evaluate::Evaluator;
use super::{BlockId, Document, Shard, ranges};
use crate::filter::Filters;
use crate::format::Section;
use crate::plan::TrigramQuery;
use crate::trigram::Trigram;
use std::borrow::Cow;
use std::ops::Range;

/// The live blocks that a query and filters do not rule out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// All blocks in these ranges: ascending, none empty, never two that touch.
    Ranges(Vec<Range<u32>>),
    /// These blocks, ascending.
    Blocks(Vec<u32>),
}

impl Shard {
    /// Returns the live blocks that `query` does not rule out.
    pub fn candidates(&self, query: &TrigramQuery) -> Result<Candidates, ShardError> {
        let candidates = self.filtered_candidates(query, &Filters::default(), &|| false)?;
        Ok(candidates.expect("stop never returns true"))
    }

    /// Returns the live blocks that neither `query` nor `filters` rule out, or `None` when `stop`
    /// returned true. `stop` is asked for every package, posting list and document that is read;
    /// once it returns true it must always do so.
    pub fn filtered_candidates(
        &self,
        query: &TrigramQuery,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Candidates>, ShardError> {
        let ranges = self.accepted_packages(filters, stop)?;
        let blocks = Evaluator::new(self, &ranges, stop).blocks(query)?;
        let candidates = match (blocks, filters.has_document_filters()) {
            (Some(blocks), false) => Some(Candidates::Blocks(blocks)),
            (None, false) => Some(Candidates::Ranges(ranges.into_owned())),
            (Some(blocks), true) => self
                .accepted_blocks(filters, &blocks, stop)?
                .map(Candidates::Blocks),
            (None, true) => self
                .accepted_ranges(filters, &ranges, stop)?
                .map(Candidates::Ranges),
        };
        self.intact()?;
        Ok(candidates.filter(|_| !stop()))
    }

    /// Returns the live blocks that hold a trigram, ascending.
    pub fn blocks_with(&self, trigram: Trigram) -> Result<Vec<BlockId>, ShardError> {
        let list = self.postings(trigram)?;
        let blocks = list.map_or(Vec::new(), |list| list.within(self.live_blocks()));
        self.intact()?;
        Ok(blocks.into_iter().map(BlockId).collect())
    }

    /// Returns the blocks of the live packages that the package filters accept.
    fn accepted_packages(
        &self,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Cow<'_, [Range<u32>]>, ShardError> {
        if !filters.has_package_filters() {
            return Ok(Cow::Borrowed(self.live_blocks()));
        }
        let mut accepted = Vec::new();
        for package in self.live_packages() {
            if stop() {
                break;
            }
            let package = self.package(package)?;
            if !filters.accepts_package(package.directory) {
                continue;
            }
            if let Some(blocks) = self.blocks_of(&package)? {
                ranges::push(&mut accepted, blocks)
                    .ok_or_else(|| self.corrupt(Section::Packages, "order of packages"))?;
            }
        }
        Ok(Cow::Owned(accepted))
    }

    /// Returns the parts of `within`, ranges of whole documents, that the document filters accept.
    fn accepted_ranges(
        &self,
        filters: &Filters,
        within: &[Range<u32>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Range<u32>>>, ShardError> {
        let mut accepted = Vec::new();
        for range in within {
            let mut id = self.document_of(BlockId(range.start))?;
            let mut at = range.start;
            while at < range.end {
                if stop() {
                    return Ok(None);
                }
                let document = self.document(id)?;
                at = document.blocks.end;
                id.0 += 1;
                if self.is_accepted(filters, &document)? {
                    ranges::push(&mut accepted, document.blocks)
                        .ok_or_else(|| self.inconsistent("order of documents"))?;
                }
            }
        }
        Ok(Some(accepted))
    }

    /// Returns those of the ascending `blocks` whose documents the document filters accept.
    fn accepted_blocks(
        &self,
        filters: &Filters,
        blocks: &[u32],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<u32>>, ShardError> {
        let (mut accepted, mut rest) = (Vec::new(), blocks);
        while let Some(&block) = rest.first() {
            if stop() {
                return Ok(None);
            }
            let document = self.document_with(BlockId(block))?;
            let own = rest.partition_point(|&block| block < document.blocks.end);
            if self.is_accepted(filters, &document)? {
                accepted.extend_from_slice(&rest[..own]);
            }
            rest = &rest[own..];
        }
        Ok(Some(accepted))
    }

    /// Returns the document that holds a block.
    pub(super) fn document_with(&self, block: BlockId) -> Result<Document<'_>, ShardError> {
        let document = self.document(self.document_of(block)?)?;
        if !document.blocks.contains(&block.0) {
            return Err(self.inconsistent("a block of no document"));
        }
        Ok(document)
    }

    /// Whether the document filters accept a document.
    pub(super) fn is_accepted(
        &self,
        filters: &Filters,
        document: &Document<'_>,
    ) -> Result<bool, ShardError> {
        let package = self.package(self.package_of(document.id)?)?;
        Ok(filters.accepts_document(package.directory, document.path))
    }
}
