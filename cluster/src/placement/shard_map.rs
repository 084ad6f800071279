//! The owners of many shards, kept up to date while nodes join, leave and change.
//!
//! A row has the owners of a shard with their scores, the best first. Three facts make a change cheap:
//! 1. When a node leaves, only the shards that it owned get other owners.
//! 2. When a node joins, the new owners are among the old ones and the node.
//! 3. If there were as many owners as replicas, and the node opens no zone while there are fewer zones than replicas, it
//!    is an owner only if its score is at least the lowest in the row.
//!
//! So all scores are computed only for the shards that a leaving node had, and for others one, mostly without a
//! logarithm. **Invariant**: the rows are those that a computation from nothing gives.

use super::{Candidate, Node, Owner, Placement, hash};
use std::collections::BTreeMap;

/// If more nodes change than one in so many, everything is computed again.
const CHANGED_SHARE_MAX: usize = 4;

/// A placement of many shards.
#[derive(Clone, Debug)]
pub struct ShardMap {
    placement: Placement,
    /// Ascending, without repetition.
    shards: Vec<[u8; 32]>,
    /// The hash of each.
    hashes: Vec<u64>,
    /// Of each shard its owners, all of one length.
    rows: Vec<Owner>,
    row_len: usize,
}

impl ShardMap {
    /// Computes the owners of shards.
    pub fn new(placement: Placement, shards: impl IntoIterator<Item = [u8; 32]>) -> ShardMap {
        let mut shards: Vec<[u8; 32]> = shards.into_iter().collect();
        shards.sort_unstable();
        shards.dedup();
        let mut map = ShardMap {
            hashes: shards.iter().map(|shard| hash(shard)).collect(),
            row_len: placement.owners_per_shard(),
            placement,
            shards,
            rows: Vec::new(),
        };
        map.compute();
        map
    }

    /// The nodes, and the number of replicas.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The shards in ascending order, each with the numbers of its owners in [`Placement::nodes`], the preferred one
    /// first.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8; 32], impl Iterator<Item = usize>)> {
        let shards = self.shards.iter().enumerate();
        shards.map(|(at, shard)| {
            let owners = self.row(at).iter();
            (shard, owners.map(|owner| owner.node as usize))
        })
    }

    /// Returns the owners of a shard, the preferred one first; `None` if it is not one of the shards.
    pub fn owners(&self, shard: &[u8; 32]) -> Option<impl Iterator<Item = &Node>> {
        let at = self.shards.binary_search(shard).ok()?;
        let owners = self.row(at).iter();
        Some(owners.map(|owner| &self.placement.nodes[owner.node as usize]))
    }

    /// Replaces the nodes. Rows that cannot change are not computed again.
    pub fn set_nodes(&mut self, nodes: impl IntoIterator<Item = Node>) {
        let next = Placement::new(nodes, self.placement.replicas);
        let changes = Changes::new(&self.placement.nodes, &next.nodes);
        let before = std::mem::replace(&mut self.placement, next);
        let row_len = self.placement.owners_per_shard();
        let count = changes.left.len() + changes.joined.len();
        let is_small = count * CHANGED_SHARE_MAX <= self.placement.nodes.len();
        if row_len != self.row_len || row_len == 0 || !is_small {
            self.row_len = row_len;
            self.compute();
            return;
        }
        let had = self.rows_of(&changes.left);
        self.renumber(&changes.numbers);
        let joins = Joins::new(&before, &self.placement, &changes.joined);
        for (at, had) in had.into_iter().enumerate() {
            if had {
                let owners = self.placement.ranked(self.hashes[at]);
                self.row_mut(at).copy_from_slice(&owners);
            } else {
                self.join(at, &joins);
            }
        }
    }

    /// Replaces the shards. The rows of those that were there before are kept.
    pub fn set_shards(&mut self, shards: impl IntoIterator<Item = [u8; 32]>) {
        let mut shards: Vec<[u8; 32]> = shards.into_iter().collect();
        shards.sort_unstable();
        shards.dedup();
        let mut rows = Vec::with_capacity(shards.len() * self.row_len);
        let mut hashes = Vec::with_capacity(shards.len());
        for shard in &shards {
            match self.shards.binary_search(shard) {
                Ok(at) => {
                    hashes.push(self.hashes[at]);
                    rows.extend_from_slice(self.row(at));
                }
                Err(_) => {
                    hashes.push(hash(shard));
                    rows.extend(self.placement.ranked(hash(shard)));
                }
            }
        }
        (self.shards, self.hashes, self.rows) = (shards, hashes, rows);
    }

    fn compute(&mut self) {
        let mut rows = Vec::with_capacity(self.shards.len() * self.row_len);
        for &shard in &self.hashes {
            rows.extend(self.placement.ranked(shard));
        }
        self.rows = rows;
    }

    fn row(&self, at: usize) -> &[Owner] {
        &self.rows[at * self.row_len..][..self.row_len]
    }

    fn row_mut(&mut self, at: usize) -> &mut [Owner] {
        &mut self.rows[at * self.row_len..][..self.row_len]
    }

    /// Finds the shards that belong to nodes with these numbers, ascending.
    fn rows_of(&self, nodes: &[u32]) -> Vec<bool> {
        let has = |row: &[Owner]| {
            let mut owners = row.iter();
            owners.any(|owner| nodes.binary_search(&owner.node).is_ok())
        };
        if nodes.is_empty() {
            return vec![false; self.shards.len()];
        }
        self.rows.chunks_exact(self.row_len).map(has).collect()
    }

    /// Gives the nodes other numbers. The order of those that stay is the same, so rows stay in order.
    fn renumber(&mut self, numbers: &[u32]) {
        for owner in &mut self.rows {
            owner.node = numbers[owner.node as usize];
        }
    }

    /// Lets nodes join a row that has none of the nodes that left.
    fn join(&mut self, at: usize, joins: &Joins) {
        let shard = self.hashes[at];
        let least_score = if joins.always {
            0.0
        } else {
            self.row(at).last().map_or(0.0, |owner| owner.score)
        };
        let joined = joins.candidates.iter();
        let mut owners: Vec<Owner> = joined
            .filter_map(|candidate| candidate.owner(shard, least_score))
            .collect();
        if owners.is_empty() {
            return;
        }
        owners.extend_from_slice(self.row(at));
        let owners = self.placement.chosen(owners);
        self.row_mut(at).copy_from_slice(&owners);
    }
}

/// What differs between two lists of nodes. A node with another weight or zone leaves and joins.
struct Changes {
    /// The old numbers of those that left, ascending.
    left: Vec<u32>,
    /// The new numbers of those that joined.
    joined: Vec<u32>,
    /// The new number of each old one; of those that left any.
    numbers: Vec<u32>,
}

impl Changes {
    fn new(old: &[Node], new: &[Node]) -> Changes {
        let new_numbers: BTreeMap<&str, u32> =
            new.iter().map(|node| &*node.name).zip(0..).collect();
        let mut stays = vec![false; new.len()];
        let (mut left, mut numbers) = (Vec::new(), Vec::new());
        for (number, node) in (0..).zip(old) {
            let found = new_numbers.get(&*node.name).copied();
            let same = found.filter(|&found| new[found as usize] == *node);
            match same {
                Some(found) => stays[found as usize] = true,
                None => left.push(number),
            }
            numbers.push(same.unwrap_or(0));
        }
        let joined = (0..).zip(stays).filter(|(_, stays)| !stays);
        Changes {
            left,
            joined: joined.map(|(number, _)| number).collect(),
            numbers,
        }
    }
}

/// Nodes that join all rows that they are good enough for.
struct Joins {
    candidates: Vec<Candidate>,
    /// Whether a node may be chosen although its score is lower than all others.
    always: bool,
}

impl Joins {
    fn new(before: &Placement, now: &Placement, joined: &[u32]) -> Joins {
        let weighted = joined
            .iter()
            .filter(|&&number| now.nodes[number as usize].weight > 0);
        let used = |placement: &Placement| {
            let zones = placement.zones.iter().filter(|zone| !zone.is_empty());
            zones.count()
        };
        Joins {
            candidates: weighted
                .map(|&number| Candidate::new(&now.nodes[number as usize], number))
                .collect(),
            always: used(before).min(used(now)) < now.replicas,
        }
    }
}
