//! Builds a *segment*: blocks, symbols of each text, and sorted runs of (trigram, block) pairs.
//! Defined words are pairs with a key of [`Trigram::of_definition`].
//!
//! The [`writer`](crate::writer) joins segments. [`Limits`] bound memory: excess text is spilled to
//! a file, pairs become sorted runs.
//! **Invariant:** the same documents give the same segment, byte for byte.

mod pairs;
mod sorted_run;

pub(crate) use sorted_run::RunReader;

use crate::block::{self, Cut};
use crate::file;
use crate::symbols::{self, DOCUMENT_BLOCKS_MAX};
use crate::trigram::{Trigram, TrigramSet};
use language::Language;
use language::content::HEAD_BYTES;
use language::symbols::{Symbols, TEXT_BYTES_MAX};
use pairs::Pairs;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) block_bytes: usize,
    pub(crate) text_bytes: usize,
    /// 4 bytes each.
    pub(crate) pairs: usize,
}

pub(crate) struct SegmentBuilder {
    limits: Limits,
    /// For spilled text.
    directory: PathBuf,
    segment: Segment,
    trigrams: TrigramSet,
    definitions: Vec<(u32, Trigram)>,
    pairs: Pairs,
    head: Vec<u8>,
    first_block: u32,
    /// Offset of the current document in the segment's text.
    document_offset: u64,
    hasher: blake3::Hasher,
    next_line: u32,
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
            trigrams: TrigramSet::new(),
            definitions: Vec::new(),
            pairs: Pairs::new(),
            head: Vec::with_capacity(HEAD_BYTES),
            first_block: 0,
            document_offset: 0,
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

    /// First [`HEAD_BYTES`].
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    pub(crate) fn finish_document(&mut self, language: Option<&Language>) -> io::Result<()> {
        self.close_last_block()?;
        let symbols = self.take_symbols(language);
        let document = self.end_document(symbols)?;
        self.segment.documents.push(document);
        Ok(())
    }

    /// Ends a document of a history with its encoded facts. Documents with other `salt` have
    /// other texts.
    pub(crate) fn finish_change(&mut self, facts: Vec<u8>, salt: &[u8]) -> io::Result<()> {
        self.close_last_block()?;
        self.hasher.update(salt);
        let document = self.end_document(facts)?;
        self.segment.documents.push(document);
        Ok(())
    }

    /// Its blocks belong to no document.
    pub(crate) fn discard_document(&mut self) -> io::Result<()> {
        self.close_last_block()?;
        self.end_document(Vec::new()).map(drop)
    }

    fn close_last_block(&mut self) -> io::Result<()> {
        if self.segment.text_bytes() > self.block_offset {
            self.close_block(self.segment.text.len())?;
        }
        Ok(())
    }

    fn end_document(&mut self, symbols: Vec<u8>) -> io::Result<SegmentDocument> {
        let end = number(self.segment.blocks.len())?;
        let document = SegmentDocument {
            blocks: self.first_block..end,
            lines: self.next_line - 1,
            hash: *self.hasher.finalize().as_bytes(),
            symbols,
        };
        self.first_block = end;
        self.document_offset = self.segment.text_bytes();
        if self.pairs.len() > self.limits.pairs || self.pairs.is_beyond(end + DOCUMENT_BLOCKS_MAX) {
            self.flush_pairs(end);
        }
        self.head.clear();
        self.hasher.reset();
        self.next_line = 1;
        self.begin_block(self.segment.text.len());
        Ok(document)
    }

    pub(crate) fn finish(&mut self) -> Segment {
        self.flush_pairs(0);
        let segment = std::mem::take(&mut self.segment);
        self.first_block = 0;
        self.document_offset = 0;
        self.begin_block(0);
        segment
    }

    /// True while the document is short enough for symbols: it and its pairs are in memory.
    fn is_kept(&self) -> bool {
        self.segment.text_bytes() - self.document_offset <= TEXT_BYTES_MAX as u64
            && (self.segment.blocks.len() as u32) - self.first_block < DOCUMENT_BLOCKS_MAX
    }

    /// Lexes the current document, its blocks closed, and adds its defined words to the pairs.
    /// Returns encoded symbols.
    fn take_symbols(&mut self, language: Option<&Language>) -> Vec<u8> {
        if !self.is_kept() {
            return symbols::encode(&Symbols::of_long_text(language));
        }
        let start = (self.document_offset - self.segment.spilled_bytes) as usize;
        let text = &self.segment.text[start..];
        let found = Symbols::of(language, text);
        let blocks = &self.segment.blocks[self.first_block as usize..];
        let (keys, mut block) = (&mut self.definitions, 0);
        keys.clear();
        for definition in &found.definitions {
            let offset = self.document_offset + u64::from(definition.name.start);
            let is_before = |next: &SegmentBlock| next.offset <= offset;
            while blocks.get(block + 1).is_some_and(is_before) {
                block += 1;
            }
            let word = definition.word(text);
            let keyed = word.map(|word| Trigram::of_definition(word, definition.level()));
            keys.extend(keyed.map(|key| (self.first_block + block as u32, key)));
        }
        keys.sort_unstable();
        keys.dedup();
        for &(block, key) in &*keys {
            self.pairs.extend(&[key], block);
        }
        symbols::encode(&found)
    }

    fn begin_block(&mut self, start: usize) {
        self.block_offset = self.segment.spilled_bytes + start as u64;
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

    fn close_block(&mut self, end: usize) -> io::Result<()> {
        self.take_trigrams(end)?;
        let (block, pairs) = (number(self.segment.blocks.len())?, &mut self.pairs);
        self.trigrams
            .finish(|trigrams| pairs.extend(trigrams, block));
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
        let is_full = self.pairs.len() > self.limits.pairs || self.pairs.is_beyond(block + 1);
        if is_full && !self.is_kept() {
            self.flush_pairs(number(self.segment.blocks.len())?);
        }
        Ok(())
    }

    /// Encodes all pairs; later ones have at least `next_block`.
    fn flush_pairs(&mut self, next_block: u32) {
        if self.pairs.len() > 0 {
            self.segment.runs.push(self.pairs.encode());
        }
        self.pairs.clear(next_block);
    }

    /// Spills closed blocks and processed text, but not a kept document.
    fn spill_text(&mut self) -> io::Result<()> {
        let count = if self.is_kept() {
            (self.document_offset - self.segment.spilled_bytes) as usize
        } else {
            self.taken
        };
        if count == 0 {
            return Ok(());
        }
        let file = match &mut self.segment.spilled {
            Some(file) => file,
            none => none.insert(file::anonymous(&self.directory)?),
        };
        file.write_all(&self.segment.text[..count])?;
        self.segment.text.drain(..count);
        self.segment.spilled_bytes += count as u64;
        self.block_start = self.block_start.saturating_sub(count);
        self.taken -= count;
        Ok(())
    }
}

impl Write for SegmentBuilder {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.hasher.update(text);
        let rest = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&text[..rest.min(text.len())]);
        self.segment.text.extend_from_slice(text);
        self.cut_blocks()?;
        if self.segment.text.len() > self.limits.text_bytes {
            self.spill_text()?;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
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

#[derive(Clone, Debug)]
pub(crate) struct SegmentDocument {
    pub(crate) blocks: Range<u32>,
    pub(crate) lines: u32,
    pub(crate) hash: [u8; 32],
    /// Encoded, see [`symbols`](crate::symbols).
    pub(crate) symbols: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentBlock {
    /// Byte offset in the segment's text.
    pub(crate) offset: u64,
    /// From 1.
    pub(crate) first_line: u32,
}

#[derive(Default)]
pub(crate) struct Segment {
    pub(crate) documents: Vec<SegmentDocument>,
    /// Ascending; those of discarded documents belong to none.
    pub(crate) blocks: Vec<SegmentBlock>,
    /// Spilled beginning of the text.
    pub(crate) spilled: Option<File>,
    pub(crate) spilled_bytes: u64,
    /// Text after the spilled part.
    pub(crate) text: Vec<u8>,
    /// Ascending by block.
    pub(crate) runs: Vec<Vec<u8>>,
}

impl Segment {
    pub(crate) fn text_bytes(&self) -> u64 {
        self.spilled_bytes + self.text.len() as u64
    }

    pub(crate) fn bytes(&self, blocks: &Range<u32>) -> Range<u64> {
        let offset = |block: u32| {
            let block = self.blocks.get(block as usize);
            block.map_or(self.text_bytes(), |block| block.offset)
        };
        offset(blocks.start)..offset(blocks.end)
    }

    pub(crate) fn copy(&self, ranges: &[Range<u64>], out: &mut impl Write) -> io::Result<()> {
        for &Range { start, end } in ranges {
            let middle = self.spilled_bytes.clamp(start, end);
            if let Some(mut file) = self.spilled.as_ref()
                && start < middle
            {
                file.seek(SeekFrom::Start(start))?;
                let copied = io::copy(&mut file.take(middle - start), out)?;
                if copied < middle - start {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let at = |offset: u64| (offset - self.spilled_bytes.min(offset)) as usize;
            out.write_all(&self.text[at(middle)..at(end)])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
