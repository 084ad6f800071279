//! The total order of matches, and the pointer that stands for one.
//!
//! A pointer is 32 bytes and all that memory holds of a match; its text stays in the spool:
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

use rayon::slice::ParallelSliceMut;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::Hasher;

/// Pointers of one query: 512 MiB of them. Over it the run ends incomplete and says so.
pub const MATCHES_MAX: u64 = 16 << 20;

/// Bytes of a backend's spool that a pointer can address.
pub(crate) const SPOOL_OFFSET_MAX: u64 = (1 << SPOOL_OFFSET_BITS) - 1;

const SPOOL_OFFSET_BITS: u32 = 48;

/// How many of the best matches are shown while a query runs.
pub(crate) const BEST_MAX: usize = 10;

/// Stands for one match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pointer {
    /// Rank and the hash's upper half; its lower half and the line.
    key: [u64; 2],
    frame: u64,
    package: u32,
    index: u32,
}

/// Where a frame is: backend and offset in its spool.
pub(crate) type FrameAt = (u16, u64);

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

/// Turns the order of `f32::total_cmp` into the reverse order of numbers.
fn descending(rank: f32) -> u32 {
    let bits = rank.to_bits();
    match bits >> 31 {
        1 => bits,
        _ => !(bits | 1 << 31),
    }
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
    /// until [`sort`] has looked at the documents.
    fn place(&self) -> ([u64; 2], u64) {
        (self.key, self.frame)
    }

    fn ties_with(&self, other: &Pointer) -> bool {
        self.key[0] == other.key[0] && self.key[1] >> 32 == other.key[1] >> 32
    }
}

/// FNV-1a 64 of a document's name; taken once a batch.
pub(crate) fn path_hash(package: &[u8], path: &[u8]) -> u64 {
    let mut hasher = fnv::FnvHasher::default();
    hasher.write(package);
    hasher.write(b"/");
    hasher.write(path);
    hasher.finish()
}

/// Frames of one backend that go on with the document of an earlier one. Nearly all frames that
/// share rank and hash are such: without this list, searching 250 MB of source for `e` read 41,000
/// frames just to see that. Costs 16 bytes a frame after a document's first.
#[derive(Debug, Default)]
pub(crate) struct Continued {
    /// Offset of the frame, and of its document's first one; ascending.
    frames: Vec<(u64, u64)>,
}

impl Continued {
    /// Says that the frame at `offset`, which is behind all others, is of the document that began
    /// at `first`.
    pub(crate) fn push(&mut self, offset: u64, first: u64) {
        self.frames.push((offset, first));
    }

    /// Where the document of a frame began.
    fn first(&self, offset: u64) -> u64 {
        let found = self
            .frames
            .binary_search_by_key(&offset, |&(offset, _)| offset);
        found.map_or(offset, |at| self.frames[at].1)
    }
}

/// Puts pointers in total order. `continued` is by backend. `document` reads the package and path
/// of a frame; it is asked only where documents share rank and hash.
pub(crate) fn sort<E>(
    pointers: &mut [Pointer],
    continued: &[Continued],
    document: impl FnMut(FrameAt) -> Result<Document, E>,
) -> Result<(), E> {
    pointers.par_sort_unstable_by(|a, b| a.place().cmp(&b.place()));
    let mut documents = Documents {
        continued,
        names: FxHashMap::default(),
        read: document,
    };
    for group in pointers.chunk_by_mut(Pointer::ties_with) {
        let first = documents.begin(&group[0]);
        if group
            .iter()
            .any(|pointer| documents.begin(pointer) != first)
        {
            documents.sort_group(group)?;
        }
    }
    Ok(())
}

/// The names of documents whose hashes are equal.
struct Documents<'a, F> {
    continued: &'a [Continued],
    /// Of the group that is looked at, by the first frame.
    names: FxHashMap<FrameAt, Document>,
    read: F,
}

impl<F, E> Documents<'_, F>
where
    F: FnMut(FrameAt) -> Result<Document, E>,
{
    /// The first frame of a match's document.
    fn begin(&self, pointer: &Pointer) -> FrameAt {
        let (backend, offset) = pointer.frame();
        (backend, self.continued[usize::from(backend)].first(offset))
    }

    /// Orders pointers of equal rank and hash by document, then by line.
    fn sort_group(&mut self, group: &mut [Pointer]) -> Result<(), E> {
        self.names.clear();
        for pointer in &*group {
            let frame = self.begin(pointer);
            if let Entry::Vacant(entry) = self.names.entry(frame) {
                entry.insert((self.read)(frame)?);
            }
        }
        let key = |pointer: &Pointer| {
            let name = &self.names[&self.begin(pointer)];
            (name, pointer.line(), pointer.frame)
        };
        group.sort_by(|a, b| key(a).cmp(&key(b)));
        Ok(())
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

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    #[derive(Clone, Debug)]
    struct Match {
        rank: f32,
        document: Document,
        line: u32,
    }

    /// Scatters matches over `backends`, one frame each, and returns them in order, with hashes by
    /// `hash`.
    fn ordered(matches: &[Match], backends: u16, hash: impl Fn(&Document) -> u64) -> Vec<String> {
        let mut pointers: Vec<_> = (0_u32..)
            .zip(matches)
            .map(|(index, each)| {
                let origin = Origin {
                    hash: hash(&each.document),
                    package: 0,
                    backend: index as u16 % backends,
                    offset: u64::from(index) * 8,
                };
                origin.pointer(each.rank, each.line, 0)
            })
            .collect();
        let continued: Vec<_> = (0..backends).map(|_| Continued::default()).collect();
        sort(&mut pointers, &continued, |(_, offset)| {
            Ok::<_, Infallible>(matches[offset as usize / 8].document.clone())
        })
        .unwrap();
        pointers
            .iter()
            .map(|pointer| format!("{:?}", matches[pointer.offset() as usize / 8]))
            .collect()
    }

    fn matches() -> impl Strategy<Value = Vec<Match>> {
        let document = ("[ab]", "[abc]").prop_map(|(package, path)| (package.into(), path.into()));
        let rank = prop::sample::select(vec![1.0, 1.5, -0.0, 0.0, -1.0, f32::NAN]);
        let one = (rank, document, 1_u32..4).prop_map(|(rank, document, line)| Match {
            rank,
            document,
            line,
        });
        prop::collection::vec(one, 0..40)
    }

    proptest! {
        #[test]
        fn the_order_depends_on_the_matches_alone(
            all in matches(), seed in any::<u64>(), backends in 1_u16..4, collide in any::<bool>()
        ) {
            let hash = |document: &Document| {
                if collide { 7 } else { path_hash(&document.0, &document.1) }
            };
            let mut expected = all.clone();
            expected.sort_by(|a, b| {
                b.rank.total_cmp(&a.rank)
                    .then_with(|| hash(&a.document).cmp(&hash(&b.document)))
                    .then_with(|| a.document.cmp(&b.document))
                    .then_with(|| a.line.cmp(&b.line))
            });
            let expected: Vec<_> = expected.iter().map(|each| format!("{each:?}")).collect();
            let mut shuffled = all;
            let length = shuffled.len().max(1);
            let mut state = seed;
            for at in 0..shuffled.len() {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                shuffled.swap(at, (state >> 33) as usize % length);
            }
            prop_assert_eq!(ordered(&shuffled, backends, hash), expected);
        }
    }

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
        assert_eq!(pointer.frame(), (u16::MAX, SPOOL_OFFSET_MAX - 7));
        assert_eq!((pointer.package(), pointer.index), (9, u32::MAX));
    }

    #[test]
    fn documents_are_read_only_where_they_share_a_hash() {
        // Ten documents with a hash of their own, each in ten frames.
        let mut continued = Continued::default();
        let mut pointers: Vec<_> = (0_u32..100)
            .map(|index| {
                let offset = u64::from(index) * 8;
                let first = offset / 80 * 80;
                if offset != first {
                    continued.push(offset, first);
                }
                let origin = Origin {
                    hash: u64::from(index) / 10,
                    package: 0,
                    backend: 0,
                    offset,
                };
                origin.pointer(1.0, index, 0)
            })
            .collect();
        let unread = |_| Err::<Document, _>("must not be read");
        sort(&mut pointers, &[continued], unread).unwrap();
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

    #[test]
    fn the_hash_is_fnv_1a_of_the_joined_name() {
        assert_eq!(path_hash(b"foo", b"bar"), 0x571d_17d6_ef2d_ef0d);
        assert_eq!(path_hash(b"a", b"b/c"), path_hash(b"a/b", b"c"));
    }
}
