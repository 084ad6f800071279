//! Codecs of posting lists to compare. Skipping is simple but efficient: the benchmark compares
//! layouts.

use bitpacking::{BitPacker, BitPacker4x};
use index::posting::{self, Codec as Own, PostingList};
use roaring::RoaringBitmap;
use std::slice;

pub(crate) trait Codec {
    const NAME: &'static str;

    fn encode(ids: &[u32], universe: u32, out: &mut Vec<u8>);

    fn for_each(bytes: &[u8], universe: u32, take: impl FnMut(u32));

    fn intersect(ids: &mut Vec<u32>, bytes: &[u8], universe: u32);
}

pub(crate) struct Smallest;

impl Codec for Smallest {
    const NAME: &'static str = "EF, bitmap or gaps";

    fn encode(ids: &[u32], universe: u32, out: &mut Vec<u8>) {
        posting::encode(ids, universe, out);
    }

    fn for_each(bytes: &[u8], universe: u32, take: impl FnMut(u32)) {
        list(bytes, universe).for_each_within(slice::from_ref(&(0..universe)), take);
    }

    fn intersect(ids: &mut Vec<u32>, bytes: &[u8], universe: u32) {
        posting::intersect(ids, &list(bytes, universe));
    }
}

/// Codecs of version 2.
pub(crate) struct Hybrid;

impl Codec for Hybrid {
    const NAME: &'static str = "EF or bitmap";

    fn encode(ids: &[u32], universe: u32, out: &mut Vec<u8>) {
        let n = u32::try_from(ids.len()).expect("distinct ids");
        Own::of(n, universe).encode(ids, universe, out);
    }

    fn for_each(bytes: &[u8], universe: u32, take: impl FnMut(u32)) {
        list(bytes, universe).for_each_within(slice::from_ref(&(0..universe)), take);
    }

    fn intersect(ids: &mut Vec<u32>, bytes: &[u8], universe: u32) {
        posting::intersect(ids, &list(bytes, universe));
    }
}

fn list(bytes: &[u8], universe: u32) -> PostingList<'_> {
    PostingList::decode(bytes, universe).expect("it was encoded here")
}

pub(crate) struct EliasFano;

impl Codec for EliasFano {
    const NAME: &'static str = "Elias-Fano";

    fn encode(ids: &[u32], universe: u32, out: &mut Vec<u8>) {
        Own::EliasFano.encode(ids, universe, out);
    }

    fn for_each(bytes: &[u8], universe: u32, take: impl FnMut(u32)) {
        elias_fano(bytes, universe).for_each_within(slice::from_ref(&(0..universe)), take);
    }

    fn intersect(ids: &mut Vec<u32>, bytes: &[u8], universe: u32) {
        posting::intersect(ids, &elias_fano(bytes, universe));
    }
}

fn elias_fano(bytes: &[u8], universe: u32) -> PostingList<'_> {
    Own::EliasFano
        .decode(bytes, universe)
        .expect("it was encoded here")
}

/// Varint differences without skips, as in codesearch.
pub(crate) struct Varint;

impl Codec for Varint {
    const NAME: &'static str = "varint";

    fn encode(ids: &[u32], _: u32, out: &mut Vec<u8>) {
        encode_varint(ids.len() as u32, out);
        encode_differences(0, ids, out);
    }

    fn for_each(mut bytes: &[u8], _: u32, take: impl FnMut(u32)) {
        let n = decode_varint(&mut bytes);
        decode_differences(0, n, bytes, take);
    }

    fn intersect(ids: &mut Vec<u32>, bytes: &[u8], universe: u32) {
        let mut merge = Merge::new(ids);
        Self::for_each(bytes, universe, |id| merge.take(id));
        merge.finish();
    }
}

/// Blocks of 128 differences at the width of the largest (frame of reference), with a skip table;
/// the rest as varints. As in Lucene and tantivy.
pub(crate) struct Packed;

const PACKED: usize = BitPacker4x::BLOCK_LEN;
const SKIP_BYTES: usize = 5;

impl Codec for Packed {
    const NAME: &'static str = "packed by 128";

    fn encode(ids: &[u32], _: u32, out: &mut Vec<u8>) {
        encode_varint(ids.len() as u32, out);
        let (packer, table) = (BitPacker4x::new(), out.len());
        let blocks = ids.chunks_exact(PACKED);
        out.resize(table + blocks.len() * SKIP_BYTES, 0);
        let rest = blocks.remainder();
        let mut before = 0;
        for (index, block) in blocks.enumerate() {
            let bits = packer.num_bits_sorted(before, block);
            let start = out.len();
            out.resize(start + BitPacker4x::compressed_block_size(bits), 0);
            packer.compress_sorted(before, block, &mut out[start..], bits);
            before = block[PACKED - 1];
            let skip = &mut out[table + index * SKIP_BYTES..][..SKIP_BYTES];
            skip[..4].copy_from_slice(&before.to_le_bytes());
            skip[4] = bits;
        }
        encode_differences(before, rest, out);
    }

    fn for_each(bytes: &[u8], _: u32, mut take: impl FnMut(u32)) {
        let mut blocks = PackedBlocks::new(bytes);
        while blocks.next_block(|_| true) {
            blocks.buffer.into_iter().for_each(&mut take);
        }
        decode_differences(blocks.before, blocks.rest, blocks.data, take);
    }

    fn intersect(ids: &mut Vec<u32>, bytes: &[u8], _: u32) {
        let mut blocks = PackedBlocks::new(bytes);
        let mut merge = Merge::new(ids);
        while let Some(wanted) = merge.wanted() {
            if !blocks.next_block(|last| last >= wanted) {
                let (before, rest, data) = (blocks.before, blocks.rest, blocks.data);
                decode_differences(before, rest, data, |id| merge.take(id));
                break;
            }
            blocks.buffer.iter().for_each(|&id| merge.take(id));
        }
        merge.finish();
    }
}

struct PackedBlocks<'a> {
    table: &'a [u8],
    data: &'a [u8],
    /// Last id of the previous block.
    before: u32,
    /// Ids after the last block.
    rest: u32,
    buffer: [u32; PACKED],
}

impl<'a> PackedBlocks<'a> {
    fn new(mut bytes: &'a [u8]) -> Self {
        let n = decode_varint(&mut bytes);
        let (table, data) = bytes.split_at(n as usize / PACKED * SKIP_BYTES);
        PackedBlocks {
            table,
            data,
            before: 0,
            rest: n % PACKED as u32,
            buffer: [0; PACKED],
        }
    }

    /// Decodes the next block with a `wanted` last id; false at the end.
    fn next_block(&mut self, wanted: impl Fn(u32) -> bool) -> bool {
        while let Some((skip, table)) = self.table.split_first_chunk::<SKIP_BYTES>() {
            let [a, b, c, d, bits] = *skip;
            let last = u32::from_le_bytes([a, b, c, d]);
            let (block, data) = self.data.split_at(BitPacker4x::compressed_block_size(bits));
            if wanted(last) {
                BitPacker4x::new().decompress_sorted(self.before, block, &mut self.buffer, bits);
            }
            (self.table, self.data, self.before) = (table, data, last);
            if wanted(last) {
                return true;
            }
        }
        false
    }
}

/// Portable Roaring format: chunks of 2^16 ids as arrays, bitmaps or runs.
pub(crate) struct Roaring;

impl Codec for Roaring {
    const NAME: &'static str = "Roaring";

    fn encode(ids: &[u32], _: u32, out: &mut Vec<u8>) {
        let mut map = RoaringBitmap::from_sorted_iter(ids.iter().copied()).expect("ascending");
        map.optimize();
        map.serialize_into(out).expect("memory takes everything");
    }

    fn for_each(bytes: &[u8], _: u32, take: impl FnMut(u32)) {
        let map = RoaringBitmap::deserialize_unchecked_from(bytes).expect("it was encoded here");
        map.into_iter().for_each(take);
    }

    fn intersect(ids: &mut Vec<u32>, bytes: &[u8], _: u32) {
        let map = RoaringBitmap::from_sorted_iter(ids.drain(..)).expect("ascending");
        let both = map
            .intersection_with_serialized_unchecked(std::io::Cursor::new(bytes))
            .expect("it was encoded here");
        ids.extend(both);
    }
}

/// Partitioned Elias-Fano (G. Ottaviano, R. Venturini, 2014), equal partitions: Elias-Fano, bitmap
/// or nothing in each one's universe, and a skip table.
pub(crate) struct Partitioned;

const PARTITION: usize = 128;

impl Codec for Partitioned {
    const NAME: &'static str = "EF partitioned";

    fn encode(ids: &[u32], universe: u32, out: &mut Vec<u8>) {
        encode_varint(ids.len() as u32, out);
        if ids.len() <= PARTITION {
            return Hybrid::encode(ids, universe, out);
        }
        for part in ids.chunks(PARTITION) {
            out.extend(part.last().expect("not empty").to_le_bytes());
        }
        let mut base = 0;
        for part in ids.chunks(PARTITION) {
            let end = part.last().expect("not empty") + 1;
            if end - base != part.len() as u32 {
                let part: Vec<u32> = part.iter().map(|id| id - base).collect();
                Hybrid::encode(&part, end - base, out);
            }
            base = end;
        }
    }

    fn for_each(bytes: &[u8], universe: u32, mut take: impl FnMut(u32)) {
        let mut parts = Partitions::new(bytes, universe);
        while let Some(part) = parts.next(|_| true) {
            part.for_each(&mut take);
        }
    }

    fn intersect(ids: &mut Vec<u32>, bytes: &[u8], universe: u32) {
        let mut parts = Partitions::new(bytes, universe);
        let mut merge = Merge::new(ids);
        while let Some(wanted) = merge.wanted()
            && let Some(part) = parts.next(|last| last >= wanted)
        {
            part.for_each(|id| merge.take(id));
        }
        merge.finish();
    }
}

struct Partitions<'a> {
    universe: u32,
    /// Remaining ids.
    n: u32,
    /// Last ids of the remaining partitions; empty for one partition.
    table: &'a [u8],
    data: &'a [u8],
    base: u32,
}

struct Part<'a> {
    base: u32,
    n: u32,
    list: Option<PostingList<'a>>,
}

impl<'a> Partitions<'a> {
    fn new(mut bytes: &'a [u8], universe: u32) -> Self {
        let n = decode_varint(&mut bytes);
        let parts = match n as usize {
            ..=PARTITION => 0,
            n => n.div_ceil(PARTITION),
        };
        let (table, data) = bytes.split_at(parts * 4);
        Partitions {
            universe,
            n,
            table,
            data,
            base: 0,
        }
    }

    fn next(&mut self, wanted: impl Fn(u32) -> bool) -> Option<Part<'a>> {
        while self.n > 0 {
            let (n, base) = (self.n.min(PARTITION as u32), self.base);
            let last = match self.table.split_first_chunk() {
                Some((last, table)) => {
                    self.table = table;
                    u32::from_le_bytes(*last)
                }
                None => self.universe - 1,
            };
            (self.n, self.base) = (self.n - n, last + 1);
            let list = (last + 1 - base != n).then(|| list(self.data, last + 1 - base));
            self.data = &self.data[list.map_or(0, |list| list.bytes())..];
            if wanted(last) {
                return Some(Part { base, n, list });
            }
        }
        None
    }
}

impl Part<'_> {
    fn for_each(&self, mut take: impl FnMut(u32)) {
        match self.list {
            None => (self.base..self.base + self.n).for_each(take),
            Some(list) => {
                list.for_each_within(slice::from_ref(&(0..u32::MAX)), |id| take(self.base + id))
            }
        }
    }
}

struct Merge<'a> {
    ids: &'a mut Vec<u32>,
    kept: usize,
    passed: usize,
}

impl<'a> Merge<'a> {
    fn new(ids: &'a mut Vec<u32>) -> Self {
        Merge {
            ids,
            kept: 0,
            passed: 0,
        }
    }

    /// Least id that another may still equal.
    fn wanted(&self) -> Option<u32> {
        self.ids.get(self.passed).copied()
    }

    #[inline]
    fn take(&mut self, other: u32) {
        while self.wanted().is_some_and(|id| id < other) {
            self.passed += 1;
        }
        if self.wanted() == Some(other) {
            self.ids[self.kept] = other;
            self.kept += 1;
        }
    }

    fn finish(self) {
        self.ids.truncate(self.kept);
    }
}

fn encode_differences(mut before: u32, ids: &[u32], out: &mut Vec<u8>) {
    for &id in ids {
        encode_varint(id - before, out);
        before = id;
    }
}

fn decode_differences(mut before: u32, n: u32, mut bytes: &[u8], mut take: impl FnMut(u32)) {
    for _ in 0..n {
        before += decode_varint(&mut bytes);
        take(before);
    }
}

fn encode_varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
fn decode_varint(bytes: &mut &[u8]) -> u32 {
    let mut value = 0;
    for shift in (0..32).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("it was encoded here");
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}
