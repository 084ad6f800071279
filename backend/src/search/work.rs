//! The candidates of a shard, cut into work units.

use super::blocks::{BlockRanges, UNIT_BLOCKS};
use super::document_slices::{DocumentSlice, DocumentSlices};
use index::shard::{Candidates, DocumentCandidates, Shard, ShardError};
use std::ops::Range;

/// What has to be verified in a shard.
pub(super) enum ShardCandidates {
    /// Blocks, when lines are matched one by one.
    Blocks(Candidates),
    /// Documents, when each is evaluated as a whole.
    Documents(DocumentCandidates),
}

impl ShardCandidates {
    /// Returns the number of candidate blocks.
    pub(super) fn blocks(&self) -> u64 {
        match self {
            ShardCandidates::Blocks(_) => self.weight(),
            ShardCandidates::Documents(documents) => documents.block_count,
        }
    }

    /// Returns the amount of work: blocks to verify and documents to evaluate.
    pub(super) fn weight(&self) -> u64 {
        match self {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => blocks.len() as u64,
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => total_len(ranges),
            ShardCandidates::Documents(it) => total_len(&it.documents) + it.block_count,
        }
    }
}

fn total_len(ranges: &[Range<u32>]) -> u64 {
    ranges.iter().map(|range| range.len() as u64).sum()
}

/// Candidates, cut into work units.
pub(super) enum WorkList<'a> {
    Ranges {
        ranges: &'a [Range<u32>],
        /// The number of units up to the end of each range.
        ends: Vec<usize>,
    },
    Blocks(&'a [u32]),
    Documents(DocumentSlices<'a>),
}

/// The work that a worker does at a time.
pub(super) enum WorkUnit<'a> {
    Blocks(BlockRanges<'a>),
    /// Some slices, and all slices of the shard.
    Documents(&'a [DocumentSlice], &'a DocumentSlices<'a>),
}

impl<'a> WorkList<'a> {
    pub(super) fn new(candidates: &'a ShardCandidates, shard: &Shard) -> Result<Self, ShardError> {
        Ok(match candidates {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => WorkList::Blocks(blocks),
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => WorkList::from_ranges(ranges),
            ShardCandidates::Documents(documents) => {
                WorkList::Documents(DocumentSlices::new(documents, shard)?)
            }
        })
    }

    fn from_ranges(ranges: &'a [Range<u32>]) -> Self {
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
            WorkList::Blocks(blocks) => blocks.len().div_ceil(UNIT_BLOCKS),
            WorkList::Documents(slices) => slices.unit_count(),
        }
    }

    pub(super) fn get(&self, index: usize) -> WorkUnit<'_> {
        match self {
            WorkList::Ranges { ranges, ends } => {
                let range = range_unit(ranges, ends, index);
                WorkUnit::Blocks(BlockRanges::from_range(range))
            }
            WorkList::Blocks(blocks) => {
                let start = index * UNIT_BLOCKS;
                let end = blocks.len().min(start + UNIT_BLOCKS);
                WorkUnit::Blocks(BlockRanges::from_list(&blocks[start..end]))
            }
            WorkList::Documents(slices) => WorkUnit::Documents(slices.unit(index), slices),
        }
    }
}

/// Returns the blocks of unit `index`, which all lie in one of the `ranges`.
fn range_unit(ranges: &[Range<u32>], ends: &[usize], index: usize) -> Range<u32> {
    let number = ends.partition_point(|&end| end <= index);
    let before = number.checked_sub(1).map_or(0, |before| ends[before]);
    let range = &ranges[number];
    let start = range.start + ((index - before) * UNIT_BLOCKS) as u32;
    start..range.end.min(start.saturating_add(UNIT_BLOCKS as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks_of_all_units(candidates: Candidates) -> Vec<u32> {
        let candidates = ShardCandidates::Blocks(candidates);
        let units = match &candidates {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => WorkList::Blocks(blocks),
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => WorkList::from_ranges(ranges),
            ShardCandidates::Documents(_) => unreachable!(),
        };
        let mut blocks = Vec::new();
        for index in 0..units.len() {
            let before = blocks.len();
            let WorkUnit::Blocks(mut unit) = units.get(index) else {
                unreachable!();
            };
            while let Some(range) = unit.next_range(u32::MAX) {
                blocks.extend(range);
            }
            assert!((1..=UNIT_BLOCKS).contains(&(blocks.len() - before)));
        }
        assert_eq!(blocks.len() as u64, candidates.weight());
        blocks
    }

    #[test]
    fn units_have_all_candidates_in_order() {
        let list: Vec<u32> = (0..200).map(|block| block * 3).collect();
        assert_eq!(blocks_of_all_units(Candidates::Blocks(list.clone())), list);
        let table: [&[(u32, u32)]; 4] =
            [&[], &[(0, 1)], &[(0, 64)], &[(3, 67), (70, 71), (100, 400)]];
        for ranges in table {
            let ranges: Vec<_> = ranges.iter().map(|&(start, end)| start..end).collect();
            let expected: Vec<u32> = ranges.iter().cloned().flatten().collect();
            assert_eq!(blocks_of_all_units(Candidates::Ranges(ranges)), expected);
        }
    }
}
