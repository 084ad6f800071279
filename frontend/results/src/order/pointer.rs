//! A pointer: 32 bytes that stand for one match.
//!
//! While a query runs, memory holds only pointers to its matches; their text is in the spool.
//!
//! ```text
//! offset  bits  field
//!      0    16  score, as a number that ascends from the best to the worst
//!           64  FNV-1a 64 of package, "/", path
//!            8  place in the document, ascending from the best to the worst
//!            8  zeros
//!           32  line number
//!     16    16  stream
//!           48  offset of the match's frame in that stream's frame file
//!     24    32  package, an id of the execution's string pool
//!     28    32  index of the match's line in the frame
//! ```
//!
//! The first three words are the sort key, so sorting only compares words.

use schema::order::RankKey;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

const OFFSET_MAX: u64 = (1 << OFFSET_BITS) - 1;

const OFFSET_BITS: u32 = 48;

/// Stands for one match.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Pointer {
    /// Score and upper 48 bits of the hash; its lower 16 bits, place and line.
    pub(super) key: [u64; 2],
    pub(super) frame: u64,
    /// Id of the package in the string pool.
    pub package: u32,
    pub(super) index: u32,
}

/// Position of a frame: stream, and offset in its frame file.
pub type FrameAt = (u16, u64);

/// Score and path hash, in pointer order.
pub type TieKey = (u64, u16);

pub(super) type SortKey = (u128, u64);

/// Document and frame of matches.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    pub hash: u64,
    /// Id in the string pool.
    pub package: u32,
    pub stream: u16,
    pub offset: u64,
}

impl Origin {
    pub fn pointer(&self, rank: f32, line: u32, index: u32) -> Pointer {
        debug_assert!(self.offset <= OFFSET_MAX);
        let RankKey { score, place } = RankKey::of(rank);
        Pointer {
            key: [
                u64::from(score) << 48 | self.hash >> 16,
                self.hash << 48 | u64::from(place) << 40 | u64::from(line),
            ],
            frame: u64::from(self.stream) << OFFSET_BITS | self.offset,
            package: self.package,
            index,
        }
    }
}

pub(crate) fn unpack_frame(frame: u64) -> FrameAt {
    ((frame >> OFFSET_BITS) as u16, frame & OFFSET_MAX)
}

impl Pointer {
    pub(crate) fn line(&self) -> u32 {
        self.key[1] as u32
    }

    pub(super) fn place(&self) -> u8 {
        (self.key[1] >> 40) as u8
    }

    pub fn hash(&self) -> u64 {
        self.key[0] << 16 | self.key[1] >> 48
    }

    /// Identifies the document within an execution: name hash, and package id of a stream.
    pub fn document(&self) -> (u64, u16, u32) {
        (self.hash(), self.frame().0, self.package)
    }

    pub fn offset(&self) -> u64 {
        self.frame().1
    }

    pub fn frame(&self) -> FrameAt {
        unpack_frame(self.frame)
    }

    pub fn packed_frame(&self) -> u64 {
        self.frame
    }

    /// Score, ascending from best to worst.
    pub fn score(&self) -> u16 {
        (self.key[0] >> 48) as u16
    }

    /// True if the match precedes all matches of at most `rank`, in any document.
    pub fn is_above(&self, rank: f32) -> bool {
        self.score() < RankKey::of(rank).score
    }

    /// Orders pointers by frame, then line: the packed frame from bit 32 on, the line index below.
    pub fn spool_order(&self) -> u128 {
        u128::from(self.frame) << 32 | u128::from(self.index)
    }

    /// Sort key, with the frame's position for a stable result. [`merge`](super::merge)
    /// orders ties by document.
    pub(super) fn sort_key(&self) -> SortKey {
        let [high, low] = self.key;
        (u128::from(high) << 64 | u128::from(low), self.frame)
    }

    /// Score and path hash. Ties may need the document's name.
    pub fn tie_key(&self) -> TieKey {
        (self.key[0], (self.key[1] >> 48) as u16)
    }
}

/// Sorts as [`merge`](super::merge) expects, on one thread: a chunk takes half a millisecond.
pub fn sort(pointers: &mut [Pointer]) {
    sort_groups(
        pointers,
        |a, b| a.hash() == b.hash(),
        // Lines of a document arrive in order.
        |pointer| pointer.place().into(),
        Pointer::sort_key,
        Pointer::tie_key,
    );
}

/// Sorts items by `key`, faster if sorted groups consist of few runs of equal `run`, which orders
/// like `key`. A group is not compared if `digit` gives its order. Doubles the memory.
pub(crate) fn sort_groups<T: Copy, K: Ord, R: Ord>(
    items: &mut [T],
    is_one_group: impl Fn(&T, &T) -> bool,
    digit: impl Fn(&T) -> usize,
    key: impl Fn(&T) -> K,
    run: impl Fn(&T) -> R,
) {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut sorted = Vec::with_capacity(items.len());
    for group in items.chunk_by_mut(is_one_group) {
        sort_by_digit(group, &mut sorted, &digit);
        if !group.is_sorted_by_key(&key) {
            group.sort_unstable_by_key(&key);
        }
        for items in group.chunk_by(|a, b| run(a) == run(b)) {
            runs.push((run(&items[0]), start..start + items.len()));
            start += items.len();
        }
    }
    runs.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    sorted.clear();
    for (_, range) in &runs {
        sorted.extend_from_slice(&items[range.clone()]);
    }
    items.copy_from_slice(&sorted);
    if runs.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        for items in items.chunk_by_mut(|a, b| run(a) == run(b)) {
            items.sort_unstable_by_key(&key);
        }
    }
}

/// Digits of [`sort_groups`]: places, or most lines of a frame.
const DIGITS: usize = 256;

/// Items that are always compared.
const FEW: usize = 8;

/// Stable sort by digit; does nothing if there are few items or a digit is too
/// large. Overwrites `space`.
fn sort_by_digit<T: Copy>(items: &mut [T], space: &mut Vec<T>, digit: impl Fn(&T) -> usize) {
    if items.len() <= FEW || items.iter().any(|item| digit(item) >= DIGITS) {
        return;
    }
    let mut ends = [0_usize; DIGITS];
    items.iter().for_each(|item| ends[digit(item)] += 1);
    let mut end = 0;
    for next in &mut ends {
        end += *next;
        *next = end;
    }
    space.clear();
    space.extend_from_slice(items);
    for item in space.iter().rev() {
        let end = &mut ends[digit(item)];
        *end -= 1;
        items[*end] = *item;
    }
}

/// Best matches shown while a query runs.
pub const BEST_MAX: usize = 10;

/// Adds a pointer to the best `most`, best first, unless it is worse. Colliding documents
/// are not told apart; the final page replaces these.
pub fn keep_best(best: &mut Vec<Pointer>, most: usize, pointer: Pointer) {
    let key = pointer.sort_key();
    if best.len() == most && key >= best[most - 1].sort_key() {
        return;
    }
    let at = best.partition_point(|other| other.sort_key() <= key);
    best.truncate(most - 1);
    best.insert(at, pointer);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pointer_is_32_bytes_and_keeps_every_field() {
        assert_eq!(size_of::<Pointer>(), 32);
        let origin = Origin {
            hash: 0x0123_4567_89ab_cdef,
            package: 9,
            stream: u16::MAX,
            offset: OFFSET_MAX - 7,
        };
        let pointer = origin.pointer(1.25, 3, u32::MAX);
        let RankKey { score, place } = RankKey::of(1.25);
        assert_eq!(
            pointer.key,
            [
                u64::from(score) << 48 | 0x0123_4567_89ab,
                0xcdef << 48 | u64::from(place) << 40 | 3
            ]
        );
        assert_eq!((pointer.line(), pointer.score()), (3, score));
        assert_eq!(pointer.hash(), origin.hash);
        assert_eq!(pointer.frame(), (u16::MAX, OFFSET_MAX - 7));
        assert_eq!((pointer.package, pointer.index), (9, u32::MAX));
    }

    proptest! {
        #[test]
        fn sorting_by_document_is_sorting_by_key(
            documents in prop::collection::vec((0..4_u64, 0..3_u64, 0..40_u32), 0..20),
        ) {
            let documents = (0..).zip(documents);
            let mut pointers: Vec<Pointer> = documents.flat_map(|(offset, (hash, seed, lines))| {
                let origin = Origin { hash: hash << 14, package: 0, stream: 0, offset };
                // Equal scores with ascending lines, several scores, and any lines.
                (0..lines).map(move |line| {
                    let score = if seed == 1 { 1.0 + (line % 4) as f32 } else { 1.0 };
                    let place = (line * 7919 % 5) as f32 / 5.0;
                    let number = if seed == 2 { line % 9 } else { line };
                    origin.pointer(schema::order::rank(score, place), number, line)
                })
            }).collect();
            let mut expected = pointers.clone();
            expected.sort_by_key(Pointer::sort_key);
            sort(&mut pointers);
            let keys = |pointers: &[Pointer]| {
                pointers.iter().map(Pointer::sort_key).collect::<Vec<_>>()
            };
            prop_assert_eq!(keys(&pointers), keys(&expected));
        }
    }

    #[test]
    fn keeps_the_pointers_that_sorting_puts_first() {
        let mut best = Vec::new();
        let mut all: Vec<_> = (0_u32..200)
            .map(|n| {
                let origin = Origin {
                    hash: u64::from(n * 7919 % 13),
                    package: 0,
                    stream: 0,
                    offset: 0,
                };
                origin.pointer((n * 31 % 13) as f32, n, n)
            })
            .collect();
        all.iter()
            .for_each(|&pointer| keep_best(&mut best, BEST_MAX, pointer));
        all.sort_unstable_by_key(Pointer::sort_key);
        assert_eq!(best, &all[..BEST_MAX]);
    }
}
