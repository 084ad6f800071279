//! Sorted runs: (trigram, block) pairs, sorted by trigram and encoded.
//!
//! For each trigram, ascending, a run has these varints: the difference to the trigram before, the
//! number of blocks, the first block, and for each further block the difference to the one before.
//! That is about 1.3 bytes for a pair, which takes 8 in memory.

use crate::posting::{decode_varint, encode_varint};
use std::io::{self, BufRead};

/// Bits of a trigram that one pass of the radix sort looks at.
const DIGIT_BITS: u32 = 12;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Sorts `pairs` (`trigram << 32 | block`, ascending by block) by trigram and encodes them.
pub(super) fn encode(pairs: &mut [u64], scratch: &mut Vec<u64>) -> Vec<u8> {
    scratch.resize(pairs.len().max(scratch.len()), 0);
    let scratch = &mut scratch[..pairs.len()];
    // Stable, least significant digit first: blocks keep their order.
    scatter(pairs, scratch, 32);
    scatter(scratch, pairs, 32 + DIGIT_BITS);
    let mut out = Vec::with_capacity(pairs.len() * 3 / 2);
    let mut before = 0;
    for list in pairs.chunk_by(|a, b| a >> 32 == b >> 32) {
        let trigram = list[0] >> 32;
        encode_varint(trigram - before, &mut out);
        before = trigram;
        encode_varint(list.len() as u64, &mut out);
        let mut previous = 0;
        for pair in list {
            let block = pair & u64::from(u32::MAX);
            encode_varint(block - previous, &mut out);
            previous = block;
        }
    }
    out
}

/// Does one pass of a radix sort, by the digit that begins at bit `shift`.
fn scatter(from: &[u64], to: &mut [u64], shift: u32) {
    let digit = |pair: u64| (pair >> shift) as usize % DIGITS;
    let mut offsets = vec![0; DIGITS];
    for &pair in from {
        offsets[digit(pair)] += 1;
    }
    let mut sum = 0;
    for offset in &mut offsets {
        sum += std::mem::replace(offset, sum);
    }
    for &pair in from {
        let offset = &mut offsets[digit(pair)];
        to[*offset] = pair;
        *offset += 1;
    }
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
        let mut block = u64::from(base);
        while count > 0 {
            let buffered = self.from.fill_buf()?;
            let mut rest = buffered;
            while count > 0 {
                let mut behind = rest;
                let Some(gap) = decode_varint(&mut behind) else {
                    break;
                };
                rest = behind;
                block += gap;
                blocks.push(block as u32);
                count -= 1;
            }
            let decoded = buffered.len() - rest.len();
            self.from.consume(decoded);
            if decoded == 0 {
                // It continues behind the buffer.
                block += self.varint()?.ok_or(io::ErrorKind::UnexpectedEof)?;
                blocks.push(block as u32);
                count -= 1;
            }
        }
        Ok(())
    }

    fn varint(&mut self) -> io::Result<Option<u64>> {
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
