//! The total order of matches, and the pointer that stands for one.
//!
//! A pointer is 32 bytes, and while a query runs it is all that memory holds of a match; its text is in
//! the spool:
//!
//! ```text
//! offset  bits  field
//!      0    32  rank, as a number that ascends from the best to the worst
//!           64  FNV-1a 64 of package, "/", path
//!           32  number of the line
//!     16    16  backend
//!           48  offset of the match's frame in that backend's spool
//!     24    32  package, an id of the run's string pool
//!     28    32  index of the match's line in the frame
//! ```
//!
//! The first four fields are two words, and they and the third are the key of the order: sorting
//! compares words and computes nothing.
//!
//! Order: rank descending; path hash; where different documents share rank and hash, package and
//! path themselves; line. **Invariant:** nothing that depends on the number of backends or on the
//! order of arrival (package id, backend, offset) decides between matches of different documents
//! or lines.

mod merge;

pub(crate) use merge::{Collision, Sorted, merge, merge_sorted};

use rayon::slice::ParallelSliceMut;
use rustc_hash::FxHashMap;
use schema::order::descending;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Bytes of a backend's spool that a pointer can address.
pub(crate) const SPOOL_OFFSET_MAX: u64 = (1 << SPOOL_OFFSET_BITS) - 1;

const SPOOL_OFFSET_BITS: u32 = 48;

/// How many of the best matches are shown while a query runs.
pub const BEST_MAX: usize = 10;

/// Stands for one match.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Pointer {
    /// Rank and the hash's upper half; its lower half and the line.
    key: [u64; 2],
    frame: u64,
    package: u32,
    index: u32,
}

/// Where a frame is: backend and offset in its spool.
pub(crate) type FrameAt = (u16, u64);

/// Rank and path hash, in the order of pointers.
pub(crate) type TieKey = (u64, u32);

/// A document's package and path.
pub(crate) type Document = (Vec<u8>, Vec<u8>);

/// The parts of a pointer that all matches of a batch share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) hash: u64,
    pub(crate) package: u32,
    pub(crate) backend: u16,
    pub(crate) offset: u64,
}

impl Origin {
    /// Stands for the match that is line `index` of the frame.
    pub(crate) fn pointer(&self, rank: f32, line: u32, index: u32) -> Pointer {
        debug_assert!(self.offset <= SPOOL_OFFSET_MAX);
        Pointer {
            key: [
                u64::from(descending(rank)) << 32 | self.hash >> 32,
                self.hash << 32 | u64::from(line),
            ],
            frame: u64::from(self.backend) << SPOOL_OFFSET_BITS | self.offset,
            package: self.package,
            index,
        }
    }
}

/// The backend and the offset of a frame that a pointer holds as one number.
pub(crate) fn unpack_frame(frame: u64) -> FrameAt {
    (
        (frame >> SPOOL_OFFSET_BITS) as u16,
        frame & SPOOL_OFFSET_MAX,
    )
}

impl Pointer {
    fn line(&self) -> u32 {
        self.key[1] as u32
    }

    pub(crate) fn package(&self) -> u32 {
        self.package
    }

    pub(crate) fn set_package(&mut self, package: u32) {
        self.package = package;
    }

    /// FNV-1a 64 of the document's name.
    pub(crate) fn hash(&self) -> u64 {
        self.key[0] << 32 | self.key[1] >> 32
    }

    pub(crate) fn offset(&self) -> u64 {
        unpack_frame(self.frame).1
    }

    /// Where the frame is that holds the match.
    pub(crate) fn frame(&self) -> FrameAt {
        unpack_frame(self.frame)
    }

    /// Whether its rank is above this one.
    pub(crate) fn is_above(&self, rank: f32) -> bool {
        (self.key[0] >> 32) < u64::from(descending(rank))
    }

    /// A number that ascends from frame to frame, and in a frame from line to line: from bit 32 on
    /// the frame, as [`unpack_frame`] takes it, and below it the line's index.
    pub(crate) fn spool_order(&self) -> u128 {
        u128::from(self.frame) << 32 | u128::from(self.index)
    }

    /// Ties of the key are broken by place, which makes runs over the same spool reproducible
    /// until [`merge`] has looked at the documents.
    fn place(&self) -> ([u64; 2], u64) {
        (self.key, self.frame)
    }

    /// Rank and path hash; only pointers that have the same of both are ordered by what is in the spool.
    pub(crate) fn tie_key(&self) -> TieKey {
        (self.key[0], (self.key[1] >> 32) as u32)
    }

    fn ties_with(&self, other: &Pointer) -> bool {
        self.tie_key() == other.tie_key()
    }
}

/// Sorts pointers by what they say themselves, for [`merge`].
pub(crate) fn sort(pointers: &mut [Pointer]) {
    pointers.par_sort_unstable_by(|a, b| a.place().cmp(&b.place()));
}

/// Frames that a [`Continued`] knows of: 4 MiB. Of those beyond, names are read where they tie.
const CONTINUED_LEN_MAX: usize = 256 << 10;

/// Frames of one backend that go on with the document of an earlier one. Nearly all frames that
/// share rank and hash are such: without this list, searching 250 MB of source for `e` read 41,000
/// frames just to see that. Costs 16 bytes a frame after a document's first, up to a bound.
#[derive(Debug, Default)]
pub(crate) struct Continued {
    /// Offset of the frame, and of its document's first one; ascending.
    frames: Vec<(u64, u64)>,
}

impl Continued {
    /// Says that the frame at `offset`, which is behind all others, is of the document that began
    /// at `first`.
    pub(crate) fn push(&mut self, offset: u64, first: u64) {
        if self.frames.len() < CONTINUED_LEN_MAX {
            self.frames.push((offset, first));
        }
    }

    /// Where the document of a frame began; the frame itself when that is not known.
    fn first(&self, offset: u64) -> u64 {
        let found = self
            .frames
            .binary_search_by_key(&offset, |&(offset, _)| offset);
        found.map_or(offset, |at| self.frames[at].1)
    }
}

/// The best few of the pointers seen so far. Colliding hashes are not looked into: what is shown
/// while a query runs is replaced by the sorted page at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Best {
    /// Best first, at most [`BEST_MAX`].
    pointers: Vec<Pointer>,
}

impl Best {
    pub(crate) fn offer(&mut self, pointer: Pointer) {
        let full = self.pointers.len() == BEST_MAX;
        if full && pointer.place() > self.pointers[BEST_MAX - 1].place() {
            return;
        }
        let at = self
            .pointers
            .partition_point(|other| other.place() <= pointer.place());
        if at < BEST_MAX {
            self.pointers.truncate(BEST_MAX - 1);
            self.pointers.insert(at, pointer);
        }
    }

    pub(crate) fn pointers(&self) -> &[Pointer] {
        &self.pointers
    }
}

/// Names of packages, each held once. Grows with the packages that have matches, not with matches.
#[derive(Debug, Default)]
pub(crate) struct StringPool {
    ids: FxHashMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
}

impl StringPool {
    /// The id of `name`, given now if it has none.
    pub(crate) fn id(&mut self, name: &[u8]) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).expect("fewer packages than a pool has ids");
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    pub(crate) fn name(&self, id: u32) -> &[u8] {
        &self.names[id as usize]
    }

    /// How many there are, which all ids are below.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_32_bytes_and_loses_nothing() {
        assert_eq!(size_of::<Pointer>(), 32);
        let origin = Origin {
            hash: 0x0123_4567_89ab_cdef,
            package: 9,
            backend: u16::MAX,
            offset: SPOOL_OFFSET_MAX - 7,
        };
        let pointer = origin.pointer(1.25, 3, u32::MAX);
        let rank = u64::from(descending(1.25));
        assert_eq!(
            pointer.key,
            [rank << 32 | 0x0123_4567, 0x89ab_cdef << 32 | 3]
        );
        assert_eq!(pointer.hash(), origin.hash);
        assert_eq!(pointer.frame(), (u16::MAX, SPOOL_OFFSET_MAX - 7));
        assert_eq!((pointer.package(), pointer.index), (9, u32::MAX));
    }

    #[test]
    fn the_best_are_those_that_sorting_puts_first() {
        let mut best = Best::default();
        let mut all: Vec<_> = (0_u32..200)
            .map(|n| {
                let origin = Origin {
                    hash: u64::from(n * 7919 % 13),
                    package: 0,
                    backend: 0,
                    offset: 0,
                };
                origin.pointer((n * 31 % 17) as f32, n, n)
            })
            .collect();
        all.iter().for_each(|&pointer| best.offer(pointer));
        all.sort_unstable_by_key(Pointer::place);
        assert_eq!(best.pointers(), &all[..BEST_MAX]);
    }
}
