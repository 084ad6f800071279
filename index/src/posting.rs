//! Posting lists: the blocks that hold a trigram.
//!
//! `n` ascending block ids out of a shard's `universe` are stored with the smallest of three
//! codecs; `n` and the universe decide between the first two:
//!
//! - **Elias-Fano** (P. Elias 1974; S. Vigna, "Quasi-succinct indices", 2013): the low
//!   `l = floor(log2(universe / n))` bits of every id, then the high bits in unary: id number `i`
//!   sets bit `(id >> l) + i`. About `2 + l` bits an id; `seek` skips words of zeros.
//! - **bitmap**: one bit per block, for very common trigrams.
//! - **gaps**, for 16 to 1,023 ids: differences (the first one to -1) in the gamma code (P. Elias,
//!   "Universal codeword sets", 1975): with highest bit `z`, `z` zeros, a one, the lower bits.
//!   Three quarters of Elias-Fano, since blocks cluster; `seek` reads every id, hence the bound.
//!
//! A list begins with `n` as a varint; one of gaps with 0, then `n` and the bytes of the codes. A
//! single block is stored in the dictionary.
//!
//! Worked example: blocks 2, 3, 9 of a universe of 12. `l = 2`; low bits 2, 3, 1 as `10 11 01`,
//! least significant first: `01_11_10` = 0x1e; high bits 0, 0, 2 set bits 0, 1 and 4: 0x13. With
//! the length: `03 1e 13`. The bitmap `03 0c 02` is not smaller. Gaps 3, 1, 6: `01 1`, `1`,
//! `001 01`: 0x4e 0x01.
//!
//! **Invariant:** malformed bytes never panic: they give wrong ids below the universe or an early
//! end. (Shards verify checksums first.)

#![deny(clippy::disallowed_methods)]

mod bits;
mod elias_fano;
mod gaps;
mod set_ops;

pub(crate) use bits::{decode_varint, encode_varint, from_zigzag, zigzag};
pub(crate) use set_ops::{common, joined, push_range, retain_common, united};
pub use set_ops::{intersect, unite};

use bits::{for_each_one, set_ones, take_within, varint_bytes};
use elias_fano::Cursor;
use gaps::GapCursor;
use std::ops::Range;

/// Readable bytes after a list: loads of 8 bytes then need no bounds check.
pub const PADDING_BYTES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Low bits verbatim, high bits in unary.
    EliasFano,
    /// One bit per block.
    Bitmap,
    /// Gamma-coded differences.
    Gaps,
}

impl Codec {
    /// Smaller of Elias-Fano (on a tie) and bitmap for `n` ids.
    pub fn of(n: u32, universe: u32) -> Codec {
        let bytes = |codec| Layout::of(codec, n, universe).bytes();
        if bytes(Codec::Bitmap) < bytes(Codec::EliasFano) {
            Codec::Bitmap
        } else {
            Codec::EliasFano
        }
    }

    pub fn encode(self, ids: &[u32], universe: u32, out: &mut Vec<u8>) {
        if self == Codec::Gaps {
            let code_bytes = gaps::code_bytes(ids).expect("ids that can be stored as gaps");
            return gaps::encode(ids, code_bytes, out);
        }
        let n = length(ids);
        encode_varint(u64::from(n), out);
        let layout = Layout::of(self, n, universe);
        let start = out.len();
        out.resize(start + layout.bytes(), 0);
        let (low, high) = out[start..].split_at_mut(layout.low_bytes);
        if self == Codec::Bitmap {
            set_ones(high, ids.iter().map(|&id| id as usize));
        } else {
            elias_fano::encode(ids, layout.low_bits, low, high);
        }
    }

    /// Decodes a list of this codec, followed by [`PADDING_BYTES`].
    pub fn decode(self, bytes: &[u8], universe: u32) -> Option<PostingList<'_>> {
        let mut data = bytes;
        if self == Codec::Gaps {
            let (n, code_bytes) = gaps::decode_head(&mut data)?;
            let codes = data.get(..code_bytes + PADDING_BYTES)?;
            return (n <= universe).then_some(PostingList::Gaps(GapCursor::new(n, codes)));
        }
        let n = u32::try_from(decode_varint(&mut data)?).ok()?;
        let layout = Layout::of(self, n, universe);
        if n > universe || data.len() < layout.bytes() + PADDING_BYTES {
            return None;
        }
        if self == Codec::Bitmap {
            let bits = &data[..layout.high_bytes];
            return Some(PostingList::Bitmap { n, bits });
        }
        let low = &data[..layout.low_bytes + PADDING_BYTES];
        let high = &data[layout.low_bytes..][..layout.high_bytes];
        let cursor = Cursor::new(n, layout.low_bits, low, high);
        Some(PostingList::EliasFano(cursor))
    }
}

#[derive(Clone, Copy)]
struct Layout {
    low_bits: u32,
    low_bytes: usize,
    high_bytes: usize,
}

impl Layout {
    fn of(codec: Codec, n: u32, universe: u32) -> Layout {
        if codec == Codec::Bitmap {
            return Layout {
                low_bits: 0,
                low_bytes: 0,
                high_bytes: universe.div_ceil(8) as usize,
            };
        }
        let low_bits = (universe / n.max(1)).checked_ilog2().unwrap_or(0);
        let high = u64::from(n) + u64::from(universe.saturating_sub(1) >> low_bits) + 1;
        Layout {
            low_bits,
            low_bytes: (u64::from(n) * u64::from(low_bits)).div_ceil(8) as usize,
            high_bytes: high.div_ceil(8) as usize,
        }
    }

    fn bytes(&self) -> usize {
        self.low_bytes + self.high_bytes
    }
}

/// Appends `ids` (ascending, distinct, below `universe`, not empty) with the smallest codec, and
/// returns it.
pub fn encode(ids: &[u32], universe: u32, out: &mut Vec<u8>) -> Codec {
    let n = length(ids);
    let other = Codec::of(n, universe);
    let bytes = Layout::of(other, n, universe).bytes();
    let is_less = |code_bytes: &usize| code_bytes + gaps::HEAD_BYTES_MORE < bytes;
    if let Some(code_bytes) = gaps::code_bytes(ids).filter(is_less) {
        gaps::encode(ids, code_bytes, out);
        return Codec::Gaps;
    }
    other.encode(ids, universe, out);
    other
}

fn length(ids: &[u32]) -> u32 {
    u32::try_from(ids.len()).expect("distinct u32 ids")
}

#[derive(Clone, Copy)]
pub enum PostingList<'a> {
    /// Block in the dictionary.
    One(u32),
    EliasFano(Cursor<'a>),
    Bitmap {
        n: u32,
        /// One bit per block.
        bits: &'a [u8],
    },
    Gaps(GapCursor<'a>),
}

const LENGTH_BYTES_MAX: usize = 5;

/// Number of ids and bytes of a list, from its length alone.
pub(crate) fn list_size(bytes: &[u8], universe: u32) -> Option<(u32, usize)> {
    let head = &bytes[..bytes.len().min(LENGTH_BYTES_MAX)];
    let mut rest = head;
    if gaps::is_head(head) {
        let (n, code_bytes) = gaps::decode_head(&mut rest)?;
        return Some((n, head.len() - rest.len() + code_bytes));
    }
    let n = u32::try_from(decode_varint(&mut rest)?).ok()?;
    let layout = Layout::of(Codec::of(n, universe), n, universe);
    Some((n, head.len() - rest.len() + layout.bytes()))
}

impl<'a> PostingList<'a> {
    /// Decodes a list, followed by [`PADDING_BYTES`].
    pub fn decode(bytes: &'a [u8], universe: u32) -> Option<PostingList<'a>> {
        let codec = if gaps::is_head(bytes) {
            Codec::Gaps
        } else {
            let n = u32::try_from(decode_varint(&mut &*bytes)?).ok()?;
            Codec::of(n, universe)
        };
        codec.decode(bytes, universe)
    }

    /// At least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u32 {
        match self {
            PostingList::One(_) => 1,
            PostingList::EliasFano(cursor) => cursor.n,
            PostingList::Bitmap { n, .. } => *n,
            PostingList::Gaps(cursor) => cursor.left,
        }
    }

    pub fn codec(&self) -> Option<Codec> {
        match self {
            PostingList::One(_) => None,
            PostingList::EliasFano(_) => Some(Codec::EliasFano),
            PostingList::Bitmap { .. } => Some(Codec::Bitmap),
            PostingList::Gaps(_) => Some(Codec::Gaps),
        }
    }

    /// Bytes without the dictionary entry.
    pub fn bytes(&self) -> usize {
        let head = varint_bytes(self.len().into());
        match self {
            PostingList::One(_) => 0,
            PostingList::EliasFano(cursor) => {
                head + cursor.low.len() - PADDING_BYTES + cursor.bits.bytes.len()
            }
            PostingList::Bitmap { bits, .. } => head + bits.len(),
            PostingList::Gaps(cursor) => {
                let codes = cursor.codes.len() - PADDING_BYTES;
                1 + head + varint_bytes(codes as u64) + codes
            }
        }
    }

    pub fn within(&self, ranges: &[Range<u32>]) -> Vec<u32> {
        let positions: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let mut ids = Vec::with_capacity(positions.min(self.len() as usize));
        self.for_each_within(ranges, |id| ids.push(id));
        ids
    }

    /// Passes ids inside `ranges` to `take`; twice as fast as an iterator over all codecs.
    pub fn for_each_within(&self, ranges: &[Range<u32>], mut take: impl FnMut(u32)) {
        match *self {
            PostingList::One(id) => {
                if ranges.iter().any(|range| range.contains(&id)) {
                    take(id);
                }
            }
            PostingList::Bitmap { bits, .. } => ranges
                .iter()
                .for_each(|range| for_each_one(bits, range.clone(), &mut take)),
            PostingList::EliasFano(cursor) => take_within(cursor, ranges, take),
            PostingList::Gaps(cursor) => take_within(cursor, ranges, take),
        }
    }
}

#[cfg(test)]
mod tests;
