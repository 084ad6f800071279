//! Candidates, cut into units.

use super::items::{Item, Items};
use index::shard::{Candidates, DocumentCandidates, Shard, ShardError};
use std::ops::Range;

/// Candidate blocks of a unit: a quarter of a megabyte of text, some tenths of a millisecond.
pub(super) const UNIT_BLOCKS: usize = 64;

/// What is to be looked at in a shard.
pub(super) enum Found {
    /// Blocks, for what is decided line by line.
    Blocks(Candidates),
    /// Documents.
    Documents(DocumentCandidates),
}

impl Found {
    /// How many blocks there are.
    pub(super) fn blocks(&self) -> u64 {
        match self {
            Found::Blocks(_) => self.count(),
            Found::Documents(found) => found.block_count,
        }
    }

    /// How much there is to do: blocks, and documents that are judged.
    pub(super) fn count(&self) -> u64 {
        match self {
            Found::Blocks(Candidates::Blocks(blocks)) => blocks.len() as u64,
            Found::Blocks(Candidates::Ranges(ranges)) => sum(ranges),
            Found::Documents(found) => sum(&found.documents) + found.block_count,
        }
    }
}

fn sum(ranges: &[Range<u32>]) -> u64 {
    ranges.iter().map(|range| range.len() as u64).sum()
}

/// The candidates, cut.
pub(super) enum Units<'a> {
    Ranges {
        ranges: &'a [Range<u32>],
        /// Of each range, how many units there are up to its end.
        ends: Vec<usize>,
    },
    List(&'a [u32]),
    Items(Items<'a>),
}

/// A unit: blocks, ascending, or parts of documents.
pub(super) enum Unit<'a> {
    Range(Range<u32>),
    List(&'a [u32]),
    Items(&'a [Item], &'a Items<'a>),
}

impl<'a> Units<'a> {
    pub(super) fn new(found: &'a Found, shard: &Shard) -> Result<Self, ShardError> {
        Ok(match found {
            Found::Blocks(Candidates::Blocks(blocks)) => Units::List(blocks),
            Found::Blocks(Candidates::Ranges(ranges)) => Units::of_ranges(ranges),
            Found::Documents(found) => Units::Items(Items::new(found, shard)?),
        })
    }

    fn of_ranges(ranges: &'a [Range<u32>]) -> Self {
        let ends = ranges.iter().scan(0, |end, range| {
            *end += range.len().div_ceil(UNIT_BLOCKS);
            Some(*end)
        });
        Units::Ranges {
            ranges,
            ends: ends.collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Units::Ranges { ends, .. } => ends.last().copied().unwrap_or(0),
            Units::List(blocks) => blocks.len().div_ceil(UNIT_BLOCKS),
            Units::Items(items) => items.units(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Unit<'_> {
        match self {
            Units::Ranges { ranges, ends } => Unit::Range(range(ranges, ends, index)),
            Units::List(blocks) => {
                let start = index * UNIT_BLOCKS;
                Unit::List(&blocks[start..blocks.len().min(start + UNIT_BLOCKS)])
            }
            Units::Items(items) => Unit::Items(items.unit(index), items),
        }
    }
}

/// Unit number `index` of `ranges`; none is in two of them.
fn range(ranges: &[Range<u32>], ends: &[usize], index: usize) -> Range<u32> {
    let number = ends.partition_point(|&end| end <= index);
    let before = number.checked_sub(1).map_or(0, |before| ends[before]);
    let range = &ranges[number];
    let start = range.start + ((index - before) * UNIT_BLOCKS) as u32;
    start..range.end.min(start.saturating_add(UNIT_BLOCKS as u32))
}

/// Takes runs of consecutive blocks off the front of a unit.
pub(super) struct Runs<'a> {
    range: Range<u32>,
    list: &'a [u32],
}

impl<'a> Runs<'a> {
    pub(super) fn of_range(range: Range<u32>) -> Self {
        Runs { range, list: &[] }
    }

    pub(super) fn of_list(list: &'a [u32]) -> Self {
        Runs { range: 0..0, list }
    }

    pub(super) fn peek(&self) -> Option<u32> {
        self.list
            .first()
            .copied()
            .or((!self.range.is_empty()).then_some(self.range.start))
    }

    /// The next consecutive blocks that are below `end`.
    pub(super) fn next_run(&mut self, end: u32) -> Option<Range<u32>> {
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
        let found = Found::Blocks(candidates);
        let units = match &found {
            Found::Blocks(Candidates::Blocks(blocks)) => Units::List(blocks),
            Found::Blocks(Candidates::Ranges(ranges)) => Units::of_ranges(ranges),
            Found::Documents(_) => panic!("not here"),
        };
        let mut blocks = Vec::new();
        for index in 0..units.len() {
            let before = blocks.len();
            match units.get(index) {
                Unit::Range(range) => blocks.extend(range),
                Unit::List(list) => blocks.extend(list),
                Unit::Items(..) => panic!("not here"),
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
