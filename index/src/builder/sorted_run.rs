//! Sorted runs: (trigram, block) pairs, sorted by trigram and encoded.
//!
//! For each trigram, ascending, a run has these varints: the difference to the trigram before, the
//! number of blocks, the first block, and for each further block the difference to the one before.
//! That is about 1.1 bytes for a pair, which takes 4 in memory.

use crate::posting::decode_varint;
use std::io::{self, BufRead};

/// Bytes of a varint of 32 bits, at most.
const VARINT_BYTES_MAX: usize = 5;

/// The bits of eight bytes that are set if a varint goes on behind one of them.
const CONTINUED: u64 = 0x8080_8080_8080_8080;

/// Writes a sorted run, one trigram at a time.
pub(super) struct RunWriter {
    /// The run, and zeros behind it.
    out: Vec<u8>,
    /// Length of the run so far.
    bytes: usize,
    /// The trigram before.
    trigram: u32,
}

impl RunWriter {
    /// Begins a run of about this many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        RunWriter {
            out: vec![0; bytes],
            bytes: 0,
            trigram: 0,
        }
    }

    /// Appends the blocks of the next trigram: ascending, at least one.
    pub(super) fn list(&mut self, trigram: u32, blocks: impl ExactSizeIterator<Item = u32>) {
        let bytes_max = (2 + blocks.len()) * VARINT_BYTES_MAX;
        if self.out.len() - self.bytes < bytes_max {
            self.out
                .resize(self.out.len() + self.out.len() / 4 + bytes_max, 0);
        }
        let out = &mut self.out[self.bytes..][..bytes_max];
        let mut at = put(trigram - self.trigram, out, 0);
        // A segment has less than 2^32 blocks.
        at = put(blocks.len() as u32, out, at);
        let mut previous = 0;
        for block in blocks {
            at = put(block - previous, out, at);
            previous = block;
        }
        self.trigram = trigram;
        self.bytes += at;
    }

    /// Returns the run.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.truncate(self.bytes);
        self.out
    }
}

/// Writes a varint to `out[at..]`, and returns where it ends. It need not grow a vector, as
/// [`encode_varint`](crate::posting::encode_varint) must.
#[inline]
fn put(mut value: u32, out: &mut [u8], mut at: usize) -> usize {
    while value >= 0x80 {
        out[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    out[at] = value as u8;
    at + 1
}

/// Reads a sorted run, one trigram at a time.
pub(crate) struct RunReader<R> {
    from: R,
    trigram: u64,
}

impl<R: BufRead> RunReader<R> {
    /// Reads from the start of a run.
    pub(crate) fn new(from: R) -> Self {
        RunReader { from, trigram: 0 }
    }

    /// Returns the next trigram, or `None` at the end. Call [`list`](Self::list) for its blocks.
    pub(crate) fn trigram(&mut self) -> io::Result<Option<u32>> {
        let Some(gap) = self.varint()? else {
            return Ok(None);
        };
        self.trigram += gap;
        Ok(Some(self.trigram as u32))
    }

    /// Appends the trigram's blocks, each with `base` added, to `blocks`.
    pub(crate) fn list(&mut self, base: u32, blocks: &mut Vec<u32>) -> io::Result<()> {
        let mut count = self.varint()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut block = base;
        while count > 0 {
            let buffered = self.from.fill_buf()?;
            let mut rest = buffered;
            while count > 0 {
                // Most gaps have one byte.
                if count >= 8
                    && let Some((gaps, behind)) = rest.split_first_chunk::<8>()
                    && u64::from_le_bytes(*gaps) & CONTINUED == 0
                {
                    blocks.extend_from_slice(&gaps.map(|gap| {
                        block = block.wrapping_add(gap.into());
                        block
                    }));
                    rest = behind;
                    count -= 8;
                    continue;
                }
                let mut behind = rest;
                let Some(gap) = decode_varint(&mut behind) else {
                    break;
                };
                rest = behind;
                block = block.wrapping_add(gap as u32);
                blocks.push(block);
                count -= 1;
            }
            let decoded = buffered.len() - rest.len();
            self.from.consume(decoded);
            if decoded == 0 {
                // It continues behind the buffer.
                let gap = self.varint()?.ok_or(io::ErrorKind::UnexpectedEof)?;
                block = block.wrapping_add(gap as u32);
                blocks.push(block);
                count -= 1;
            }
        }
        Ok(())
    }

    /// Returns the next varint, or `None` at the end.
    #[inline]
    fn varint(&mut self) -> io::Result<Option<u64>> {
        let buffered = self.from.fill_buf()?;
        let mut behind = buffered;
        if let Some(value) = decode_varint(&mut behind) {
            let decoded = buffered.len() - behind.len();
            self.from.consume(decoded);
            return Ok(Some(value));
        }
        self.varint_across_buffers()
    }

    /// Reads a varint byte by byte, since its last bytes may be in the next buffer.
    #[cold]
    fn varint_across_buffers(&mut self) -> io::Result<Option<u64>> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let Some(&byte) = self.from.fill_buf()?.first() else {
                return Ok(None);
            };
            self.from.consume(1);
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(Some(value));
            }
            shift += 7;
        }
    }
}
