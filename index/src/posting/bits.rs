//! Bit strings, least significant bit of the first byte first; variable-length integers; forward
//! iteration over sequentially decoded lists.

use std::ops::Range;

/// Calls `take` with the set bits in `range`.
#[inline]
pub(super) fn for_each_one(bytes: &[u8], range: Range<u32>, mut take: impl FnMut(u32)) {
    let end = (range.end as usize).min(bytes.len() * 8) as u32;
    for base in (range.start / 64 * 64..end).step_by(64) {
        let mut word = load(bytes, base as usize / 8);
        if base < range.start {
            word &= u64::MAX << (range.start - base);
        }
        if end - base < 64 {
            word &= !(u64::MAX << (end - base));
        }
        while word != 0 {
            take(base + word.trailing_zeros());
            word &= word - 1;
        }
    }
}

/// Sets the ascending `positions` in zeroed bytes. Writes whole words: setting bits in memory would
/// wait for the previous write.
#[inline]
pub(super) fn set_ones(bytes: &mut [u8], positions: impl Iterator<Item = usize>) {
    let (mut word, mut base) = (0_u64, 0);
    for at in positions {
        if at - base >= 64 {
            store(bytes, base / 8, word);
            (word, base) = (0, at / 64 * 64);
        }
        word |= 1 << (at - base);
    }
    store(bytes, base / 8, word);
}

/// Cuts the word to the room left.
#[inline]
pub(super) fn store(bytes: &mut [u8], at: usize, word: u64) {
    let bytes = bytes.get_mut(at..).unwrap_or_default();
    match bytes.first_chunk_mut() {
        Some(all) => *all = word.to_le_bytes(),
        None => {
            let room = bytes.len();
            bytes.copy_from_slice(&word.to_le_bytes()[..room]);
        }
    }
}

#[inline]
pub(super) fn has_bit(bits: &[u8], at: u32) -> bool {
    let byte = bits.get(at as usize / 8);
    byte.is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

#[derive(Clone, Copy)]
pub(super) struct BitReader<'a> {
    pub(super) bytes: &'a [u8],
    /// Current 64 bits; passed ones are cleared.
    pub(super) word: u64,
    /// Position of `word`, a multiple of 64.
    pub(super) base: u32,
    /// Offset in the word, for [`at`](Self::at).
    passed: u32,
}

impl<'a> BitReader<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        BitReader {
            bytes,
            word: load(bytes, 0),
            base: 0,
            passed: 0,
        }
    }

    #[inline]
    pub(super) fn at(&self) -> u32 {
        self.base + self.passed
    }

    /// Moves inside the word; `word` is its rest.
    #[inline]
    pub(super) fn go_to(&mut self, at: u32, word: u64) {
        self.passed = at - self.base;
        self.word = word;
    }

    /// Returns false at the end.
    #[inline]
    pub(super) fn advance(&mut self) -> bool {
        self.base += 64;
        self.passed = 0;
        self.word = load(self.bytes, (self.base / 8) as usize);
        (self.base as usize) < self.bytes.len() * 8
    }

    /// Position of the next set bit; moves past it.
    #[inline]
    pub(super) fn next_one(&mut self) -> Option<u32> {
        while self.word == 0 {
            if !self.advance() {
                return None;
            }
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        self.passed = bit + 1;
        Some(self.base + bit)
    }

    /// Moves past `zeros` zero bits and returns the number of skipped ones.
    pub(super) fn skip_zeros(&mut self, mut zeros: u32) -> u32 {
        let mut ones = 0;
        while zeros > 0 {
            let left = 64 - self.passed;
            let ones_here = self.word.count_ones();
            if left - ones_here < zeros {
                zeros -= left - ones_here;
                ones += ones_here;
                if !self.advance() {
                    break;
                }
            } else {
                ones += self.skip_zeros_in_word(zeros);
                break;
            }
        }
        ones
    }

    fn skip_zeros_in_word(&mut self, zeros: u32) -> u32 {
        let mut ones = 0;
        // The last zero precedes the first one bit with at least `zeros` zeros before it.
        let mut rest = self.word;
        while rest != 0 && rest.trailing_zeros() - self.passed - ones < zeros {
            rest &= rest - 1;
            ones += 1;
        }
        self.passed += zeros + ones;
        self.word = rest;
        ones
    }
}

#[inline]
pub(super) fn first_ones(mut word: u64, count: u32) -> u64 {
    // Malformed lists only.
    for _ in count..word.count_ones() {
        word &= !(1 << (63 - word.leading_zeros()));
    }
    word
}

/// Returns 8 bytes from `at`, zero-padded.
#[inline]
pub(super) fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at + 8) {
        Some(word) => u64::from_le_bytes(word.try_into().expect("8 bytes")),
        None => {
            let mut word = [0; 8];
            let rest = bytes.get(at..).unwrap_or(&[]);
            word[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(word)
        }
    }
}

/// Appends `value` in 7-bit groups, lowest first; the high bit marks continuation.
pub(crate) fn encode_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Decodes a varint from the front of `bytes`; `None` if truncated or over 64 bits.
pub(crate) fn decode_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

pub(super) fn varint_bytes(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

pub(super) trait Forward {
    fn next(&mut self) -> Option<u32>;

    fn take_below(&mut self, end: u32, take: impl FnMut(u32)) -> Option<u32>;

    /// Next id of at least `target`. Targets must ascend.
    fn seek(&mut self, target: u32) -> Option<u32>;
}

pub(super) fn take_within(
    mut list: impl Forward,
    ranges: &[Range<u32>],
    mut take: impl FnMut(u32),
) {
    let mut next = list.next();
    for range in ranges {
        if next.is_some_and(|id| id < range.start) {
            next = list.seek(range.start);
        }
        if let Some(id) = next.filter(|&id| id < range.end) {
            take(id);
            next = list.take_below(range.end, &mut take);
        }
    }
}

pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(crate) fn from_zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
