//! The order of matches, as every process must compute it.
//!
//! Rank descending; [`document_hash`]; where different documents have the same hash,
//! package and path themselves; line. A backend that sends only the best matches and the frontend
//! that sorts what arrives both compare by these rules, so they live here and nowhere else.

use fnv::FnvHasher;
use std::hash::Hasher;

/// The number of the rules by which matches are found, ranked and ordered. Each backend announces its own
/// in HELLO, and a frontend searches only those with its own, so that no answer mixes two.
///
/// Raise it with every change after which the same query over the same documents may give other matches,
/// ranks or another order: what a pattern or a filter matches, the formula of ranks or its inputs,
/// [`path_hash`], the order itself. Changes of speed, formats and messages do not count.
pub const SEMANTICS: u32 = 1;

/// Returns FNV-1a 64 of `package`, "/" and `path`. Compute it once a document: it takes about 28 ns.
pub fn path_hash(package: &[u8], path: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(package);
    hasher.write(b"/");
    hasher.write(path);
    hasher.finish()
}

/// Returns the hash that orders documents: [`path_hash`], or if the document is in revisions of a repository, where
/// one path has several texts, a hash of the BLAKE3 of its text too: FNV-1a goes on over a NUL and these bytes.
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

/// Returns a number that ascends from the best rank to the worst: the reverse of `f32::total_cmp`.
pub fn descending(rank: f32) -> u32 {
    let bits = rank.to_bits();
    if bits >> 31 == 1 {
        bits
    } else {
        !(bits | 1 << 31)
    }
}

/// Returns the rank that [`descending`] made this number from.
pub fn rank(descending: u32) -> f32 {
    f32::from_bits(if descending >> 31 == 1 {
        descending
    } else {
        !descending & !(1 << 31)
    })
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
        let ranks = [f32::INFINITY, 2.0, 1.0, 0.0, -0.0, -1.0, f32::NEG_INFINITY];
        assert!(ranks.is_sorted_by(|a, b| descending(*a) < descending(*b)));
        for each in ranks {
            assert_eq!(rank(descending(each)).to_bits(), each.to_bits());
        }
    }
}
