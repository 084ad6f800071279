//! Gap code of a list: differences of ids in the gamma code.

use super::bits::{Forward, load};
use super::{decode_varint, encode_varint};
use std::ops::RangeInclusive;

/// Shorter lists save nothing, longer ones are too slow to search.
const IDS: RangeInclusive<u32> = 16..=1023;

/// Other lists begin with their length, never 0.
const FIRST_BYTE: u8 = 0;

/// Bytes besides length and codes.
pub(super) const HEAD_BYTES_MORE: usize = 3;

/// A code of 57 bits fits a word at any bit offset.
const ZEROS_MAX: u32 = 28;

const CODE_BYTES_MAX: usize = 8;

/// Code bytes of `ids`; `None` if not encodable.
pub(super) fn code_bytes(ids: &[u32]) -> Option<usize> {
    if !u32::try_from(ids.len()).is_ok_and(|n| IDS.contains(&n)) {
        return None;
    }
    let mut bits = 0;
    for gap in gaps(ids) {
        let zeros = gap.ilog2();
        if zeros > ZEROS_MAX {
            return None;
        }
        bits += 2 * zeros as usize + 1;
    }
    Some(bits.div_ceil(8))
}

pub(super) fn encode(ids: &[u32], code_bytes: usize, out: &mut Vec<u8>) {
    out.push(FIRST_BYTE);
    encode_varint(ids.len() as u64, out);
    encode_varint(code_bytes as u64, out);
    encode_codes(ids, code_bytes, out);
}

/// Appends the codes. Writes a whole word per code, since a branch on full bytes is unpredictable.
pub(super) fn encode_codes(ids: &[u32], code_bytes: usize, out: &mut Vec<u8>) {
    let mut at = out.len();
    let end = at + code_bytes;
    out.resize(end + size_of::<u64>(), 0);
    // Pending bits, at most 7 before a code.
    let (mut word, mut bits) = (0_u64, 0);
    for gap in gaps(ids) {
        let zeros = gap.ilog2();
        // The lower bits follow the highest.
        let code = ((gap - (1 << zeros)) << 1 | 1) << zeros;
        word |= code << bits;
        bits += 2 * zeros + 1;
        out[at..at + size_of::<u64>()].copy_from_slice(&word.to_le_bytes());
        at += bits as usize / 8;
        word = word.checked_shr(bits / 8 * 8).unwrap_or(0);
        bits %= 8;
    }
    out.truncate(end);
}

pub(super) fn is_head(bytes: &[u8]) -> bool {
    bytes.first() == Some(&FIRST_BYTE)
}

pub(super) fn decode_head(bytes: &mut &[u8]) -> Option<(u32, usize)> {
    *bytes = bytes.strip_prefix(&[FIRST_BYTE])?;
    let n = u32::try_from(decode_varint(bytes)?).ok()?;
    let code_bytes = usize::try_from(decode_varint(bytes)?).ok()?;
    let is_valid = IDS.contains(&n) && code_bytes <= n as usize * CODE_BYTES_MAX;
    is_valid.then_some((n, code_bytes))
}

/// Iterates over the gaps, all at least 1: the first one is to -1.
fn gaps(ids: &[u32]) -> impl Iterator<Item = u64> {
    let mut next = 0;
    ids.iter().map(move |&id| {
        let gap = u64::from(id) + 1 - next;
        next = u64::from(id) + 1;
        gap
    })
}

#[derive(Clone, Copy)]
pub struct GapCursor<'a> {
    pub(super) left: u32,
    /// Codes, then padding.
    pub(super) codes: &'a [u8],
    /// Bit position.
    at: usize,
    /// Least possible next id.
    next: u64,
}

impl<'a> GapCursor<'a> {
    pub(super) fn new(n: u32, codes: &'a [u8]) -> Self {
        GapCursor {
            left: n,
            codes,
            at: 0,
            next: 0,
        }
    }
}

impl Forward for GapCursor<'_> {
    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.take_below(0, |_| {})
    }

    #[inline]
    fn take_below(&mut self, end: u32, mut take: impl FnMut(u32)) -> Option<u32> {
        let (codes, mut at, mut next) = (self.codes, self.at, self.next);
        for left in (0..self.left).rev() {
            let word = load(codes, at / 8) >> (at % 8);
            let zeros = word.trailing_zeros();
            if zeros > ZEROS_MAX {
                // Malformed, or the end.
                break;
            }
            let highest = 1 << zeros;
            next += highest | word >> zeros >> 1 & (highest - 1);
            at += 2 * zeros as usize + 1;
            if next > u64::from(end) {
                (self.left, self.at, self.next) = (left, at, next);
                // Only malformed ids overflow.
                return Some(u32::try_from(next - 1).unwrap_or(u32::MAX));
            }
            take((next - 1) as u32);
        }
        self.left = 0;
        None
    }

    fn seek(&mut self, target: u32) -> Option<u32> {
        self.take_below(target, |_| {})
    }
}
