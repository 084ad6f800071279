//! Builds a *segment*: blocks, and sorted runs of (trigram, block) pairs. Defined words are pairs
//! with a key of [`Trigram::of_definition`].
//!
//! A worker builds a segment of some megabytes; the [`writer`](crate::writer) joins them.
//! [`Limits`] bound memory: excess text is spilled to a file, pairs become sorted runs.
//! **Invariant:** the same documents give the same segment, byte for byte.

mod pairs;
mod sorted_run;

pub(crate) use sorted_run::RunReader;

use crate::block::{self, Cut};
use crate::file;
use crate::trigram::{Trigram, TrigramSet};
use language::definition;
use pairs::Pairs;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bounds of a segment in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) block_bytes: usize,
    /// Bytes of text in memory.
    pub(crate) text_bytes: usize,
    /// Pairs in memory, 4 bytes each.
    pub(crate) pairs: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct SegmentDocument {
    /// Its first block in the segment.
    pub(crate) first_block: u32,
    pub(crate) lines: u32,
    pub(crate) hash: [u8; 32],
}

/// Start of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentBlock {
    /// Byte offset in the segment's text.
    pub(crate) offset: u64,
    /// Number of its first line, from 1.
    pub(crate) first_line: u32,
}

#[derive(Default)]
pub(crate) struct Segment {
    pub(crate) documents: Vec<SegmentDocument>,
    pub(crate) blocks: Vec<SegmentBlock>,
    /// Spilled beginning of the text, rewound.
    pub(crate) spilled: Option<File>,
    /// Text after the spilled part.
    pub(crate) text: Vec<u8>,
    /// Ascending by block; a large block may be in several.
    pub(crate) runs: Vec<Vec<u8>>,
}

/// State before a document.
#[derive(Clone, Copy, Default)]
struct Checkpoint {
    text_bytes: u64,
    blocks: usize,
    runs: usize,
    pairs: usize,
}

pub(crate) struct SegmentBuilder {
    limits: Limits,
    /// For spilled text.
    directory: PathBuf,
    segment: Segment,
    spilled_bytes: u64,
    trigrams: TrigramSet,
    definitions: Vec<Trigram>,
    pairs: Pairs,
    checkpoint: Checkpoint,
    hasher: blake3::Hasher,
    next_line: u32,
    /// Current block in the segment.
    block_offset: u64,
    /// The same in `segment.text`; 0 if spilled.
    block_start: usize,
    /// End of the processed text.
    taken: usize,
    /// One long line, not yet ended.
    in_line: bool,
}

impl SegmentBuilder {
    pub(crate) fn new(limits: Limits, directory: &Path) -> Self {
        SegmentBuilder {
            limits,
            directory: directory.to_owned(),
            segment: Segment::default(),
            spilled_bytes: 0,
            trigrams: TrigramSet::new(),
            definitions: Vec::new(),
            pairs: Pairs::new(),
            checkpoint: Checkpoint::default(),
            hasher: blake3::Hasher::new(),
            next_line: 1,
            block_offset: 0,
            block_start: 0,
            taken: 0,
            in_line: false,
        }
    }

    /// Reuses a buffer, before the first document: saves page faults.
    pub(crate) fn reuse(&mut self, mut text: Vec<u8>) {
        debug_assert!(self.segment.text.is_empty());
        text.clear();
        self.segment.text = text;
    }

    pub(crate) fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.hasher.update(text);
        self.segment.text.extend_from_slice(text);
        self.cut_blocks()?;
        if self.segment.text.len() > self.limits.text_bytes {
            self.spill_text()?;
        }
        Ok(())
    }

    /// Ends the current document and begins the next.
    pub(crate) fn finish_document(&mut self) -> io::Result<()> {
        if self.text_bytes() > self.block_offset {
            self.close_block(self.segment.text.len())?;
        }
        self.segment.documents.push(SegmentDocument {
            first_block: number(self.checkpoint.blocks)?,
            lines: self.next_line - 1,
            hash: *self.hasher.finalize().as_bytes(),
        });
        self.begin_document();
        Ok(())
    }

    pub(crate) fn discard_document(&mut self) -> io::Result<()> {
        self.trigrams.clear();
        self.segment.blocks.truncate(self.checkpoint.blocks);
        self.segment.runs.truncate(self.checkpoint.runs);
        // Its pairs; earlier ones are in runs if it filled one.
        if self.pairs.len() > self.checkpoint.pairs || self.checkpoint.pairs == 0 {
            self.pairs.split_off(number(self.checkpoint.blocks)?);
        }
        match self.checkpoint.text_bytes.checked_sub(self.spilled_bytes) {
            Some(in_memory) => self.segment.text.truncate(in_memory as usize),
            None => {
                self.segment.text.clear();
                self.spilled_bytes = self.checkpoint.text_bytes;
                if let Some(file) = &mut self.segment.spilled {
                    file.set_len(self.spilled_bytes)?;
                    file.seek(SeekFrom::Start(self.spilled_bytes))?;
                }
            }
        }
        self.begin_document();
        Ok(())
    }

    pub(crate) fn text_bytes(&self) -> u64 {
        self.spilled_bytes + self.segment.text.len() as u64
    }

    /// Segment of the documents since the last call.
    pub(crate) fn finish(&mut self) -> io::Result<Segment> {
        self.flush_pairs();
        self.pairs.clear(0);
        if let Some(file) = &mut self.segment.spilled {
            file.rewind()?;
        }
        let segment = std::mem::take(&mut self.segment);
        self.spilled_bytes = 0;
        self.begin_document();
        Ok(segment)
    }

    fn begin_document(&mut self) {
        self.checkpoint = Checkpoint {
            text_bytes: self.text_bytes(),
            blocks: self.segment.blocks.len(),
            runs: self.segment.runs.len(),
            pairs: self.pairs.len(),
        };
        self.hasher.reset();
        self.next_line = 1;
        self.begin_block(self.segment.text.len());
    }

    fn begin_block(&mut self, start: usize) {
        self.block_offset = self.spilled_bytes + start as u64;
        self.block_start = start;
        self.taken = start;
        self.in_line = false;
    }

    fn cut_blocks(&mut self) -> io::Result<()> {
        loop {
            let (from, cut) = if self.in_line {
                let line = block::cut_line(&self.segment.text[self.taken..]);
                (self.taken, line.map_or(Cut::OpenLine, Cut::At))
            } else {
                let text = &self.segment.text[self.block_start..];
                (self.block_start, block::cut(text, self.limits.block_bytes))
            };
            match cut {
                Cut::At(end) => self.close_block(from + end)?,
                Cut::Open => return Ok(()),
                Cut::OpenLine => {
                    self.in_line = true;
                    return self.take_trigrams(self.segment.text.len());
                }
            }
        }
    }

    fn take_trigrams(&mut self, end: usize) -> io::Result<()> {
        let block = number(self.segment.blocks.len())?;
        let (text, pairs) = (&self.segment.text[self.taken..end], &mut self.pairs);
        self.trigrams
            .extend(text, |trigrams| pairs.extend(trigrams, block));
        self.taken = end;
        Ok(())
    }

    /// Tests for a short single-line block in memory.
    fn is_short(&self, end: usize) -> bool {
        let line_end = 2;
        self.spilled_bytes + self.block_start as u64 == self.block_offset
            && end - self.block_start <= definition::LINE_BYTES_MAX + line_end
    }

    fn take_definitions(&mut self, end: usize) -> io::Result<()> {
        let block = number(self.segment.blocks.len())?;
        let text = &self.segment.text[self.block_start..end];
        let keys = &mut self.definitions;
        keys.clear();
        definition::for_each(text, |word, level| {
            keys.push(Trigram::of_definition(word, level));
        });
        keys.sort_unstable();
        keys.dedup();
        self.pairs.extend(keys, block);
        Ok(())
    }

    fn close_block(&mut self, end: usize) -> io::Result<()> {
        self.take_trigrams(end)?;
        let (block, pairs) = (number(self.segment.blocks.len())?, &mut self.pairs);
        (self.trigrams).finish(|trigrams| pairs.extend(trigrams, block));
        if !self.in_line || self.is_short(end) {
            self.take_definitions(end)?;
        }
        let (offset, first_line) = (self.block_offset, self.next_line);
        self.segment
            .blocks
            .push(SegmentBlock { offset, first_line });
        let lines = if self.in_line {
            1
        } else {
            count_lines(&self.segment.text[self.block_start..end])
        };
        self.next_line = number(self.next_line as usize + lines)?;
        self.begin_block(end);
        if self.pairs.len() > self.limits.pairs || self.pairs.is_beyond(block + 1) {
            self.flush_document()?;
        }
        Ok(())
    }

    /// Encodes all pairs; the current document gets its own run for discarding.
    fn flush_document(&mut self) -> io::Result<()> {
        if self.checkpoint.pairs > 0 {
            let first_block = number(self.checkpoint.blocks)?;
            let own = self.pairs.split_off(first_block);
            self.flush_pairs();
            self.pairs.clear(first_block);
            for (trigram, block) in own {
                self.pairs.extend(&[trigram], block);
            }
            self.checkpoint.runs = self.segment.runs.len();
            self.checkpoint.pairs = 0;
        }
        self.flush_pairs();
        self.pairs.clear(number(self.segment.blocks.len())?);
        Ok(())
    }

    fn flush_pairs(&mut self) {
        if self.pairs.len() > 0 {
            self.segment.runs.push(self.pairs.encode());
        }
    }

    /// Spills closed blocks and processed text.
    fn spill_text(&mut self) -> io::Result<()> {
        let count = self.taken;
        let file = match &mut self.segment.spilled {
            Some(file) => file,
            none => none.insert(file::anonymous(&self.directory)?),
        };
        file.write_all(&self.segment.text[..count])?;
        self.segment.text.drain(..count);
        self.spilled_bytes += count as u64;
        self.block_start = self.block_start.saturating_sub(count);
        self.taken = 0;
        Ok(())
    }
}

fn count_lines(text: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', text).count();
    ends + usize::from(text.last().is_some_and(|&byte| byte != b'\n'))
}

fn number(count: usize) -> io::Result<u32> {
    u32::try_from(count).map_err(|_| io::Error::other("more than 2^32 blocks or lines"))
}

#[cfg(test)]
mod tests;
