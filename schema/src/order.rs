//! Order of matches, the same in every process.
//!
//! Score descending, then [`document_hash`], then package and path for equal hashes, then place
//! descending, then line. The score of a rank ([`rank`]) compares documents, its place compares
//! matches of one.
//!
//! Scores have few values, so hashes order many documents, and searches can rule out higher hashes
//! unread.

use fnv::FnvHasher;
use std::hash::Hasher;

/// Version of finding, ranking and ordering, announced by HELLO. A frontend searches only backends
/// with its own, so no answer mixes two.
///
/// Raise it with every change of matches, ranks or order for the same query and documents:
/// patterns, filters, rank formula or inputs, [`path_hash`], the order. Not for speed, formats or
/// messages.
pub const SEMANTICS: u32 = 5;

/// FNV-1a 64 of `package`, "/" and `path`. Compute it once per document.
pub fn path_hash(package: &[u8], path: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(package);
    hasher.write(b"/");
    hasher.write(path);
    hasher.finish()
}

/// Hash that orders documents: [`path_hash`], continued over a NUL and the text's BLAKE3 in
/// revisions, where a path has several texts.
pub fn document_hash(package: &[u8], path: &[u8], text: Option<&[u8]>) -> u64 {
    let hash = path_hash(package, path);
    let Some(text) = text else {
        return hash;
    };
    let mut hasher = FnvHasher::with_key(hash);
    hasher.write(b"\0");
    hasher.write(text);
    hasher.finish()
}

/// Steps of a score between 0 and 1.
const SCORE_STEPS: f32 = 4096.0;

/// Values of a place, the part of a rank below a score step.
const PLACES: f32 = 256.0;

/// Parts of a rank, ascending from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RankKey {
    /// Compares matches of different documents.
    pub score: u16,
    /// Compares matches of one document.
    pub place: u8,
}

impl RankKey {
    /// Splits a rank below 16; higher ones count as the highest, NaN as 0.
    #[inline]
    pub fn of(rank: f32) -> RankKey {
        let steps = (rank * (SCORE_STEPS * PLACES)) as u32;
        let score = u16::try_from(steps >> 8).unwrap_or(u16::MAX);
        RankKey {
            score: !score,
            place: !(steps as u8),
        }
    }

    /// Rank of these parts.
    #[inline]
    pub fn rank(self) -> f32 {
        let steps = u32::from(!self.score) << 8 | u32::from(!self.place);
        steps as f32 / (SCORE_STEPS * PLACES)
    }
}

/// Rank of a match: score, rounded down to a step, and place from 0 to 1.
#[inline]
pub fn rank(score: f32, place: f32) -> f32 {
    let place = (place * (PLACES - 1.0)) as u8;
    let key = RankKey {
        place: !place,
        ..RankKey::of(score)
    };
    key.rank()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a_of_the_joined_name() {
        assert_eq!(path_hash(b"foo", b"bar"), 0x571d_17d6_ef2d_ef0d);
        assert_eq!(path_hash(b"a", b"b/c"), path_hash(b"a/b", b"c"));
    }

    #[test]
    fn texts_of_one_path_in_several_revisions_have_an_order() {
        let hash = |text| document_hash(b"p", b"a", text);
        assert_eq!(hash(None), path_hash(b"p", b"a"));
        let (one, two) = (hash(Some(&[1; 32])), hash(Some(&[2; 32])));
        assert!(one != two && one != hash(None));
    }

    #[test]
    fn ranks_sort_from_the_best_to_the_worst() {
        let ranks = [
            f32::INFINITY,
            rank(2.0, 1.0),
            rank(2.0, 0.5),
            rank(2.0, 0.0),
            rank(1.9999, 1.0),
            1.0,
            0.0,
        ];
        assert!(ranks.is_sorted_by(|a, b| RankKey::of(*a) < RankKey::of(*b)));
        for worst in [f32::NAN, -1.0, f32::NEG_INFINITY] {
            assert_eq!(RankKey::of(worst), RankKey::of(0.0));
        }
    }

    #[test]
    fn both_parts_of_a_rank_are_exact() {
        for score in [0_u16, 1, 4095, 6000, 32_768, u16::MAX] {
            for place in 0..=u8::MAX {
                let key = RankKey { score, place };
                assert_eq!(RankKey::of(key.rank()), key);
            }
        }
        let low = RankKey::of(rank(1.5, 0.0));
        let high = RankKey::of(rank(1.5, 1.0));
        assert_eq!((low.score, high.score), (high.score, low.score));
        assert_eq!((low.place, high.place), (u8::MAX, 0));
    }
}
