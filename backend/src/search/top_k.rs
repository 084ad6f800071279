//! Top matches so far, for searches that want only the best.
//!
//! Matches compare in the total order of [`schema::order`]. One worse than all top matches is not
//! sent.
//!
//! **Invariant:** the emitter leaves out matches depending only on those before. Workers may leave
//! out more at any time, below a [`Threshold`]. It only rises, so their matches would be left out
//! later, too.

use super::slices::UNIT_DOCUMENTS;
use crate::matcher::document_matcher::PatternSet;
use crate::pack::LinePosition;
use crate::rank::Tier;
use index::shard::DocId;
use schema::order::{self, RankKey};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU16};

pub(super) struct TopMatches {
    limit: usize,
    /// At most `limit` keys, worst on top.
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

    /// True if a match is certainly not among the top.
    pub(super) fn leaves_out(&self, key: &SortKey) -> bool {
        self.worst().is_some_and(|worst| key > worst)
    }

    pub(super) fn is_full(&self) -> bool {
        self.keys.len() == self.limit
    }

    /// Best place of a document with the worst top match, if full.
    pub(super) fn worst_place(&self) -> Option<DocumentPlace> {
        self.worst().map(|worst| DocumentPlace {
            score: worst.score,
            hash: worst.name.hash,
        })
    }

    fn worst(&self) -> Option<&SortKey> {
        self.keys.peek().filter(|_| self.is_full())
    }
}

/// The best match has the least key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SortKey {
    score: u16,
    name: Arc<DocumentName>,
    place: u8,
    line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DocumentPlace {
    pub(super) score: u16,
    pub(super) hash: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct DocumentName {
    hash: u64,
    package: Vec<u8>,
    path: Vec<u8>,
}

impl DocumentName {
    /// `text` is the text's hash of a document in revisions.
    pub(super) fn new(package: &[u8], path: &[u8], text: Option<&[u8]>) -> Arc<DocumentName> {
        Arc::new(DocumentName {
            hash: order::document_hash(package, path, text),
            package: package.to_vec(),
            path: path.to_vec(),
        })
    }
}

impl Ord for DocumentName {
    fn cmp(&self, other: &Self) -> Ordering {
        // Matches of one document share its name.
        if std::ptr::eq(self, other) {
            return Ordering::Equal;
        }
        let (a, b) = (self, other);
        (a.hash, &a.package, &a.path).cmp(&(b.hash, &b.package, &b.path))
    }
}

impl PartialOrd for DocumentName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl SortKey {
    pub(super) fn new(rank: f32, name: Arc<DocumentName>, line: u32) -> Self {
        let RankKey { score, place } = RankKey::of(rank);
        SortKey {
            score,
            name,
            place,
            line,
        }
    }

    pub(super) fn rank(&self) -> f32 {
        let SortKey { score, place, .. } = *self;
        RankKey { score, place }.rank()
    }
}

/// Score needed for the top, as seen by workers.
#[derive(Debug)]
pub(super) struct Threshold(AtomicU16);

impl Default for Threshold {
    /// Leaves nothing out.
    fn default() -> Self {
        Threshold(AtomicU16::new(u16::MAX))
    }
}

impl Threshold {
    pub(super) fn raise_to(&self, top: &TopMatches) {
        if let Some(worst) = top.worst() {
            self.0.store(worst.score, atomic::Ordering::Relaxed);
        }
    }

    /// True if this rank is certainly not among the top.
    pub(super) fn leaves_out(&self, rank: f32) -> bool {
        RankKey::of(rank).score > self.0.load(atomic::Ordering::Relaxed)
    }
}

/// Not packed yet, because it may be left out.
#[derive(Clone, Debug)]
pub(super) struct PendingMatch {
    pub(super) key: SortKey,
    pub(super) document: DocId,
    pub(super) position: LinePosition,
    pub(super) patterns: PatternSet,
    pub(super) tier: Tier,
}

/// Up to twice the limit, or twice a unit's documents.
#[derive(Debug, Default)]
pub(super) struct PendingMatches(pub(super) Vec<PendingMatch>);

impl PendingMatches {
    pub(super) fn push(&mut self, pending: PendingMatch, limit: usize) {
        // With one match per document, none is dropped here: the emitter may drop the first one if
        // an earlier unit has its document.
        let keep = limit.max(UNIT_DOCUMENTS);
        if self.0.len() == 2 * keep {
            self.0
                .select_nth_unstable_by(keep, |a, b| a.key.cmp(&b.key));
            self.0.truncate(keep);
        }
        self.0.push(pending);
    }

    pub(super) fn finish(&mut self) {
        self.0
            .sort_unstable_by_key(|pending| (pending.document, pending.position.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(rank: f32, path: &str, line: u32) -> SortKey {
        SortKey::new(rank, DocumentName::new(b"p", path.as_bytes(), None), line)
    }

    #[test]
    fn names_decide_between_equal_hashes() {
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
        let mut top = TopMatches::new(1);
        top.offer(&ordered[2]);
        assert!(top.leaves_out(&ordered[3]) && !top.leaves_out(&ordered[0]));
    }

    #[test]
    fn threshold_leaves_out_lower_ranks() {
        let threshold = Threshold::default();
        assert!(!threshold.leaves_out(f32::NEG_INFINITY));
        let mut top = TopMatches::new(1);
        top.offer(&key(1.5, "a", 1));
        threshold.raise_to(&top);
        assert!(threshold.leaves_out(1.25) && !threshold.leaves_out(1.5));
    }

    proptest! {
        #[test]
        fn top_matches_are_those_that_sorting_puts_first(
            matches in prop::collection::vec((0..4_u8, "[ab]", 1..9_u32), 0..300),
            limit in 1..20_usize,
        ) {
            let mut top = TopMatches::new(limit);
            let mut all = Vec::new();
            for (rank, path, line) in matches {
                let key = key(f32::from(rank), &path, line);
                let better = all.iter().filter(|other| **other < key).count();
                prop_assert_eq!(top.leaves_out(&key), better >= limit);
                top.offer(&key);
                all.push(key);
            }
            all.sort();
            all.truncate(limit);
            prop_assert_eq!(top.keys.into_sorted_vec(), all);
        }

        #[test]
        fn unit_keeps_its_best_matches_in_order(lines in 0..2000_u32, limit in 1..100_usize) {
            let name = DocumentName::new(b"p", b"x", None);
            let mut pending = PendingMatches::default();
            let mut all = Vec::new();
            for number in 1..=lines {
                let rank = (number * 7919 % 13) as f32;
                let key = SortKey::new(rank, Arc::clone(&name), number);
                all.push(key.clone());
                let one = PendingMatch {
                    key,
                    document: DocId(0),
                    position: LinePosition {
                        number,
                        lines: 1,
                        start: 0,
                        end: 0,
                        block: 0,
                        last_block: 0,
                    },
                    patterns: PatternSet::default(),
                    tier: Tier::default(),
                };
                pending.push(one, limit);
            }
            all.sort();
            pending.finish();
            let kept = pending.0;
            prop_assert!(kept.len() <= 2 * limit.max(UNIT_DOCUMENTS));
            prop_assert!(kept.is_sorted_by_key(|one| one.position.number));
            let kept: Vec<SortKey> = kept.into_iter().map(|one| one.key).collect();
            prop_assert!(all.iter().take(limit).all(|key| kept.contains(key)));
        }
    }
}
