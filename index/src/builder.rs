//! Makes a *segment* of the texts of documents: blocks, and sorted runs of (trigram, block) pairs. A word
//! that a line defines is a pair too: its key is a trigram that no text has ([`Trigram::of_definition`]).
//!
//! One worker makes a segment of some megabytes of documents, independently of all others; the
//! [`writer`](crate::writer) joins segments in order. Memory is bounded by [`Limits`], whatever the
//! length of a document or a line: text beyond the limit is spilled to a temporary file, pairs are
//! encoded as a sorted run.
//! **Invariant:** the same documents give the same segment, byte for byte.

mod pairs;
mod sorted_run;

pub(crate) use sorted_run::RunReader;

use crate::block::{self, Cut};
use crate::file;
use crate::trigram::{Trigram, TrigramSet};
use pairs::Pairs;
use schema::definition;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bounds of a segment in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Target size of a block in bytes.
    pub(crate) block_bytes: usize,
    /// Bytes of text in memory.
    pub(crate) text_bytes: usize,
    /// Pairs of (trigram, block) in memory, 4 bytes each.
    pub(crate) pairs: usize,
}

/// A document of a segment.
#[derive(Clone, Debug)]
pub(crate) struct SegmentDocument {
    /// Its first block, counted from the start of the segment.
    pub(crate) first_block: u32,
    /// Number of lines.
    pub(crate) lines: u32,
    /// BLAKE3 of its text.
    pub(crate) hash: [u8; 32],
}

/// Where a block begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentBlock {
    /// Offset in the segment's text, in bytes.
    pub(crate) offset: u64,
    /// The number of its first line, from 1.
    pub(crate) first_line: u32,
}

/// The documents of one segment.
#[derive(Default)]
pub(crate) struct Segment {
    pub(crate) documents: Vec<SegmentDocument>,
    pub(crate) blocks: Vec<SegmentBlock>,
    /// The beginning of the text, when it was too long for memory. The file is rewound.
    pub(crate) spilled: Option<File>,
    /// The text, or what follows the spilled part.
    pub(crate) text: Vec<u8>,
    /// Sorted runs, encoded. The blocks of a run follow those of the run before it; a block too large
    /// for one run is in several.
    pub(crate) runs: Vec<Vec<u8>>,
}

/// The state before a document began, for discarding it.
#[derive(Clone, Copy, Default)]
struct Checkpoint {
    text_bytes: u64,
    blocks: usize,
    runs: usize,
    pairs: usize,
}

/// Builds one segment after another.
pub(crate) struct SegmentBuilder {
    limits: Limits,
    /// Directory of spilled text.
    directory: PathBuf,
    segment: Segment,
    spilled_bytes: u64,
    trigrams: TrigramSet,
    /// Keys of the words that the block in progress defines.
    definitions: Vec<Trigram>,
    pairs: Pairs,
    /// Where the document in progress began.
    checkpoint: Checkpoint,
    hasher: blake3::Hasher,
    next_line: u32,
    /// Where the block in progress begins in the segment's text.
    block_offset: u64,
    /// Where it begins in `segment.text`; 0 when its beginning has been spilled.
    block_start: usize,
    /// End of the text in `segment.text` whose trigrams have been taken.
    taken: usize,
    /// Whether the block in progress is one long line whose end has not been seen.
    in_line: bool,
}

impl SegmentBuilder {
    /// `directory` is where temporary files without a name are created.
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

    /// Gives the builder the buffer of an older segment's text, before the first document of a segment: memory that was
    /// used before costs no page faults.
    pub(crate) fn reuse(&mut self, mut text: Vec<u8>) {
        debug_assert!(self.segment.text.is_empty());
        text.clear();
        self.segment.text = text;
    }

    /// Appends text to the document in progress.
    pub(crate) fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.hasher.update(text);
        self.segment.text.extend_from_slice(text);
        self.cut_blocks()?;
        if self.segment.text.len() > self.limits.text_bytes {
            self.spill_text()?;
        }
        Ok(())
    }

    /// Ends the document in progress, and begins the next one.
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

    /// Discards the document in progress, as if it had never begun.
    pub(crate) fn discard_document(&mut self) -> io::Result<()> {
        self.trigrams.clear();
        self.segment.blocks.truncate(self.checkpoint.blocks);
        self.segment.runs.truncate(self.checkpoint.runs);
        // Its pairs; those before are in runs if it has filled one.
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

    /// Bytes of text in the segment so far.
    pub(crate) fn text_bytes(&self) -> u64 {
        self.spilled_bytes + self.segment.text.len() as u64
    }

    /// Returns the segment of all documents since the last call.
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

    /// Takes the trigrams of the block in progress up to `end`.
    fn take_trigrams(&mut self, end: usize) -> io::Result<()> {
        let block = number(self.segment.blocks.len())?;
        let (text, pairs) = (&self.segment.text[self.taken..end], &mut self.pairs);
        self.trigrams
            .extend(text, |trigrams| pairs.extend(trigrams, block));
        self.taken = end;
        Ok(())
    }

    /// Whether a line that is a block by itself, and ends at `end`, may define something. It is all in memory then.
    fn is_short(&self, end: usize) -> bool {
        let line_end = 2;
        self.spilled_bytes + self.block_start as u64 == self.block_offset
            && end - self.block_start <= definition::LINE_BYTES_MAX + line_end
    }

    /// Takes the words that the lines of the block in progress define. It ends at `end`.
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

    /// Encodes all pairs. The document in progress gets a run of its own, so that it can be discarded.
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

    /// Encodes all pairs as a sorted run, if there are any.
    fn flush_pairs(&mut self) {
        if self.pairs.len() > 0 {
            self.segment.runs.push(self.pairs.encode());
        }
    }

    /// Spills the text of all closed blocks, and the taken part of an open line, to a file.
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

/// Converts a count to the width that the format has.
fn number(count: usize) -> io::Result<u32> {
    u32::try_from(count).map_err(|_| io::Error::other("more than 2^32 blocks or lines"))
}

#[cfg(test)]
mod tests;
