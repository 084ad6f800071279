//! Candidates, cut into units.

use index::shard::Candidates;
use std::ops::Range;

/// Candidate blocks of a unit: a quarter of a megabyte of text, some tenths of a millisecond.
pub(super) const UNIT_BLOCKS: usize = 64;

/// The candidates, cut.
pub(super) struct Units<'a> {
    candidates: &'a Candidates,
    /// Of each range, how many units there are up to its end.
    ends: Vec<usize>,
}

/// The blocks of a unit, ascending.
pub(super) enum UnitBlocks<'a> {
    Range(Range<u32>),
    List(&'a [u32]),
}

impl<'a> Units<'a> {
    pub(super) fn new(candidates: &'a Candidates) -> Self {
        let mut units = Units {
            candidates,
            ends: Vec::new(),
        };
        if let Candidates::Ranges(ranges) = candidates {
            for range in ranges {
                let end = units.len() + range.len().div_ceil(UNIT_BLOCKS);
                units.ends.push(end);
            }
        }
        units
    }

    pub(super) fn len(&self) -> usize {
        match self.candidates {
            Candidates::Ranges(_) => self.ends.last().copied().unwrap_or(0),
            Candidates::Blocks(blocks) => blocks.len().div_ceil(UNIT_BLOCKS),
        }
    }

    pub(super) fn get(&self, index: usize) -> UnitBlocks<'_> {
        match self.candidates {
            Candidates::Ranges(ranges) => UnitBlocks::Range(self.range(ranges, index)),
            Candidates::Blocks(blocks) => {
                let start = index * UNIT_BLOCKS;
                UnitBlocks::List(&blocks[start..blocks.len().min(start + UNIT_BLOCKS)])
            }
        }
    }

    /// Unit number `index` of `ranges`; none is in two of them.
    fn range(&self, ranges: &[Range<u32>], index: usize) -> Range<u32> {
        let number = self.ends.partition_point(|&end| end <= index);
        let before = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = &ranges[number];
        let start = range.start + ((index - before) * UNIT_BLOCKS) as u32;
        start..range.end.min(start.saturating_add(UNIT_BLOCKS as u32))
    }
}

/// Takes runs of consecutive blocks off the front of a unit.
pub(super) struct Runs<'a> {
    range: Range<u32>,
    list: &'a [u32],
}

impl<'a> Runs<'a> {
    pub(super) fn new(blocks: UnitBlocks<'a>) -> Self {
        match blocks {
            UnitBlocks::Range(range) => Runs { range, list: &[] },
            UnitBlocks::List(list) => Runs { range: 0..0, list },
        }
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

/// How many blocks there are.
pub(super) fn count(candidates: &Candidates) -> u64 {
    match candidates {
        Candidates::Blocks(blocks) => blocks.len() as u64,
        Candidates::Ranges(ranges) => ranges.iter().map(|range| range.len() as u64).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(candidates: &Candidates) -> Vec<u32> {
        let units = Units::new(candidates);
        let mut blocks = Vec::new();
        for index in 0..units.len() {
            let before = blocks.len();
            match units.get(index) {
                UnitBlocks::Range(range) => blocks.extend(range),
                UnitBlocks::List(list) => blocks.extend(list),
            }
            assert!((1..=UNIT_BLOCKS).contains(&(blocks.len() - before)));
        }
        assert_eq!(blocks.len() as u64, count(candidates));
        blocks
    }

    #[test]
    fn units_are_all_candidates_in_order() {
        let list: Vec<u32> = (0..200).map(|block| block * 3).collect();
        assert_eq!(blocks(&Candidates::Blocks(list.clone())), list);
        let table: [&[(u32, u32)]; 4] =
            [&[], &[(0, 1)], &[(0, 64)], &[(3, 67), (70, 71), (100, 400)]];
        for ranges in table {
            let ranges: Vec<_> = ranges.iter().map(|&(start, end)| start..end).collect();
            let expected: Vec<u32> = ranges.iter().cloned().flatten().collect();
            assert_eq!(blocks(&Candidates::Ranges(ranges)), expected);
        }
    }
}
