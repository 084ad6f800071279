//! Finds block and number of lines in consecutive blocks.

use crate::pack::LinePosition;
use index::shard::{BlockId, Shard, ShardError};
use std::ops::Range;

pub(super) struct LineLocator<'a> {
    shard: &'a Shard,
    blocks: Range<u32>,
    base: u64,
    block: u32,
    block_end: u64,
    /// End of counted lines, and the line number there.
    counted: usize,
    number: u32,
    pub(super) matched_blocks: u64,
    last_matched: Option<u32>,
}

impl<'a> LineLocator<'a> {
    pub(super) fn new(shard: &'a Shard, blocks: Range<u32>) -> Result<Self, ShardError> {
        let base = shard.text_range(blocks.start..blocks.start + 1)?;
        Ok(LineLocator {
            shard,
            block: blocks.start,
            base: base.start,
            block_end: base.end,
            counted: 0,
            number: shard.first_line(BlockId(blocks.start))?,
            blocks,
            matched_blocks: 0,
            last_matched: None,
        })
    }

    pub(super) fn enter(&mut self, line: &Range<usize>) -> Result<(), ShardError> {
        let start = self.base + line.start as u64;
        while start >= self.block_end && self.block + 1 < self.blocks.end {
            self.block += 1;
            let range = self.shard.text_range(self.block..self.block + 1)?;
            self.block_end = range.end;
            self.counted = range.start.saturating_sub(self.base) as usize;
            self.number = self.shard.first_line(BlockId(self.block))?;
        }
        if self.last_matched != Some(self.block) {
            self.last_matched = Some(self.block);
            self.matched_blocks += 1;
        }
        Ok(())
    }

    pub(super) fn locate(
        &mut self,
        text: &[u8],
        line: &Range<usize>,
    ) -> Result<LinePosition, ShardError> {
        let position = self.locate_start(text, line)?;
        // Neighbours often match, so the end is kept.
        if text[..line.end].ends_with(b"\n") {
            self.number = self.number.saturating_add(1);
            self.counted = line.end;
        }
        Ok(position)
    }

    /// Locates a line or the first of a span, counting lines before it.
    fn locate_start(
        &mut self,
        text: &[u8],
        line: &Range<usize>,
    ) -> Result<LinePosition, ShardError> {
        self.enter(line)?;
        let between = text.get(self.counted..line.start);
        let between = between.ok_or_else(|| self.shard.inconsistent("where a block begins"))?;
        let lines = memchr::memchr_iter(b'\n', between).count() as u32;
        self.number = self.number.saturating_add(lines);
        self.counted = line.start;
        let line = self.base + line.start as u64..self.base + line.end as u64;
        Ok(LinePosition::of_line(self.number, line, self.block))
    }

    pub(super) fn locate_span(
        &mut self,
        text: &[u8],
        span: &Range<usize>,
    ) -> Result<LinePosition, ShardError> {
        let position = self.locate_start(text, span)?;
        let body = &text[span.clone()];
        let ends = memchr::memchr_iter(b'\n', body).count() as u32;
        let mut last_block = position.block;
        while last_block + 1 < self.blocks.end
            && self.shard.text_range(last_block..last_block + 1)?.end < position.end
        {
            last_block += 1;
        }
        Ok(LinePosition {
            lines: ends + u32::from(!body.ends_with(b"\n")),
            last_block,
            ..position
        })
    }
}
