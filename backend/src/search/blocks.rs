//! Iterates over the blocks of a work unit, consecutive blocks together.

use std::ops::Range;

/// Candidate blocks of a work unit: a quarter of a megabyte of text, a few tenths of a millisecond.
pub(super) const UNIT_BLOCKS: usize = 64;

/// Ascending blocks, taken from the front as ranges of consecutive ones.
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

    /// Takes the next consecutive blocks that are below `end`.
    pub(super) fn next_range(&mut self, end: u32) -> Option<Range<u32>> {
        let start = self.peek().filter(|&start| start < end)?;
        if !self.range.is_empty() {
            let blocks = start..end.min(self.range.end);
            self.range.start = blocks.end;
            return Some(blocks);
        }
        let consecutive = (start..end)
            .zip(self.list)
            .take_while(|(a, b)| a == *b)
            .count();
        self.list = &self.list[consecutive..];
        Some(start..start + consecutive as u32)
    }
}
