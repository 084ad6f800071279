//! Writes the texts of a shard, raw or by block with a dictionary.
//!
//! The first [`PENDING_BYTES_MAX`] of text wait in a temporary file. Samples of them train the
//! dictionary; then blocks are encoded as they come, on several threads.
//! **Invariant:** the bytes follow from the texts in order; memory is bounded by [`BATCH_BYTES`]
//! and [`SAMPLE_BYTES_MAX`].

use super::output::PageWriter;
use crate::builder::Segment;
use crate::codec::{self, ContentCodec, ENCODED_BLOCK_BYTES_MAX, EncoderDictionary};
use crate::file;
use crate::format::PAGE_BYTES;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::ops::Range;
use std::path::Path;
use std::{mem, thread};

/// Bytes that wait for a dictionary. Sampling all texts would save 4 % of the content but write it
/// twice.
const PENDING_BYTES_MAX: u64 = 64 << 20;

/// Bytes of samples: four times as many save 1 %.
const SAMPLE_BYTES_MAX: u64 = 4 << 20;

const SAMPLE_BLOCK_BYTES_MAX: u64 = 64 << 10;

/// Bytes encoded together: some milliseconds. More takes memory, less starts too many threads.
const BATCH_BYTES: usize = 512 << 10;

pub(super) enum ContentWriter {
    Raw,
    /// Without a dictionary yet.
    Pending {
        file: BufWriter<File>,
        lengths: Vec<u64>,
        bytes: u64,
        jobs: usize,
    },
    Encoded(Box<BlockEncoder>),
}

impl ContentWriter {
    /// `directory` is for temporary files.
    pub(super) fn new(
        codec: ContentCodec,
        jobs: usize,
        directory: &Path,
    ) -> io::Result<ContentWriter> {
        if codec == ContentCodec::Raw {
            return Ok(ContentWriter::Raw);
        }
        Ok(ContentWriter::Pending {
            file: BufWriter::new(file::anonymous(directory)?),
            lengths: Vec::new(),
            bytes: 0,
            jobs: jobs.max(1),
        })
    }

    pub(super) fn codec(&self) -> ContentCodec {
        match self {
            ContentWriter::Raw => ContentCodec::Raw,
            ContentWriter::Pending { .. } | ContentWriter::Encoded(_) => ContentCodec::Zstd,
        }
    }

    /// In blocks of these lengths.
    pub(super) fn append<W: Write>(
        &mut self,
        segment: &Segment,
        ranges: &[Range<u64>],
        block_lengths: &[u64],
        out: &mut PageWriter<W>,
    ) -> io::Result<()> {
        match self {
            ContentWriter::Raw => segment.copy(ranges, out),
            ContentWriter::Pending {
                file,
                lengths,
                bytes,
                ..
            } => {
                segment.copy(ranges, file)?;
                lengths.extend_from_slice(block_lengths);
                *bytes += block_lengths.iter().sum::<u64>();
                if *bytes >= PENDING_BYTES_MAX {
                    self.train(out)?;
                }
                Ok(())
            }
            ContentWriter::Encoded(encoder) => {
                let mut sink = encoder.begin(block_lengths, out);
                segment.copy(ranges, &mut sink)?;
                sink.finish()
            }
        }
    }

    /// Returns the section FRAMES; empty if raw.
    pub(super) fn finish<W: Write>(&mut self, out: &mut PageWriter<W>) -> io::Result<Vec<u8>> {
        self.train(out)?;
        Ok(match self {
            ContentWriter::Encoded(encoder) => {
                encoder.push_offset(out);
                mem::take(&mut encoder.frames)
            }
            ContentWriter::Raw | ContentWriter::Pending { .. } => Vec::new(),
        })
    }

    fn train<W: Write>(&mut self, out: &mut PageWriter<W>) -> io::Result<()> {
        let ContentWriter::Pending {
            file,
            lengths,
            bytes,
            jobs,
        } = self
        else {
            return Ok(());
        };
        let (lengths, bytes, jobs) = (mem::take(lengths), *bytes, *jobs);
        file.flush()?;
        let mut file = file.get_ref().try_clone()?;
        file.rewind()?;
        let dictionary = dictionary(&mut file, &lengths, bytes)?;
        out.write_all(&dictionary)?;
        let mut encoder = BlockEncoder {
            dictionary: EncoderDictionary::new(&dictionary),
            jobs,
            frames: Vec::new(),
        };
        file.rewind()?;
        let mut sink = encoder.begin(&lengths, out);
        io::copy(&mut file, &mut sink)?;
        sink.finish()?;
        *self = ContentWriter::Encoded(Box::new(encoder));
        Ok(())
    }
}

/// Trains on evenly spread blocks of `file`.
fn dictionary(file: &mut File, lengths: &[u64], bytes: u64) -> io::Result<Vec<u8>> {
    let stride = bytes.div_ceil(SAMPLE_BYTES_MAX).max(1) as usize;
    let (mut samples, mut sample_lengths) = (Vec::new(), Vec::new());
    let mut skipped = 0;
    for (number, &length) in lengths.iter().enumerate() {
        let is_sample = number % stride == stride / 2 && length <= SAMPLE_BLOCK_BYTES_MAX;
        let fits = samples.len() as u64 + length <= SAMPLE_BYTES_MAX;
        if !is_sample || !fits {
            skipped += length as i64;
            continue;
        }
        file.seek_relative(mem::take(&mut skipped))?;
        let read = file.take(length).read_to_end(&mut samples)?;
        if (read as u64) < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        sample_lengths.push(read);
    }
    Ok(codec::train(&samples, &sample_lengths, bytes))
}

pub(super) struct BlockEncoder {
    dictionary: EncoderDictionary,
    jobs: usize,
    frames: Vec<u8>,
}

impl BlockEncoder {
    /// Begins blocks of these lengths.
    fn begin<'e, W: Write>(
        &'e mut self,
        lengths: &[u64],
        out: &'e mut PageWriter<W>,
    ) -> BlockSink<'e, W> {
        BlockSink {
            encoder: self,
            out,
            next: lengths.iter().copied().collect(),
            batch: Vec::new(),
            lengths: Vec::new(),
            missing: 0,
            is_long: false,
        }
    }

    fn push_offset<W: Write>(&mut self, out: &PageWriter<W>) {
        let offset = out.offset() - PAGE_BYTES as u64;
        self.frames.extend_from_slice(&offset.to_le_bytes());
    }

    /// Encodes on several threads, in order.
    fn encode<W: Write>(
        &mut self,
        text: &[u8],
        lengths: &[usize],
        out: &mut PageWriter<W>,
    ) -> io::Result<()> {
        let dictionary = &self.dictionary;
        let per_job = lengths.len().div_ceil(self.jobs).max(1);
        let parts: Vec<(Vec<u8>, Vec<usize>)> = thread::scope(|scope| {
            let mut rest = text;
            let mut started = Vec::new();
            for lengths in lengths.chunks(per_job) {
                let bytes = lengths.iter().sum();
                let text: &[u8] = rest.split_off(..bytes).expect("a batch has all its blocks");
                started.push(scope.spawn(move || dictionary.encode(text, lengths)));
            }
            let joined = started.into_iter().map(|thread| thread.join());
            let parts = joined.map(|part| part.expect("it does not panic"));
            parts.collect()
        });
        for (encoded, lengths) in parts {
            let mut rest = &encoded[..];
            for length in lengths {
                self.push_offset(out);
                let frame = rest.split_off(..length).expect("as long as it says");
                out.write_all(frame)?;
            }
        }
        Ok(())
    }
}

/// Cuts text into blocks of known lengths.
struct BlockSink<'e, W: Write> {
    encoder: &'e mut BlockEncoder,
    out: &'e mut PageWriter<W>,
    next: VecDeque<u64>,
    /// Unencoded blocks, the last maybe partial.
    batch: Vec<u8>,
    lengths: Vec<usize>,
    /// Missing bytes of the current block.
    missing: u64,
    /// Too long to be encoded.
    is_long: bool,
}

impl<W: Write> BlockSink<'_, W> {
    fn finish(mut self) -> io::Result<()> {
        assert!(self.missing == 0 && self.next.is_empty(), "all blocks came");
        self.flush_batch()
    }

    fn flush_batch(&mut self) -> io::Result<()> {
        let encoded = self.encoder.encode(&self.batch, &self.lengths, self.out);
        self.batch.clear();
        self.lengths.clear();
        encoded
    }

    fn begin_block(&mut self) -> io::Result<()> {
        self.missing = self.next.pop_front().expect("no more text than blocks");
        self.is_long = self.missing > ENCODED_BLOCK_BYTES_MAX as u64;
        if self.is_long || self.batch.len() >= BATCH_BYTES {
            self.flush_batch()?;
        }
        if self.is_long {
            self.encoder.push_offset(self.out);
        } else {
            self.lengths.push(self.missing as usize);
        }
        Ok(())
    }
}

impl<W: Write> Write for BlockSink<'_, W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let mut rest = text;
        while !rest.is_empty() {
            if self.missing == 0 {
                self.begin_block()?;
            }
            let length = rest
                .len()
                .min(usize::try_from(self.missing).unwrap_or(usize::MAX));
            let (piece, behind) = rest.split_at(length);
            if self.is_long {
                self.out.write_all(piece)?;
            } else {
                self.batch.extend_from_slice(piece);
            }
            self.missing -= length as u64;
            rest = behind;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::SegmentBlock;
    use crate::codec::{Decoder, DecoderDictionary};
    use std::slice;

    /// Writes a segment per list of blocks; returns section and offsets.
    fn write(segments: &[&[Vec<u8>]], jobs: usize) -> (Vec<u8>, Vec<u64>) {
        let there = tempfile::tempdir().unwrap();
        let codec = ContentCodec::Zstd;
        let mut content = ContentWriter::new(codec, jobs, there.path()).unwrap();
        let mut bytes = Vec::new();
        let mut out = PageWriter::new(&mut bytes);
        for blocks in segments {
            let mut segment = Segment::default();
            let mut lengths = Vec::new();
            for block in *blocks {
                segment.blocks.push(SegmentBlock {
                    offset: segment.text.len() as u64,
                    first_line: 1,
                });
                segment.text.extend_from_slice(block);
                lengths.push(block.len() as u64);
            }
            let all = 0..segment.text.len() as u64;
            let all = slice::from_ref(&all);
            content.append(&segment, all, &lengths, &mut out).unwrap();
        }
        let frames = content.finish(&mut out).unwrap();
        let frames = frames.chunks_exact(8);
        let offsets = frames.map(|offset| u64::from_le_bytes(offset.try_into().unwrap()));
        (bytes, offsets.collect())
    }

    fn blocks() -> Vec<Vec<u8>> {
        let block = |number: u32| {
            let line = |n: u32| format!("  value_{} = call_{};\n", (number * n) % 83, n % 7);
            (0..80).map(line).collect::<String>().into_bytes()
        };
        let mut blocks: Vec<_> = (0..1_500).map(block).collect();
        blocks[700] = vec![b'x'; ENCODED_BLOCK_BYTES_MAX + 1];
        blocks[701] = vec![b'y'; ENCODED_BLOCK_BYTES_MAX];
        blocks
    }

    #[test]
    fn the_bytes_depend_on_the_texts_alone() {
        let blocks = blocks();
        let (bytes, offsets) = write(&[&blocks], 1);
        assert_eq!(
            write(&[&blocks[..3], &blocks[3..701], &[], &blocks[701..]], 3).0,
            bytes
        );
        assert_eq!(offsets.len(), blocks.len() + 1);
        let dictionary = DecoderDictionary::new(&bytes[..offsets[0] as usize]).unwrap();
        assert!(offsets[0] > 0);
        let mut decoder = Decoder::default();
        for (block, ends) in blocks.iter().zip(offsets.windows(2)) {
            let stored = &bytes[ends[0] as usize..ends[1] as usize];
            let mut text = vec![0; block.len()];
            match decoder.decode(stored, &dictionary, &mut text) {
                Some(()) => assert_eq!(&text, block),
                None => assert_eq!(stored, block),
            }
        }
        assert_eq!(offsets[701] - offsets[700], blocks[700].len() as u64);
        assert!(offsets[702] - offsets[701] < 1000);
    }

    #[test]
    fn text_that_does_not_wait_any_more_is_encoded_at_once() {
        let blocks = blocks();
        let whole = write(&[&blocks], 2);
        let there = tempfile::tempdir().unwrap();
        let mut content = ContentWriter::new(ContentCodec::Zstd, 2, there.path()).unwrap();
        let mut bytes = Vec::new();
        let mut out = PageWriter::new(&mut bytes);
        let segment = Segment {
            text: blocks.concat(),
            ..Segment::default()
        };
        let lengths: Vec<u64> = blocks.iter().map(|block| block.len() as u64).collect();
        let all = 0..segment.text.len() as u64;
        let all = slice::from_ref(&all);
        content.append(&segment, all, &lengths, &mut out).unwrap();
        content.train(&mut out).unwrap();
        content.append(&segment, all, &lengths, &mut out).unwrap();
        let frames = content.finish(&mut out).unwrap();
        assert_eq!(frames.len(), 8 * (2 * blocks.len() + 1));
        let once = whole.0.len() - whole.1[0] as usize;
        assert_eq!(
            bytes.len(),
            whole.0.len() + once,
            "the dictionary, and all blocks twice"
        );
    }
}
