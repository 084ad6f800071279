//! Transition of nodes between generations, at different speeds.
//!
//! A package may move to a shard of another node. This node keeps the old place until all shards of
//! the new place are *ready*: here, or on an owner that reported them. Meanwhile frontends search
//! the newer build.
//!
//! **Invariant:** a package is never missing, and never twice on one node.

use index::manifest::{Manifest, ShardEntry};
use std::collections::{BTreeMap, BTreeSet, HashMap};

type ShardId = [u8; 32];

/// Manifest between `old`, served now, and `new`. `has`: shards of `new` that are here. `is_ready`:
/// shards that another node has.
pub(crate) fn manifest(
    old: &Manifest,
    new: &Manifest,
    has: &dyn Fn(&ShardEntry) -> bool,
    is_ready: &dyn Fn(&ShardEntry) -> bool,
) -> Manifest {
    let here: BTreeSet<ShardId> = ids(new.shards.iter().filter(|shard| has(shard)));
    let elsewhere: BTreeSet<ShardId> = ids(new.shards.iter().filter(|shard| is_ready(shard)));
    let waiting = waiting(old, new, &|id| here.contains(id) || elsewhere.contains(id));
    let mut before: HashMap<ShardId, &ShardEntry> = HashMap::new();
    before.extend(old.shards.iter().map(|shard| (shard.id, shard)));
    let is_kept = |shard: &ShardEntry, package: usize| {
        let package = &shard.packages[package];
        !package.is_dead && waiting.contains(&*package.directory)
    };
    let mut shards = Vec::new();
    for shard in new.shards.iter().filter(|shard| here.contains(&shard.id)) {
        let mut shard = shard.clone();
        let earlier = before.remove(&shard.id);
        for (number, package) in shard.packages.iter_mut().enumerate() {
            if waiting.contains(&*package.directory) {
                package.is_dead = !earlier.is_some_and(|earlier| is_kept(earlier, number));
            }
        }
        // A shard with a waiting package keeps its table.
        if let Some(earlier) = earlier
            && waits(&shard, &waiting)
        {
            shard.revisions.clone_from(&earlier.revisions);
        }
        shards.push(shard);
    }
    for shard in old.shards.iter().filter(|shard| !here.contains(&shard.id)) {
        let mut kept = shard.clone();
        for (number, package) in kept.packages.iter_mut().enumerate() {
            package.is_dead = !is_kept(shard, number);
        }
        shards.push(kept);
    }
    shards.retain(|shard| shard.live().next().is_some());
    Manifest {
        options: new.options,
        shards,
        beside: new.beside.clone(),
        recorded: new.recorded.clone(),
        precise: new.precise.clone(),
    }
}

fn waiting<'a>(
    old: &'a Manifest,
    new: &'a Manifest,
    is_ready: &dyn Fn(&ShardId) -> bool,
) -> BTreeSet<&'a [u8]> {
    let mut places: BTreeMap<&[u8], Vec<ShardId>> = BTreeMap::new();
    for shard in &new.shards {
        for package in shard.live() {
            places.entry(&package.directory).or_default().push(shard.id);
        }
    }
    // Dropped packages do not wait.
    let is_waiting = |name: &&[u8]| {
        let shards = places.get(name);
        shards.is_some_and(|shards| !shards.iter().all(is_ready))
    };
    let live = old.live().map(|package| &*package.directory);
    let mut waiting: BTreeSet<&[u8]> = live.filter(is_waiting).collect();
    let tables: HashMap<ShardId, &ShardEntry> =
        new.shards.iter().map(|shard| (shard.id, shard)).collect();
    let is_changed = |shard: &&ShardEntry| {
        let next = tables.get(&shard.id);
        next.is_some_and(|next| next.revisions != shard.revisions)
    };
    let tied: Vec<&ShardEntry> = old.shards.iter().filter(is_changed).collect();
    // A table covers all packages of its shard, so these wait together.
    loop {
        let count = waiting.len();
        for shard in &tied {
            if waits(shard, &waiting) {
                waiting.extend(shard.live().map(|package| &*package.directory));
            }
        }
        if waiting.len() == count {
            return waiting;
        }
    }
}

fn waits(shard: &ShardEntry, waiting: &BTreeSet<&[u8]>) -> bool {
    let mut live = shard.live();
    live.any(|package| waiting.contains(&*package.directory))
}

fn ids<'a>(shards: impl Iterator<Item = &'a ShardEntry>) -> BTreeSet<ShardId> {
    shards.map(|shard| shard.id).collect()
}

#[cfg(test)]
mod tests;
