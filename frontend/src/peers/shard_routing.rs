//! Who searches what: each shard goes to one backend.
//!
//! A shard that several backends serve is searched by the first of them that is connected. What a
//! lost backend announced before is missing, unless another one serves it too; of one that never
//! announced anything, nobody knows what is missing, and the answer says just that.

use crate::results::{CorpusSize, Missing, ShardId};
use fnv::FnvHasher;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hasher;
use std::time::SystemTime;

/// What is known of a backend.
#[derive(Clone, Debug)]
pub(crate) struct PeerShards {
    /// Its place among the backends.
    pub(crate) number: usize,
    pub(crate) name: String,
    /// Why it is not connected, and since when.
    pub(crate) lost: Option<(String, SystemTime)>,
    /// The shards it announced last, with their documents.
    pub(crate) shards: Option<Vec<(ShardId, u32)>>,
}

/// What a query is to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShardRouting {
    /// Names the set of all shards that are known of.
    pub(crate) generation: String,
    /// By the backend's number.
    pub(crate) assignments: Vec<(usize, Assignment)>,
    pub(crate) missing: Vec<Missing>,
    /// All that is known of, whoever is there.
    pub(crate) known: CorpusSize,
}

/// A backend's part in a run: who, and which shards it is to search.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) backend: String,
    pub(crate) shards: Vec<ShardId>,
    /// Documents in each of them.
    pub(crate) documents: Vec<u32>,
}

impl ShardRouting {
    pub(crate) fn new(backends: Vec<PeerShards>) -> ShardRouting {
        let all = backends
            .iter()
            .filter_map(|backend| backend.shards.as_deref());
        let all: HashMap<ShardId, u32> = all.flatten().copied().collect();
        let generation = generation(all.keys().copied());
        let known = CorpusSize {
            shards: all.len() as u64,
            documents: all.values().map(|&documents| u64::from(documents)).sum(),
        };
        let (connected, lost): (Vec<_>, Vec<_>) = backends
            .into_iter()
            .partition(|backend| backend.lost.is_none());
        let mut assigned = HashSet::new();
        let assignments = connected
            .into_iter()
            .filter_map(|backend| assign(backend, &mut assigned))
            .collect();
        let missing = lost
            .into_iter()
            .filter_map(|backend| missing(backend, &assigned))
            .collect();
        ShardRouting {
            generation,
            assignments,
            missing,
            known,
        }
    }
}

/// Gives a backend those of its shards that nobody has yet.
fn assign(backend: PeerShards, assigned: &mut HashSet<ShardId>) -> Option<(usize, Assignment)> {
    let shards = backend.shards.unwrap_or_default().into_iter();
    let (shards, documents) = shards.filter(|(id, _)| assigned.insert(*id)).unzip();
    let assignment = Assignment {
        backend: backend.name,
        shards,
        documents,
    };
    (!assignment.shards.is_empty()).then_some((backend.number, assignment))
}

/// What is missing without a backend.
fn missing(backend: PeerShards, assigned: &HashSet<ShardId>) -> Option<Missing> {
    let (reason, since) = backend.lost?;
    let shards: Vec<_> = match backend.shards {
        None => Vec::new(),
        Some(shards) => {
            let shards: Vec<_> = shards
                .into_iter()
                .map(|(id, _)| id)
                .filter(|id| !assigned.contains(id))
                .collect();
            if shards.is_empty() {
                return None;
            }
            shards
        }
    };
    Some(Missing {
        backend: backend.name,
        reason,
        shards,
        since,
    })
}

/// Names a set of shards, in whatever order they come and however often.
fn generation(shards: impl IntoIterator<Item = [u8; 32]>) -> String {
    let shards: BTreeSet<_> = shards.into_iter().collect();
    let mut hasher = FnvHasher::default();
    shards.iter().for_each(|id| hasher.write(id));
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Plans for backends as `name: shards`, `!` before the name of a lost one, `?` for shards
    /// that nobody knows.
    fn check(backends: &[&str], expected: Expect) {
        let known = |(number, text): (usize, &&str)| {
            let (name, shards) = text.split_once(": ").unwrap();
            let ids = shards.bytes().map(|byte| ([byte; 32], 10)).collect();
            let reason = ("refused".to_owned(), SystemTime::UNIX_EPOCH);
            PeerShards {
                number,
                name: name.trim_start_matches('!').to_owned(),
                lost: name.starts_with('!').then_some(reason),
                shards: (shards != "?").then_some(ids),
            }
        };
        let plan = ShardRouting::new(backends.iter().enumerate().map(known).collect());
        let names =
            |shards: &[ShardId]| -> String { shards.iter().map(|id| char::from(id[0])).collect() };
        let mut out = String::new();
        for (number, assignment) in &plan.assignments {
            let (name, shards) = (&assignment.backend, names(&assignment.shards));
            out += &format!("{number} {name} searches {shards}\n");
        }
        for missing in &plan.missing {
            out += &format!("{} lacks {}\n", missing.backend, names(&missing.shards));
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn each_shard_is_searched_once() {
        check(
            &["a: 12", "b: 23", "c: 3"],
            expect![[r#"
                0 a searches 12
                1 b searches 3
            "#]],
        );
    }

    #[test]
    fn only_what_nobody_else_has_is_missing() {
        check(
            &["!a: 12", "b: 1", "!c: 1", "!d: ?", "e: "],
            expect![[r#"
                1 b searches 1
                a lacks 2
                d lacks 
            "#]],
        );
    }

    #[test]
    fn the_generation_does_not_depend_on_who_is_there() {
        let known = |lost: bool| PeerShards {
            number: 0,
            name: String::new(),
            lost: lost.then_some((String::new(), SystemTime::UNIX_EPOCH)),
            shards: Some(vec![([7; 32], 10)]),
        };
        let generation = |lost| ShardRouting::new(vec![known(lost)]).generation;
        assert_eq!(generation(true), generation(false));
    }

    #[test]
    fn a_generation_does_not_depend_on_order_or_repetition() {
        assert_eq!(
            generation([[1; 32], [2; 32]]),
            generation([[2; 32], [1; 32], [2; 32]])
        );
        assert_ne!(generation([[1; 32]]), generation([[2; 32]]));
    }
}
