//! Sorted runs: encoded (trigram, block) pairs.
//!
//! Varints per ascending trigram: difference to the previous trigram, number of blocks, first
//! block, differences of further blocks. About 1.1 bytes a pair, which takes 4 in memory.

use crate::posting::decode_varint;
use std::io::{self, BufRead};

const VARINT_BYTES_MAX: usize = 5;

/// Continuation bits of eight bytes.
const CONTINUED: u64 = 0x8080_8080_8080_8080;

pub(super) struct RunWriter {
    /// Run, then zeros.
    out: Vec<u8>,
    /// Length so far.
    bytes: usize,
    trigram: u32,
}

impl RunWriter {
    pub(super) fn new(bytes: usize) -> Self {
        RunWriter {
            out: vec![0; bytes],
            bytes: 0,
            trigram: 0,
        }
    }

    pub(super) fn list(&mut self, trigram: u32, blocks: impl ExactSizeIterator<Item = u32>) {
        let bytes_max = (2 + blocks.len()) * VARINT_BYTES_MAX;
        if self.out.len() - self.bytes < bytes_max {
            self.out
                .resize(self.out.len() + self.out.len() / 4 + bytes_max, 0);
        }
        let out = &mut self.out[self.bytes..][..bytes_max];
        let mut at = put(trigram - self.trigram, out, 0);
        // Below 2^32 blocks in a segment.
        at = put(blocks.len() as u32, out, at);
        let mut previous = 0;
        for block in blocks {
            at = put(block - previous, out, at);
            previous = block;
        }
        self.trigram = trigram;
        self.bytes += at;
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.truncate(self.bytes);
        self.out
    }
}

/// Writes a varint at `at` and returns its end. Unlike
/// [`encode_varint`](crate::posting::encode_varint), never grows.
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

pub(crate) struct RunReader<R> {
    from: R,
    trigram: u64,
}

impl<R: BufRead> RunReader<R> {
    pub(crate) fn new(from: R) -> Self {
        RunReader { from, trigram: 0 }
    }

    /// Next trigram; [`list`](Self::list) reads its blocks.
    pub(crate) fn trigram(&mut self) -> io::Result<Option<u32>> {
        let Some(gap) = self.varint()? else {
            return Ok(None);
        };
        self.trigram += gap;
        Ok(Some(self.trigram as u32))
    }

    /// Adds `base` to the blocks.
    pub(crate) fn list(&mut self, base: u32, blocks: &mut Vec<u32>) -> io::Result<()> {
        let mut count = self.varint()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut block = base;
        while count > 0 {
            let buffered = self.from.fill_buf()?;
            let mut rest = buffered;
            while count > 0 {
                // Most gaps are one byte.
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
                // Continues in the next buffer.
                let gap = self.varint()?.ok_or(io::ErrorKind::UnexpectedEof)?;
                block = block.wrapping_add(gap as u32);
                blocks.push(block);
                count -= 1;
            }
        }
        Ok(())
    }

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
