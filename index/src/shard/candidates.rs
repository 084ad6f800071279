//! From a trigram query and filters to the blocks that they do not rule out.
//!
//! Filters come in two steps, by what they cost. Those by package are asked of every live package
//! first: a package is one range of blocks, and posting lists are intersected inside the ranges that
//! are left, sought over elsewhere. Those by path and language are asked last: a regular expression of
//! every path would cost more than most lists, and so it is asked only of documents that still have
//! a candidate; of all that are left when the query rules nothing out.
//! **Invariant:** no block of a document that the filters leave out is a candidate, and none of a
//! document that they leave is ruled out by them.

use super::inside::Inside;
use super::{BlockId, Document, Shard, ShardError, ranges};
use crate::filter::Filters;
use crate::format::Section;
use crate::plan::TrigramQuery;
use crate::trigram::Trigram;
use std::borrow::Cow;
use std::ops::Range;

/// The live blocks that a query and filters do not rule out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// All in these ranges, which ascend; none is empty, and between any two are other blocks.
    Ranges(Vec<Range<u32>>),
    /// These, ascending.
    Blocks(Vec<u32>),
}

impl Shard {
    /// The live blocks that `query` does not rule out.
    pub fn candidates(&self, query: &TrigramQuery) -> Result<Candidates, ShardError> {
        let candidates = self.filtered_candidates(query, &Filters::default(), &|| false)?;
        Ok(candidates.expect("nothing is filtered and nobody stops it"))
    }

    /// The live blocks that neither `query` nor `filters` rule out. `stop` is asked for every
    /// package, posting list and document that is looked at; `None`: it said yes, as it must from
    /// then on.
    pub fn filtered_candidates(
        &self,
        query: &TrigramQuery,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Candidates>, ShardError> {
        let ranges = self.packages_left(filters, stop)?;
        let blocks = Inside::new(self, &ranges, stop).blocks(query)?;
        let candidates = match (blocks, filters.has_document_filters()) {
            (Some(blocks), false) => Some(Candidates::Blocks(blocks)),
            (None, false) => Some(Candidates::Ranges(ranges.into_owned())),
            (Some(blocks), true) => self
                .blocks_left(filters, &blocks, stop)?
                .map(Candidates::Blocks),
            (None, true) => self
                .documents_left(filters, &ranges, stop)?
                .map(Candidates::Ranges),
        };
        self.intact()?;
        Ok(candidates.filter(|_| !stop()))
    }

    /// The blocks of the live packages that the filters by package leave.
    fn packages_left(
        &self,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Cow<'_, [Range<u32>]>, ShardError> {
        if !filters.has_package_filters() {
            return Ok(Cow::Borrowed(self.live_blocks()));
        }
        let mut left = Vec::new();
        for package in self.live_packages() {
            if stop() {
                break;
            }
            let package = self.package(package)?;
            if !filters.accepts_package(package.directory) {
                continue;
            }
            if let Some(blocks) = self.blocks_of(&package)? {
                ranges::push(&mut left, blocks)
                    .ok_or_else(|| self.corrupt(Section::Packages, "order of packages"))?;
            }
        }
        Ok(Cow::Owned(left))
    }

    /// Of `within`, ranges of whole documents, what the filters by path and language leave.
    fn documents_left(
        &self,
        filters: &Filters,
        within: &[Range<u32>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Range<u32>>>, ShardError> {
        let mut left = Vec::new();
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
                if self.leaves(filters, &document)? {
                    ranges::push(&mut left, document.blocks)
                        .ok_or_else(|| self.inconsistent("order of documents"))?;
                }
            }
        }
        Ok(Some(left))
    }

    /// Of `blocks`, which ascend, those of documents that the filters by path and language leave.
    fn blocks_left(
        &self,
        filters: &Filters,
        blocks: &[u32],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<u32>>, ShardError> {
        let (mut left, mut rest) = (Vec::new(), blocks);
        while let Some(&block) = rest.first() {
            if stop() {
                return Ok(None);
            }
            let document = self.document(self.document_of(BlockId(block))?)?;
            if !document.blocks.contains(&block) {
                return Err(self.inconsistent("a block of no document"));
            }
            let own = rest.partition_point(|&block| block < document.blocks.end);
            if self.leaves(filters, &document)? {
                left.extend_from_slice(&rest[..own]);
            }
            rest = &rest[own..];
        }
        Ok(Some(left))
    }

    /// Whether filters leave a document of a package that they leave.
    pub(super) fn leaves(
        &self,
        filters: &Filters,
        document: &Document<'_>,
    ) -> Result<bool, ShardError> {
        let package = self.package(self.package_of(document.id)?)?;
        Ok(filters.accepts_document(package.directory, document.path))
    }

    /// The live blocks that hold a trigram, ascending.
    pub fn blocks_with(&self, trigram: Trigram) -> Result<Vec<BlockId>, ShardError> {
        let list = self.postings(trigram)?;
        let blocks = list.map_or(Vec::new(), |list| list.within(self.live_blocks()));
        self.intact()?;
        Ok(blocks.into_iter().map(BlockId).collect())
    }
}
