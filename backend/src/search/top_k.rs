//! The best so many of the matches so far, when no others are wanted.
//!
//! In the total order that pages have: rank descending; FNV-1a 64 of package, "/" and path; package
//! and path themselves; line. A match that is worse than all of the best so far is never sent: there
//! are as many better ones, which have been.
//! **Invariant:** what is left out depends on the matches in front of it alone. Workers may leave
//! out more early, by a [`Threshold`] that they read at any time: it only ever rises, so what is
//! below it then is below it when its turn comes.

use index::shard::DocId;
use schema::order;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU32};

use super::work::UNIT_BLOCKS;
use crate::batch::LinePosition;
use crate::document_matcher::PatternSet;

/// A larger limit is none: the best so many are held in memory, at 16 bytes each and the names of
/// their documents, and no page is that long.
pub const LIMIT_MAX: u64 = 10_000;

/// What a match's place in the total order depends on. The best is the least.
#[derive(Clone, Debug)]
pub(super) struct SortKey {
    /// As [`order::descending`] has it.
    rank: u32,
    name: Arc<DocumentName>,
    line: u32,
}

/// A document's name, and the hash that orders it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DocumentName {
    hash: u64,
    package: Vec<u8>,
    path: Vec<u8>,
}

impl DocumentName {
    pub(super) fn new(package: &[u8], path: &[u8]) -> Arc<DocumentName> {
        Arc::new(DocumentName {
            hash: order::path_hash(package, path),
            package: package.to_vec(),
            path: path.to_vec(),
        })
    }
}

impl SortKey {
    pub(super) fn new(rank: f32, name: Arc<DocumentName>, line: u32) -> Self {
        let rank = order::descending(rank);
        SortKey { rank, name, line }
    }

    /// The rank that it was made with.
    pub(super) fn rank(&self) -> f32 {
        order::rank(self.rank)
    }
}

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let names = || match Arc::ptr_eq(&self.name, &other.name) {
            true => Ordering::Equal,
            false => self.name.cmp(&other.name),
        };
        (self.rank.cmp(&other.rank))
            .then_with(names)
            .then(self.line.cmp(&other.line))
    }
}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SortKey {}

/// The keys of the best matches so far.
pub(super) struct TopMatches {
    limit: usize,
    /// At most `limit`, the worst on top.
    keys: BinaryHeap<SortKey>,
}

impl TopMatches {
    pub(super) fn new(limit: usize) -> Self {
        TopMatches {
            limit,
            keys: BinaryHeap::new(),
        }
    }

    pub(super) fn offer(&mut self, key: &SortKey) {
        if self.keys.len() < self.limit {
            self.keys.push(key.clone());
        } else if let Some(mut worst) = self.keys.peek_mut()
            && *key < *worst
        {
            *worst = key.clone();
        }
    }

    /// Whether a match is certainly not among the best.
    pub(super) fn leaves_out(&self, key: &SortKey) -> bool {
        self.worst().is_some_and(|worst| key > worst)
    }

    /// The worst of the best, once there are as many as are wanted.
    fn worst(&self) -> Option<&SortKey> {
        self.keys.peek().filter(|_| self.keys.len() == self.limit)
    }
}

/// The rank that a match must have to be among the best, as workers see it.
#[derive(Debug)]
pub(super) struct Threshold(AtomicU32);

impl Default for Threshold {
    /// Leaves nothing out.
    fn default() -> Self {
        Threshold(AtomicU32::new(u32::MAX))
    }
}

impl Threshold {
    pub(super) fn raise_to(&self, best: &TopMatches) {
        if let Some(worst) = best.worst() {
            self.0.store(worst.rank, atomic::Ordering::Relaxed);
        }
    }

    /// Whether a match of this rank is certainly not among the best.
    pub(super) fn leaves_out(&self, rank: f32) -> bool {
        order::descending(rank) > self.0.load(atomic::Ordering::Relaxed)
    }
}

/// A match that has not been packed, since it may be left out.
#[derive(Clone, Debug)]
pub(super) struct PendingMatch {
    pub(super) key: SortKey,
    pub(super) document: DocId,
    pub(super) place: LinePosition,
    /// Which patterns contributed, when its document was judged.
    pub(super) marks: PatternSet,
}

/// The matches of a unit that may be among the best: no more than twice as many as are wanted, or
/// two for each block.
#[derive(Debug, Default)]
pub(super) struct PendingMatches(Vec<PendingMatch>);

impl PendingMatches {
    pub(super) fn push(&mut self, kept: PendingMatch, limit: usize) {
        // A unit in which one match a document counts never has as many as blocks. So of those no
        // document's match, which an earlier unit may already have, takes another one's place.
        let most = limit.max(UNIT_BLOCKS);
        if self.0.len() == 2 * most {
            self.0
                .select_nth_unstable_by(most, |a, b| a.key.cmp(&b.key));
            self.0.truncate(most);
        }
        self.0.push(kept);
    }

    /// What was kept, in the order of the shard.
    pub(super) fn finish(mut self) -> Vec<PendingMatch> {
        self.0
            .sort_unstable_by_key(|kept| (kept.document, kept.place.number));
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(rank: f32, path: &str, line: u32) -> SortKey {
        SortKey::new(rank, DocumentName::new(b"p", path.as_bytes()), line)
    }

    #[test]
    fn where_hashes_are_equal_names_decide() {
        let named = |package: &[u8], path: &[u8], line| {
            let name = DocumentName {
                hash: 7,
                package: package.to_vec(),
                path: path.to_vec(),
            };
            SortKey::new(1.0, Arc::new(name), line)
        };
        let ordered = [
            named(b"a", b"x", 9),
            named(b"a", b"y", 1),
            named(b"a", b"y", 2),
            named(b"b", b"a", 1),
        ];
        assert!(ordered.is_sorted_by(|a, b| a < b));
        let mut best = TopMatches::new(1);
        best.offer(&ordered[2]);
        assert!(best.leaves_out(&ordered[3]) && !best.leaves_out(&ordered[0]));
    }

    #[test]
    fn a_threshold_leaves_out_lower_ranks() {
        let threshold = Threshold::default();
        assert!(!threshold.leaves_out(f32::NEG_INFINITY));
        let mut best = TopMatches::new(1);
        best.offer(&key(1.5, "a", 1));
        threshold.raise_to(&best);
        assert!(threshold.leaves_out(1.25) && !threshold.leaves_out(1.5));
    }

    proptest! {
        #[test]
        fn the_best_are_those_that_sorting_puts_first(
            matches in prop::collection::vec((0..4_u8, "[ab]", 1..9_u32), 0..300),
            limit in 1..20_usize,
        ) {
            let mut best = TopMatches::new(limit);
            let mut all = Vec::new();
            for (rank, path, line) in matches {
                let key = key(f32::from(rank), &path, line);
                let better = all.iter().filter(|other| **other < key).count();
                prop_assert_eq!(best.leaves_out(&key), better >= limit);
                best.offer(&key);
                all.push(key);
            }
            all.sort();
            all.truncate(limit);
            prop_assert_eq!(best.keys.into_sorted_vec(), all);
        }

        #[test]
        fn a_unit_keeps_its_best_in_order(lines in 0..2000_u32, limit in 1..100_usize) {
            let name = DocumentName::new(b"p", b"x");
            let mut keeping = PendingMatches::default();
            let mut all = Vec::new();
            for number in 1..=lines {
                let rank = (number * 7919 % 13) as f32;
                let key = SortKey::new(rank, Arc::clone(&name), number);
                let place = LinePosition { number, lines: 1, start: 0, end: 0, block: 0, last_block: 0 };
                all.push(key.clone());
                keeping.push(PendingMatch { key, document: DocId(0), place, marks: PatternSet::default() }, limit);
            }
            all.sort();
            let kept = keeping.finish();
            prop_assert!(kept.len() <= 2 * limit.max(UNIT_BLOCKS));
            prop_assert!(kept.is_sorted_by_key(|kept| kept.place.number));
            let kept: Vec<SortKey> = kept.into_iter().map(|kept| kept.key).collect();
            prop_assert!(all.iter().take(limit).all(|key| kept.contains(key)));
        }
    }
}
