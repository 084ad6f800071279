//! Text of a shard. Raw text is borrowed or read; compressed blocks are decoded into a
//! [`TextCache`], since lines around a match are in a block just searched.
//! **Invariant:** a block decodes to the length in the table, at most [`ENCODED_BLOCK_BYTES_MAX`];
//! longer ones are stored raw.

use super::Shard;
use super::error::Result;
use crate::codec::{
    ContentCodec, DICTIONARY_BYTES_MAX, Decoder, DecoderDictionary, ENCODED_BLOCK_BYTES_MAX,
};
use crate::format::{BlockRecord, Section};
use std::cell::RefCell;
use std::ops::{Deref, Range};
use std::rc::Rc;
use zerocopy::little_endian::U64;

/// Bytes of decoded text in a cache, besides the last text.
const CACHE_BYTES_MAX: usize = 512 << 10;

/// Blocks of a work unit, read again per copy.
const CACHE_TEXTS_MAX: usize = 64;

/// Bytes of blocks that a search reads together, unless one is longer.
const RUN_BYTES_MAX: u64 = 1 << 20;

/// Bytes of encoded blocks read together, unless one is longer.
const ENCODED_BYTES_MAX: u64 = 256 << 10;

#[derive(Clone, Debug)]
pub enum TextBytes<'a> {
    Mapped(&'a [u8]),
    Buffered(Rc<Vec<u8>>, Range<usize>),
}

impl Deref for TextBytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            TextBytes::Mapped(text) => text,
            TextBytes::Buffered(buffer, range) => &buffer[range.clone()],
        }
    }
}

/// At most half a megabyte and the last text, nothing before first use.
#[derive(Default)]
pub struct TextCache(pub(super) RefCell<Buffers>);

#[derive(Default)]
pub(super) struct Buffers {
    /// Decoded texts, least recently used first.
    pub(super) texts: Vec<DecodedText>,
    read: Rc<Vec<u8>>,
    encoded: Vec<u8>,
    decoder: Option<Decoder>,
}

pub(super) struct DecodedText {
    file: u64,
    /// Range in the texts of its shard.
    range: Range<u64>,
    pub(super) bytes: Rc<Vec<u8>>,
}

impl DecodedText {
    fn part(&self, range: &Range<u64>) -> TextBytes<'static> {
        let start = (range.start - self.range.start) as usize;
        let end = (range.end - self.range.start) as usize;
        TextBytes::Buffered(Rc::clone(&self.bytes), start..end)
    }
}

impl Shard {
    pub fn codec(&self) -> ContentCodec {
        self.file.header.content_codec()
    }

    /// Range of the concatenated texts. Decoding takes memory for all of it.
    #[inline]
    pub fn text<'a>(&'a self, range: Range<u64>, cache: &TextCache) -> Result<TextBytes<'a>> {
        match self.codec() {
            ContentCodec::Raw => {
                let text = self.file.slice(Section::Content, range)?;
                Ok(TextBytes::Mapped(text))
            }
            ContentCodec::Zstd => self.decoded(range, cache),
        }
    }

    /// Like [`text`](Self::text), for scattered reads: unverified pages go to a buffer, faster than
    /// page faults.
    pub fn read_text<'a>(&'a self, range: Range<u64>, cache: &TextCache) -> Result<TextBytes<'a>> {
        if self.codec() == ContentCodec::Zstd {
            return self.decoded(range, cache);
        }
        let buffers = &mut *cache.0.borrow_mut();
        if Rc::get_mut(&mut buffers.read).is_none() {
            buffers.read = Rc::default();
        }
        let buffer = Rc::get_mut(&mut buffers.read).expect("nobody else has it");
        let place = match self
            .file
            .read_new(Section::Content, range.clone(), buffer)?
        {
            Some(read) => TextBytes::Buffered(Rc::clone(&buffers.read), read),
            None => TextBytes::Mapped(self.file.slice(Section::Content, range)?),
        };
        Ok(place)
    }

    /// Returns leading `blocks` to read together: all if raw, else up to a megabyte.
    pub fn first_run(&self, blocks: Range<u32>) -> Result<Range<u32>> {
        if self.codec() == ContentCodec::Raw || blocks.is_empty() {
            return Ok(blocks);
        }
        let start = self.text_range(blocks.start..blocks.start + 1)?;
        let mut run = blocks.start..blocks.start + 1;
        while run.end < blocks.end
            && self.text_range(run.end..run.end + 1)?.end <= start.start + RUN_BYTES_MAX
        {
            run.end += 1;
        }
        Ok(run)
    }

    fn decoded(&self, range: Range<u64>, cache: &TextCache) -> Result<TextBytes<'_>> {
        if range.start > range.end || range.end > self.content_bytes() {
            return Err(self.corrupt(Section::Content, "a reference beyond the section's end"));
        }
        if range.is_empty() {
            return Ok(TextBytes::Mapped(&[]));
        }
        let buffers = &mut *cache.0.borrow_mut();
        let file = self.file.number;
        if let Some(known) = buffers.find(file, &range) {
            return Ok(known);
        }
        let is_before = |entry: &BlockRecord| entry.offset.get() <= range.start;
        let behind = self.file.partition_point(Section::Blocks, is_before)?;
        let first = behind
            .checked_sub(1)
            .filter(|&block| block < self.block_count());
        let first = first.ok_or_else(|| self.corrupt(Section::Blocks, "offset of a block"))?;
        let text = self.text_range(first..first + 1)?;
        let stored = self.stored_range(first)?;
        if range.end <= text.end && is_raw(&text, &stored) {
            let start = stored.start + (range.start - text.start);
            let part = start..start + (range.end - range.start);
            let part = self.file.slice(Section::Content, part)?;
            return Ok(TextBytes::Mapped(part));
        }
        let mut bytes = buffers.take(range.end - range.start);
        let buffer = Rc::get_mut(&mut bytes).expect("nobody else has it");
        let covered = self.decode(first, &range, buffer, buffers)?;
        let decoded = DecodedText {
            file,
            range: covered,
            bytes,
        };
        let place = decoded.part(&range);
        buffers.texts.push(decoded);
        Ok(place)
    }

    /// `range` starts in block `first`. Returns the decoded range, maybe larger.
    fn decode(
        &self,
        first: u32,
        range: &Range<u64>,
        out: &mut Vec<u8>,
        buffers: &mut Buffers,
    ) -> Result<Range<u64>> {
        let dictionary = self.decoder_dictionary()?;
        let decoder = buffers.decoder.get_or_insert_default();
        let (mut covered, mut filled, mut block) = (range.clone(), 0, first);
        let mut read = 0..0;
        loop {
            if block >= self.block_count() {
                return Err(self.corrupt(Section::Blocks, "offset of a block"));
            }
            let text = self.text_range(block..block + 1)?;
            let stored = self.stored_range(block)?;
            let length = (text.end - text.start) as usize;
            if is_raw(&text, &stored) {
                let wanted = text.start.max(range.start)..text.end.min(range.end);
                let start = stored.start + (wanted.start - text.start);
                let raw = start..start + (wanted.end - wanted.start);
                let raw = self.file.slice(Section::Content, raw)?;
                out.truncate(filled);
                out.extend_from_slice(raw);
                covered.end = wanted.end;
            } else {
                if length > ENCODED_BLOCK_BYTES_MAX || stored.end - stored.start > length as u64 {
                    return Err(self.corrupt(Section::Frames, "length of a block"));
                }
                if stored.end > read.end {
                    read = stored.start..self.read_ahead(block, range.end, &stored)?;
                    self.read_encoded(read.clone(), &mut buffers.encoded)?;
                }
                let at = (stored.start - read.start) as usize;
                let frame = &buffers.encoded[at..at + (stored.end - stored.start) as usize];
                out.resize(out.len().max(filled + length), 0);
                let text_out = &mut out[filled..filled + length];
                let decoded = decoder.decode(frame, dictionary, text_out);
                decoded.ok_or_else(|| {
                    self.file
                        .corrupt_in(Section::Content, stored.start, "a compressed block")
                })?;
                covered.start = covered.start.min(text.start);
                covered.end = text.end;
            }
            filled = (covered.end - covered.start) as usize;
            if text.end >= range.end {
                out.truncate(filled);
                return Ok(covered);
            }
            block += 1;
        }
    }

    /// End of the stored bytes to read together, for text up to `end`.
    fn read_ahead(&self, block: u32, end: u64, stored: &Range<u64>) -> Result<u64> {
        let (mut last, mut read) = (block, stored.end);
        while last + 1 < self.block_count() && self.text_range(last..last + 1)?.end < end {
            last += 1;
            let next = self.stored_range(last)?;
            if next.start != read || next.end - stored.start > ENCODED_BYTES_MAX {
                break;
            }
            read = next.end;
        }
        Ok(read)
    }

    /// Copies stored bytes. A decoder never sees the mapping: concurrent changes could mislead it.
    fn read_encoded(&self, range: Range<u64>, out: &mut Vec<u8>) -> Result<()> {
        match self.file.read_new(Section::Content, range.clone(), out)? {
            Some(read) => {
                out.truncate(read.end);
                out.drain(..read.start);
            }
            None => {
                out.clear();
                out.extend_from_slice(self.file.slice(Section::Content, range)?);
            }
        }
        Ok(())
    }

    pub(super) fn stored_text(&self, blocks: Range<u32>) -> Result<Range<u64>> {
        let last = blocks.end.saturating_sub(1);
        if self.codec() == ContentCodec::Raw || last < blocks.start {
            return self.text_range(blocks);
        }
        Ok(self.stored_range(blocks.start)?.start..self.stored_range(last)?.end)
    }

    fn stored_range(&self, block: u32) -> Result<Range<u64>> {
        let offset =
            |number| -> Result<u64> { Ok(self.file.entry::<U64>(Section::Frames, number)?.get()) };
        let (start, end) = (offset(block)?, offset(block + 1)?);
        if start > end || end > self.section_bytes(Section::Content) {
            return Err(self.corrupt(Section::Frames, "where a block begins"));
        }
        Ok(start..end)
    }

    fn decoder_dictionary(&self) -> Result<&DecoderDictionary> {
        if let Some(known) = self.file.content_dictionary.get() {
            return Ok(known);
        }
        let end = self.file.entry::<U64>(Section::Frames, 0)?.get();
        if end > DICTIONARY_BYTES_MAX as u64 {
            return Err(self.corrupt(Section::Frames, "length of the dictionary"));
        }
        let mut bytes = Vec::new();
        self.read_encoded(0..end, &mut bytes)?;
        let dictionary = DecoderDictionary::new(&bytes);
        let dictionary =
            dictionary.ok_or_else(|| self.corrupt(Section::Content, "the dictionary"))?;
        Ok(self.file.content_dictionary.get_or_init(|| dictionary))
    }
}

fn is_raw(text: &Range<u64>, stored: &Range<u64>) -> bool {
    text.end - text.start == stored.end - stored.start
}

impl Buffers {
    fn find(&mut self, file: u64, range: &Range<u64>) -> Option<TextBytes<'static>> {
        let has_range = |text: &DecodedText| {
            text.file == file && text.range.start <= range.start && range.end <= text.range.end
        };
        let at = self.texts.iter().rposition(has_range)?;
        self.texts[at..].rotate_left(1);
        self.texts.last().map(|text| text.part(range))
    }

    /// Evicts texts for room; returns an unshared buffer with old bytes.
    fn take(&mut self, bytes: u64) -> Rc<Vec<u8>> {
        let mut kept: usize = self.texts.iter().map(|text| text.bytes.capacity()).sum();
        let mut free = None;
        while !self.texts.is_empty()
            && (self.texts.len() >= CACHE_TEXTS_MAX || kept as u64 + bytes > CACHE_BYTES_MAX as u64)
        {
            let mut text = self.texts.remove(0);
            kept -= text.bytes.capacity();
            let is_free = Rc::get_mut(&mut text.bytes).is_some();
            if is_free && text.bytes.capacity() <= CACHE_BYTES_MAX {
                free = Some(text.bytes);
            }
        }
        free.unwrap_or_default()
    }
}
