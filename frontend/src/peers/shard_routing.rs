//! Shard routing: assigns each shard to one backend.
//!
//! If several backends serve a shard, the first connected one searches it, of those that are not about to leave. The shards of a lost backend, and
//! of one with other semantics than this frontend, are missing, unless another one serves them. If a lost backend never announced its shards, the result
//! says that it is unknown what is missing. Packages that another shard has in a newer build are excluded;
//! a shard of which nothing is left is not searched.

use super::overlap::Superseded;
use super::visible::VisiblePackages;
use crate::results::{CorpusSize, Missing, Overlaps, ShardId};
use fnv::FnvHasher;
use schema::message::{Excluded, VisibleShard};
use schema::order::SEMANTICS;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hasher;
use std::sync::Arc;
use std::time::SystemTime;

/// A backend's state and its shards.
#[derive(Clone, Debug)]
pub(crate) struct PeerShards {
    /// Its index among the backends.
    pub(crate) number: usize,
    pub(crate) name: String,
    /// Whether another backend is to search its shards, if there is one.
    pub(crate) is_draining: bool,
    /// Why its shards are not searched, and since when: it is not connected, or has other semantics.
    pub(crate) unsearched: Option<(String, SystemTime)>,
    /// The shards it announced last, with their documents.
    pub(crate) shards: Option<Vec<(ShardId, u32)>>,
}

/// Which backend searches which shards.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShardRouting {
    /// The id of the set of all known shards.
    pub(crate) generation: String,
    /// Assignments, with the backend's index.
    pub(crate) assignments: Vec<(usize, Assignment)>,
    pub(crate) missing: Vec<Missing>,
    /// Size of all known shards, connected or not, without superseded packages.
    pub(crate) known: CorpusSize,
    /// Packages that several shards have.
    pub(crate) overlaps: Arc<Overlaps>,
}

/// The shards that one backend searches.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) backend: String,
    pub(crate) shards: Vec<ShardId>,
    /// Documents in each shard that are searched.
    pub(crate) documents: Vec<u32>,
    /// Packages that are not.
    pub(crate) excluded: Vec<Excluded>,
    /// What is visible of each shard, without those packages. `None`: everything.
    pub(crate) visible: Option<Vec<VisibleShard>>,
}

impl ShardRouting {
    pub(crate) fn new(mut backends: Vec<PeerShards>, superseded: Superseded) -> ShardRouting {
        let is_empty = backends.is_empty();
        let all = backends
            .iter()
            .filter_map(|backend| backend.shards.as_deref());
        let all = all.flatten().map(|&(id, _)| id);
        let generation = generation(all, &superseded);
        for shards in backends.iter_mut().filter_map(|it| it.shards.as_mut()) {
            leave_out(shards, &superseded);
        }
        let searched = backends
            .iter()
            .filter_map(|backend| backend.shards.as_deref());
        let all: HashMap<ShardId, u32> = searched.flatten().copied().collect();
        let known = CorpusSize {
            shards: all.len() as u64,
            documents: all.values().map(|&documents| u64::from(documents)).sum(),
        };
        let (mut connected, lost): (Vec<_>, Vec<_>) = backends
            .into_iter()
            .partition(|backend| backend.unsearched.is_none());
        connected.sort_by_key(|backend| backend.is_draining);
        let mut assigned = HashSet::new();
        let assignments = connected
            .into_iter()
            .filter_map(|backend| assign(backend, &mut assigned, &superseded))
            .collect();
        let missing = lost
            .into_iter()
            .filter_map(|backend| missing(backend, &assigned));
        let missing = missing.chain(is_empty.then(nobody)).collect();
        ShardRouting {
            generation,
            assignments,
            missing,
            known,
            overlaps: Arc::new(superseded.overlaps),
        }
    }

    /// Restricts the shards of the assignments to the visible packages. The routing is one of shards that have
    /// some, and their documents.
    pub(crate) fn restrict(&mut self, visible: &BTreeMap<ShardId, VisiblePackages>) {
        for (_, assignment) in &mut self.assignments {
            let mut excluded: HashMap<u32, Vec<u32>> = HashMap::new();
            for each in std::mem::take(&mut assignment.excluded) {
                excluded.insert(each.shard, each.packages);
            }
            let shards = (0..).zip(&assignment.shards);
            let restricted = shards.map(|(number, id)| {
                let superseded = excluded.remove(&number).unwrap_or_default();
                visible[id].without(*id, &superseded)
            });
            assignment.visible = Some(restricted.collect());
        }
    }
}

/// Leaves out shards of which all is superseded, and superseded documents of the others.
fn leave_out(shards: &mut Vec<(ShardId, u32)>, superseded: &Superseded) {
    shards.retain_mut(|(id, documents)| {
        let Some(packages) = superseded.shards.get(id) else {
            return true;
        };
        *documents = documents.saturating_sub(packages.documents);
        !packages.is_all
    });
}

/// Assigns a backend its shards that are not assigned yet.
fn assign(
    backend: PeerShards,
    assigned: &mut HashSet<ShardId>,
    superseded: &Superseded,
) -> Option<(usize, Assignment)> {
    let shards = backend.shards.unwrap_or_default().into_iter();
    let (shards, documents): (Vec<ShardId>, _) =
        shards.filter(|(id, _)| assigned.insert(*id)).unzip();
    let exclude = |(shard, id): (u32, &ShardId)| {
        let packages = superseded.shards.get(id)?.numbers.clone();
        Some(Excluded { shard, packages })
    };
    let assignment = Assignment {
        backend: backend.name,
        excluded: (0..).zip(&shards).filter_map(exclude).collect(),
        visible: None,
        shards,
        documents,
    };
    (!assignment.shards.is_empty()).then_some((backend.number, assignment))
}

/// Returns the shards that are missing without a lost backend.
fn missing(backend: PeerShards, assigned: &HashSet<ShardId>) -> Option<Missing> {
    let (reason, since) = backend.unsearched?;
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

/// What is missing as long as no backend is known.
fn nobody() -> Missing {
    Missing {
        backend: "nodes".to_owned(),
        reason: "no node is known yet".to_owned(),
        shards: Vec::new(),
        since: SystemTime::now(),
    }
}

/// Returns the id of a set of shards, and of what is left out of them; order and repetition do not matter.
fn generation(shards: impl IntoIterator<Item = [u8; 32]>, superseded: &Superseded) -> String {
    let shards: BTreeSet<_> = shards.into_iter().collect();
    let mut hasher = FnvHasher::default();
    // A result of other semantics, kept on disk by an earlier version, is another one.
    hasher.write(&SEMANTICS.to_le_bytes());
    shards.iter().for_each(|id| hasher.write(id));
    for (id, packages) in &superseded.shards {
        hasher.write(id);
        let numbers = packages.numbers.iter();
        numbers.for_each(|number| hasher.write(&number.to_le_bytes()));
    }
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Routes for backends given as `name: shards`, with `!` before a lost one, `-` before one that is draining, and `?`
    /// for unknown shards.
    fn check(backends: &[&str], expected: Expect) {
        let known = |(number, text): (usize, &&str)| {
            let (name, shards) = text.split_once(": ").unwrap();
            let ids = shards.bytes().map(|byte| ([byte; 32], 10)).collect();
            let reason = ("refused".to_owned(), SystemTime::UNIX_EPOCH);
            PeerShards {
                number,
                name: name.trim_start_matches(['!', '-']).to_owned(),
                is_draining: name.starts_with('-'),
                unsearched: name.starts_with('!').then_some(reason),
                shards: (shards != "?").then_some(ids),
            }
        };
        let plan = ShardRouting::new(
            backends.iter().enumerate().map(known).collect(),
            Superseded::default(),
        );
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
    fn shards_of_lost_backends_are_missing_unless_another_serves_them() {
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
    fn without_any_backend_it_is_unknown_what_is_missing() {
        check(&[], expect![["nodes lacks \n"]]);
    }

    #[test]
    fn a_draining_backend_searches_only_what_no_other_serves() {
        check(
            &["-a: 12", "b: 23", "-c: 34", "!d: 4"],
            expect![[r#"
                1 b searches 23
                0 a searches 1
                2 c searches 4
            "#]],
        );
    }

    #[test]
    fn the_generation_does_not_depend_on_connections() {
        let known = |lost: bool| PeerShards {
            number: 0,
            name: String::new(),
            is_draining: false,
            unsearched: lost.then_some((String::new(), SystemTime::UNIX_EPOCH)),
            shards: Some(vec![([7; 32], 10)]),
        };
        let generation =
            |lost| ShardRouting::new(vec![known(lost)], Superseded::default()).generation;
        assert_eq!(generation(true), generation(false));
    }

    #[test]
    fn a_generation_does_not_depend_on_order_or_repetition() {
        let generation = |shards: &[ShardId]| generation(shards.to_vec(), &Superseded::default());
        assert_eq!(
            generation(&[[1; 32], [2; 32]]),
            generation(&[[2; 32], [1; 32], [2; 32]])
        );
        assert_ne!(generation(&[[1; 32]]), generation(&[[2; 32]]));
    }
}
