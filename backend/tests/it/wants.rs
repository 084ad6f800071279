//! Derives partial answers from the complete one.
//!
//! Computed simply: first match of each document; counts; and the first `limit` matches in page
//! order.

use crate::found::{Batch, Found};
use schema::message::{ShardEnd, Want};
use schema::order::RankKey;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Match {
    /// Shard, document and line, in stream order.
    key: (u32, u32, u32),
    rank: f32,
    hash: u64,
    package: Vec<u8>,
    path: Vec<u8>,
}

impl Match {
    pub(crate) fn place(&self) -> (u32, u32, u32) {
        self.key
    }

    pub(crate) fn line(&self) -> u32 {
        self.key.2
    }

    pub(crate) fn name(&self) -> String {
        String::from_utf8([&self.package[..], b"/", &self.path].concat()).unwrap()
    }

    pub(crate) fn document(&self) -> (u32, u32) {
        (self.key.0, self.key.1)
    }

    /// Orders matches of different documents; the best is least.
    pub(crate) fn score(&self) -> u16 {
        RankKey::of(self.rank).score
    }

    pub(crate) fn named(&self) -> (Vec<u8>, Vec<u8>, u32, u32) {
        let rank = self.rank.to_bits();
        (self.package.clone(), self.path.clone(), self.key.2, rank)
    }

    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let (key, others) = (RankKey::of(self.rank), RankKey::of(other.rank));
        (key.score.cmp(&others.score))
            .then(self.hash.cmp(&other.hash))
            .then_with(|| (&self.package, &self.path).cmp(&(&other.package, &other.path)))
            .then(key.place.cmp(&others.place))
            .then(self.key.2.cmp(&other.key.2))
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    let mut hash = 14_695_981_039_346_656_037_u128;
    for &byte in bytes {
        hash = (hash ^ u128::from(byte)) * 1_099_511_628_211 % (1 << 64);
    }
    hash as u64
}

pub(crate) fn matches(found: &Found) -> Vec<Match> {
    let of = |batch: Batch| {
        let mut name = [&batch.package[..], b"/", &batch.path].concat();
        // A repository's path may have several texts.
        if batch.revision_count > 0 {
            name.extend([&b"\0"[..], &batch.hash].concat());
        }
        let lines: Vec<Match> = batch
            .matches()
            .map(|line| Match {
                key: (batch.shard, batch.document, line.number),
                rank: line.rank,
                hash: fnv(&name),
                package: batch.package.clone(),
                path: batch.path.clone(),
            })
            .collect();
        lines
    };
    found.batches().into_iter().flat_map(of).collect()
}

pub(crate) fn check(all: &Found, find: impl Fn(Want, u64) -> Found) {
    let there = matches(all);
    let mut firsts = there.clone();
    firsts.dedup_by_key(|each| each.document());

    let documents = find(Want::Documents, 0);
    assert_eq!(matches(&documents), firsts);
    check_ends(all, &documents, |all| all.matched_documents);

    let count = find(Want::Count, 3);
    assert!(count.frames.is_empty(), "nothing is sent");
    check_ends(all, &count, |all| all.matches);
    for (all, count) in all.ends.iter().zip(&count.ends) {
        let all = (all.matched_blocks, all.verified_bytes);
        assert_eq!((count.matched_blocks, count.verified_bytes), all);
    }

    for limit in [1, 3, 40] {
        let limited = find(Want::Matches, limit);
        check_best(&there, &matches(&limited), limit as usize);
        check_ends(all, &limited, |all| all.matches);
    }
    for limit in [2, 9] {
        let limited = find(Want::Documents, limit);
        check_best(&firsts, &matches(&limited), limit as usize);
        check_ends(all, &limited, |all| all.matched_documents);
    }
    assert!(
        find(Want::Matches, u64::MAX) == *all,
        "a limit above the largest means all"
    );
}

/// Checks that the same documents are searched, and that END fits.
fn check_ends(all: &Found, some: &Found, found: fn(&ShardEnd) -> u64) {
    let sent = matches(some);
    for (index, (all, some)) in (0..).zip(all.ends.iter().zip(&some.ends)) {
        let own: Vec<&Match> = sent.iter().filter(|each| each.key.0 == index).collect();
        let expected = ShardEnd {
            matches: own.len() as u64,
            found: found(all),
            hash: own.iter().fold(0, |hash, each| {
                ShardEnd::key_hash(hash, each.key.1, each.key.2)
            }),
            matched_blocks: some.matched_blocks,
            verified_bytes: some.verified_bytes,
            ..all.clone()
        };
        assert_eq!(*some, expected);
        assert!(some.matched_blocks <= all.matched_blocks);
        assert!(some.verified_bytes <= all.verified_bytes);
    }
}

/// Checks the best matches, in stream order, none worse than `limit` of earlier documents.
fn check_best(there: &[Match], sent: &[Match], limit: usize) {
    let mut best: Vec<&Match> = there.iter().collect();
    best.sort_by(|a, b| a.order(b));
    let places: HashMap<_, usize> = best.iter().map(|each| each.key).zip(0..).collect();
    let sent_keys: HashSet<_> = sent.iter().map(|each| each.key).collect();
    for each in best.iter().take(limit) {
        assert!(sent_keys.contains(&each.key), "missing top match: {each:?}");
    }
    let (mut sent, mut before) = (sent.iter().peekable(), BinaryHeap::new());
    for document in there.chunk_by(|a, b| a.document() == b.document()) {
        let worst = before.peek().filter(|_| before.len() == limit).copied();
        for each in document {
            if sent.next_if_eq(&each).is_some() {
                let place = places[&each.key];
                assert!(worst.is_none_or(|worst| place < worst), "{each:?}");
            }
        }
        for each in document {
            before.push(places[&each.key]);
            if before.len() > limit {
                before.pop();
            }
        }
    }
    assert_eq!(
        sent.next(),
        None,
        "no other match is sent, and the order is kept"
    );
}

#[test]
fn hash_is_fnv_1a() {
    assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
}
