//! The gap code of a list: the difference of each id to the one before, in the gamma code.

use super::bits::load;
use super::forward::Forward;
use super::{decode_varint, encode_varint};
use std::ops::RangeInclusive;

/// Lengths of lists that may be stored as gaps. Shorter ones save nothing. In longer ones ids are not found
/// fast enough.
const IDS: RangeInclusive<u32> = 16..=1023;

/// The first byte of a list. Others begin with their length, which is never 0.
const FIRST_BYTE: u8 = 0;

/// Bytes of a list besides its length and codes, at most.
pub(super) const HEAD_BYTES_MORE: usize = 3;

/// Zeros before the highest bit of a gap, at most: a code of 57 bits is in one word, wherever it begins.
const ZEROS_MAX: u32 = 28;

/// Bytes of the codes of a list, at most, for each id.
const CODE_BYTES_MAX: usize = 8;

/// Returns the bytes of the codes of `ids`; `None` when they cannot be stored as gaps.
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

/// Appends the list of `ids`, whose [`code_bytes`] are given.
pub(super) fn encode(ids: &[u32], code_bytes: usize, out: &mut Vec<u8>) {
    out.push(FIRST_BYTE);
    encode_varint(ids.len() as u64, out);
    encode_varint(code_bytes as u64, out);
    encode_codes(ids, code_bytes, out);
}

/// Appends the codes of the gaps of `ids`. Each is written with a whole word, since a branch on whether a byte is full
/// cannot be predicted.
pub(super) fn encode_codes(ids: &[u32], code_bytes: usize, out: &mut Vec<u8>) {
    let mut at = out.len();
    let end = at + code_bytes;
    out.resize(end + size_of::<u64>(), 0);
    // Bits from `at` on, and how many: at most 7 before a code.
    let (mut word, mut bits) = (0_u64, 0);
    for gap in gaps(ids) {
        let zeros = gap.ilog2();
        // The bits below the highest one follow it.
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

/// Whether a list is one of gaps.
pub(super) fn is_head(bytes: &[u8]) -> bool {
    bytes.first() == Some(&FIRST_BYTE)
}

/// Takes the head of a list of gaps from the front of `bytes`: its length, and the bytes of its codes.
pub(super) fn decode_head(bytes: &mut &[u8]) -> Option<(u32, usize)> {
    *bytes = bytes.strip_prefix(&[FIRST_BYTE])?;
    let n = u32::try_from(decode_varint(bytes)?).ok()?;
    let code_bytes = usize::try_from(decode_varint(bytes)?).ok()?;
    let is_valid = IDS.contains(&n) && code_bytes <= n as usize * CODE_BYTES_MAX;
    is_valid.then_some((n, code_bytes))
}

/// Iterates over the gaps: the first one is to -1, so all are at least 1.
fn gaps(ids: &[u32]) -> impl Iterator<Item = u64> {
    let mut next = 0;
    ids.iter().map(move |&id| {
        let gap = u64::from(id) + 1 - next;
        next = u64::from(id) + 1;
        gap
    })
}

/// A position in a list of gaps, which moves forward only.
pub(super) struct GapCursor<'a> {
    /// Number of ids behind the position.
    left: u32,
    codes: &'a [u8],
    /// The position in bits.
    at: usize,
    /// The least id that may follow.
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
                // Malformed, or behind the end.
                break;
            }
            let highest = 1 << zeros;
            next += highest | word >> zeros >> 1 & (highest - 1);
            at += 2 * zeros as usize + 1;
            if next > u64::from(end) {
                (self.left, self.at, self.next) = (left, at, next);
                // Only a malformed list has an id that does not fit.
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
