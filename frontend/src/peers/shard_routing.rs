//! Assigns each shard to one backend.
//!
//! A shard goes to the first of its connected backends in an order that may differ per query,
//! draining ones last. The others are replicas in case the stream breaks. Shards of lost backends,
//! or of those with other semantics, are missing unless another backend has them. Packages with a
//! newer build elsewhere are excluded; an emptied shard is not searched.

use super::health::Preference;
use super::overlap::Superseded;
use super::visible::VisiblePackages;
use fnv::FnvHasher;
use results::{CorpusSize, Missing, Overlaps, ShardId};
use schema::message::{Excluded, VisibleShard};
use schema::order::SEMANTICS;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hasher;
use std::sync::Arc;
use std::time::SystemTime;

#[derive(Clone, Debug)]
pub(crate) struct PeerShards {
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) is_draining: bool,
    /// Reason and time since when it is not searched.
    pub(crate) unsearched: Option<(String, SystemTime)>,
    pub(crate) shards: Option<Vec<(ShardId, u32)>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ShardRouting {
    pub(crate) generation: String,
    shards: Vec<RoutedShard>,
    names: Vec<String>,
    draining: Vec<bool>,
    pub(crate) has_replicas: bool,
    pub(crate) missing: Vec<Missing>,
    /// Size of all known shards, without superseded packages.
    pub(crate) known: CorpusSize,
    pub(crate) overlaps: Arc<Overlaps>,
}

#[derive(Clone, Debug)]
struct RoutedShard {
    id: ShardId,
    documents: u32,
    excluded: Vec<u32>,
    /// Visible packages among the rest; `None`: all.
    visible: Option<VisibleShard>,
    backends: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Assignment {
    pub(crate) backend: String,
    pub(crate) shards: Vec<ShardId>,
    pub(crate) documents: Vec<u32>,
    pub(crate) excluded: Vec<Excluded>,
    /// Visible packages by shard; `None`: all.
    pub(crate) visible: Option<Vec<VisibleShard>>,
    /// Replicas, with indexes into `shards`.
    pub(crate) replicas: Vec<(usize, Vec<u32>)>,
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
        let (connected, lost): (Vec<_>, Vec<_>) = backends
            .into_iter()
            .partition(|backend| backend.unsearched.is_none());
        let (mut names, mut draining, mut shards) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = HashMap::new();
        for backend in connected {
            names.resize(names.len().max(backend.number), String::new());
            draining.resize(names.len(), false);
            draining.push(backend.is_draining);
            for (id, documents) in backend.shards.unwrap_or_default() {
                let place = *places.entry(id).or_insert_with(|| {
                    let packages = superseded.shards.get(&id);
                    shards.push(RoutedShard {
                        id,
                        documents,
                        excluded: packages.map_or(Vec::new(), |it| it.numbers.clone()),
                        visible: None,
                        backends: Vec::new(),
                    });
                    shards.len() - 1
                });
                let backends = &mut shards[place].backends;
                if backends.last() != Some(&backend.number) {
                    backends.push(backend.number);
                }
            }
            names.push(backend.name);
        }
        let missing = lost
            .into_iter()
            .filter_map(|backend| missing(backend, &places));
        let missing = missing.chain(is_empty.then(nobody)).collect();
        ShardRouting {
            generation,
            has_replicas: shards.iter().any(|it: &RoutedShard| it.backends.len() > 1),
            shards,
            names,
            draining,
            missing,
            known,
            overlaps: Arc::new(superseded.overlaps),
        }
    }

    /// All shards of the routing have some.
    pub(crate) fn restrict(&mut self, visible: &BTreeMap<ShardId, VisiblePackages>) {
        for shard in &mut self.shards {
            let superseded = std::mem::take(&mut shard.excluded);
            shard.visible = Some(visible[&shard.id].without(shard.id, &superseded));
        }
    }

    /// Assigns each shard to its preferred backend. Returns assignments by
    /// backend index, ascending.
    pub(crate) fn assign(&self, preference: &Preference) -> Vec<(usize, Assignment)> {
        let mut assignments = BTreeMap::new();
        for shard in &self.shards {
            let order = preference.of(&shard.backends);
            let backends = shard.backends.iter().copied();
            let Some(backend) = backends.min_by_key(|&it| (self.draining[it], order(it))) else {
                continue;
            };
            let assignment = assignments.entry(backend).or_insert_with(|| Assignment {
                backend: self.names[backend].clone(),
                ..Assignment::default()
            });
            assignment.add(shard, backend);
        }
        for assignment in assignments.values_mut() {
            let order = preference.of(&[]);
            assignment
                .replicas
                .sort_by_key(|(it, _)| (self.draining[*it], order(*it)));
        }
        assignments.into_iter().collect()
    }
}

impl Assignment {
    fn add(&mut self, shard: &RoutedShard, backend: usize) {
        let number = self.shards.len() as u32;
        self.shards.push(shard.id);
        self.documents.push(shard.documents);
        if !shard.excluded.is_empty() {
            self.excluded.push(Excluded {
                shard: number,
                packages: shard.excluded.clone(),
            });
        }
        if let Some(visible) = &shard.visible {
            self.visible.get_or_insert_default().push(visible.clone());
        }
        for &other in shard.backends.iter().filter(|&&other| other != backend) {
            match self.replicas.iter_mut().find(|(known, _)| *known == other) {
                Some((_, shards)) => shards.push(number),
                None => self.replicas.push((other, vec![number])),
            }
        }
    }
}

fn leave_out(shards: &mut Vec<(ShardId, u32)>, superseded: &Superseded) {
    shards.retain_mut(|(id, documents)| {
        let Some(packages) = superseded.shards.get(id) else {
            return true;
        };
        *documents = documents.saturating_sub(packages.documents);
        !packages.is_all
    });
}

fn missing(backend: PeerShards, assigned: &HashMap<ShardId, usize>) -> Option<Missing> {
    let (reason, since) = backend.unsearched?;
    let is_unknown = backend.shards.is_none();
    let shards = backend.shards.unwrap_or_default().into_iter();
    let shards: Vec<_> = shards
        .map(|(id, _)| id)
        .filter(|id| !assigned.contains_key(id))
        .collect();
    let has_missing = is_unknown || !shards.is_empty();
    has_missing.then_some(Missing {
        backend: backend.name,
        reason,
        shards,
        since,
    })
}

fn nobody() -> Missing {
    Missing {
        backend: "nodes".to_owned(),
        reason: "no node is known yet".to_owned(),
        shards: Vec::new(),
        since: SystemTime::now(),
    }
}

/// Regardless of order and repetition.
fn generation(shards: impl IntoIterator<Item = [u8; 32]>, superseded: &Superseded) -> String {
    let shards: BTreeSet<_> = shards.into_iter().collect();
    let mut hasher = FnvHasher::default();
    // Results of other semantics, kept on disk, differ.
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

    /// Routes for `name: shards`, with `!` for lost, `-` for draining, `?` for unknown shards.
    fn check(backends: &[&str], order: &[usize], expected: Expect) {
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
        for (number, assignment) in plan.assign(&Preference::in_order(order)) {
            let (name, shards) = (&assignment.backend, names(&assignment.shards));
            out += &format!("{number} {name} searches {shards}");
            for (other, shards) in assignment.replicas {
                let shards = shards.iter().map(|&at| assignment.shards[at as usize]);
                out += &format!(", or {other} {}", names(&shards.collect::<Vec<_>>()));
            }
            out.push('\n');
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
            &[0, 1, 2],
            expect![[r#"
                0 a searches 12, or 1 2
                1 b searches 3, or 2 3
            "#]],
        );
    }

    #[test]
    fn the_first_backend_in_the_order_searches_all_that_it_has() {
        let backends = ["a: 123", "b: 234", "!c: 5", "d: 341"];
        check(
            &backends,
            &[3, 1, 0],
            expect![[r#"
                1 b searches 2, or 0 2
                3 d searches 134, or 1 34, or 0 13
                c lacks 5
            "#]],
        );
        check(
            &backends,
            &[1],
            expect![[r#"
                0 a searches 1, or 3 1
                1 b searches 234, or 0 23, or 3 34
                c lacks 5
            "#]],
        );
    }

    #[test]
    fn shards_of_lost_backends_are_missing_unless_another_serves_them() {
        check(
            &["!a: 12", "b: 1", "!c: 1", "!d: ?", "e: "],
            &[0, 1, 2, 3, 4],
            expect![[r#"
                1 b searches 1
                a lacks 2
                d lacks 
            "#]],
        );
    }

    #[test]
    fn without_any_backend_it_is_unknown_what_is_missing() {
        check(&[], &[], expect![["nodes lacks \n"]]);
    }

    #[test]
    fn a_draining_backend_searches_only_what_no_other_serves() {
        check(
            &["-a: 12", "b: 23", "-c: 34", "!d: 4"],
            &[0, 1, 2],
            expect![[r#"
                0 a searches 1
                1 b searches 23, or 0 2, or 2 3
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
