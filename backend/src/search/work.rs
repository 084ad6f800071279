//! Candidates, cut into units.

use super::document_slices::{DocumentSlice, DocumentSlices};
use index::shard::{Candidates, DocumentCandidates, Shard, ShardError};
use std::ops::Range;

/// Candidate blocks of a unit: a quarter of a megabyte of text, some tenths of a millisecond.
pub(super) const UNIT_BLOCKS: usize = 64;

/// What is to be looked at in a shard.
pub(super) enum ShardCandidates {
    /// Blocks, for what is decided line by line.
    Blocks(Candidates),
    /// Documents.
    Documents(DocumentCandidates),
}

impl ShardCandidates {
    /// How many blocks there are.
    pub(super) fn blocks(&self) -> u64 {
        match self {
            ShardCandidates::Blocks(_) => self.count(),
            ShardCandidates::Documents(found) => found.block_count,
        }
    }

    /// How much there is to do: blocks, and documents that are judged.
    pub(super) fn count(&self) -> u64 {
        match self {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => blocks.len() as u64,
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => sum(ranges),
            ShardCandidates::Documents(found) => sum(&found.documents) + found.block_count,
        }
    }
}

fn sum(ranges: &[Range<u32>]) -> u64 {
    ranges.iter().map(|range| range.len() as u64).sum()
}

/// The candidates, cut.
pub(super) enum WorkList<'a> {
    Ranges {
        ranges: &'a [Range<u32>],
        /// Of each range, how many units there are up to its end.
        ends: Vec<usize>,
    },
    List(&'a [u32]),
    DocumentSlices(DocumentSlices<'a>),
}

/// A unit: blocks, ascending, or parts of documents.
pub(super) enum WorkUnit<'a> {
    Range(Range<u32>),
    List(&'a [u32]),
    DocumentSlices(&'a [DocumentSlice], &'a DocumentSlices<'a>),
}

impl<'a> WorkList<'a> {
    pub(super) fn new(found: &'a ShardCandidates, shard: &Shard) -> Result<Self, ShardError> {
        Ok(match found {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => WorkList::List(blocks),
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => WorkList::of_ranges(ranges),
            ShardCandidates::Documents(found) => {
                WorkList::DocumentSlices(DocumentSlices::new(found, shard)?)
            }
        })
    }

    fn of_ranges(ranges: &'a [Range<u32>]) -> Self {
        let ends = ranges.iter().scan(0, |end, range| {
            *end += range.len().div_ceil(UNIT_BLOCKS);
            Some(*end)
        });
        WorkList::Ranges {
            ranges,
            ends: ends.collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            WorkList::Ranges { ends, .. } => ends.last().copied().unwrap_or(0),
            WorkList::List(blocks) => blocks.len().div_ceil(UNIT_BLOCKS),
            WorkList::DocumentSlices(items) => items.units(),
        }
    }

    pub(super) fn get(&self, index: usize) -> WorkUnit<'_> {
        match self {
            WorkList::Ranges { ranges, ends } => WorkUnit::Range(range(ranges, ends, index)),
            WorkList::List(blocks) => {
                let start = index * UNIT_BLOCKS;
                WorkUnit::List(&blocks[start..blocks.len().min(start + UNIT_BLOCKS)])
            }
            WorkList::DocumentSlices(items) => WorkUnit::DocumentSlices(items.unit(index), items),
        }
    }
}

/// WorkUnit number `index` of `ranges`; none is in two of them.
fn range(ranges: &[Range<u32>], ends: &[usize], index: usize) -> Range<u32> {
    let number = ends.partition_point(|&end| end <= index);
    let before = number.checked_sub(1).map_or(0, |before| ends[before]);
    let range = &ranges[number];
    let start = range.start + ((index - before) * UNIT_BLOCKS) as u32;
    start..range.end.min(start.saturating_add(UNIT_BLOCKS as u32))
}

/// Takes runs of consecutive blocks off the front of a unit.
pub(super) struct BlockRanges<'a> {
    range: Range<u32>,
    list: &'a [u32],
}

impl<'a> BlockRanges<'a> {
    pub(super) fn from_range(range: Range<u32>) -> Self {
        BlockRanges { range, list: &[] }
    }

    pub(super) fn from_list(list: &'a [u32]) -> Self {
        BlockRanges { range: 0..0, list }
    }

    pub(super) fn peek(&self) -> Option<u32> {
        self.list
            .first()
            .copied()
            .or((!self.range.is_empty()).then_some(self.range.start))
    }

    /// The next consecutive blocks that are below `end`.
    pub(super) fn next_range(&mut self, end: u32) -> Option<Range<u32>> {
        let start = self.peek().filter(|&start| start < end)?;
        if !self.range.is_empty() {
            let run = start..end.min(self.range.end);
            self.range.start = run.end;
            return Some(run);
        }
        let consecutive = (start..end)
            .zip(self.list)
            .take_while(|(a, b)| a == *b)
            .count();
        self.list = &self.list[consecutive..];
        Some(start..start + consecutive as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(candidates: Candidates) -> Vec<u32> {
        let found = ShardCandidates::Blocks(candidates);
        let units = match &found {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => WorkList::List(blocks),
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => WorkList::of_ranges(ranges),
            ShardCandidates::Documents(_) => panic!("not here"),
        };
        let mut blocks = Vec::new();
        for index in 0..units.len() {
            let before = blocks.len();
            match units.get(index) {
                WorkUnit::Range(range) => blocks.extend(range),
                WorkUnit::List(list) => blocks.extend(list),
                WorkUnit::DocumentSlices(..) => panic!("not here"),
            }
            assert!((1..=UNIT_BLOCKS).contains(&(blocks.len() - before)));
        }
        assert_eq!(blocks.len() as u64, found.count());
        blocks
    }

    #[test]
    fn units_are_all_candidates_in_order() {
        let list: Vec<u32> = (0..200).map(|block| block * 3).collect();
        assert_eq!(blocks(Candidates::Blocks(list.clone())), list);
        let table: [&[(u32, u32)]; 4] =
            [&[], &[(0, 1)], &[(0, 64)], &[(3, 67), (70, 71), (100, 400)]];
        for ranges in table {
            let ranges: Vec<_> = ranges.iter().map(|&(start, end)| start..end).collect();
            let expected: Vec<u32> = ranges.iter().cloned().flatten().collect();
            assert_eq!(blocks(Candidates::Ranges(ranges)), expected);
        }
    }
}
