//! Elias-Fano code of a list.

use super::bits::{BitReader, Forward, first_ones, load, set_ones, store};

/// Encodes `ids` into zeroed buffers.
pub(super) fn encode(ids: &[u32], low_bits: u32, low: &mut [u8], high: &mut [u8]) {
    let mask = (1_u64 << low_bits) - 1;
    // Pending bits: at most 31 before an id, plus at most 31 low bits.
    let (mut word, mut bits, mut at) = (0_u64, 0, 0);
    for &id in ids {
        word |= (u64::from(id) & mask) << bits;
        bits += low_bits;
        if bits >= u32::BITS {
            low[at..at + 4].copy_from_slice(&(word as u32).to_le_bytes());
            word >>= u32::BITS;
            (bits, at) = (bits - u32::BITS, at + 4);
        }
    }
    store(low, at, word);
    let ids = ids.iter().zip(0..);
    let ones = ids.map(|(&id, index)| (id >> low_bits) as usize + index);
    set_ones(high, ones);
}

#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    pub(super) n: u32,
    low_bits: u32,
    /// Low bits, then padding.
    pub(super) low: &'a [u8],
    /// High bits in unary.
    pub(super) bits: BitReader<'a>,
    /// Ids before the position.
    index: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(n: u32, low_bits: u32, low: &'a [u8], high: &'a [u8]) -> Self {
        Cursor {
            n,
            low_bits,
            low,
            bits: BitReader::new(high),
            index: 0,
        }
    }
}

impl Forward for Cursor<'_> {
    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.index >= self.n {
            return None;
        }
        let bit = self.bits.next_one()?;
        let id = id(bit, self.index, self.low_bits, self.low);
        self.index += 1;
        Some(id)
    }

    /// Checks per word instead of per id: half the instructions of [`next`](Forward::next).
    fn take_below(&mut self, end: u32, mut take: impl FnMut(u32)) -> Option<u32> {
        let (low_bits, mask) = (self.low_bits, (1 << self.low_bits) - 1);
        loop {
            let mut word = first_ones(self.bits.word, self.n.saturating_sub(self.index));
            let mut low_at = self.index as usize * low_bits as usize;
            while word != 0 {
                let bit = self.bits.base + word.trailing_zeros();
                let low = (load(self.low, low_at / 8) >> (low_at % 8)) & mask;
                let id = bit.wrapping_sub(self.index) << low_bits | low as u32;
                word &= word - 1;
                low_at += low_bits as usize;
                self.index += 1;
                if id >= end {
                    self.bits.go_to(bit + 1, word);
                    return Some(id);
                }
                take(id);
            }
            if self.index >= self.n || !self.bits.advance() {
                self.index = self.n;
                return None;
            }
        }
    }

    fn seek(&mut self, target: u32) -> Option<u32> {
        let zeros =
            (target >> self.low_bits).saturating_sub(self.bits.at().wrapping_sub(self.index));
        self.index += self.bits.skip_zeros(zeros);
        loop {
            let id = self.next()?;
            if id >= target {
                return Some(id);
            }
        }
    }
}

#[inline]
fn id(bit: u32, index: u32, low_bits: u32, low: &[u8]) -> u32 {
    let at = index as usize * low_bits as usize;
    let low = (load(low, at / 8) >> (at % 8)) & ((1 << low_bits) - 1);
    bit.wrapping_sub(index) << low_bits | low as u32
}
