//! Owners of many shards, updated as nodes change.
//!
//! A row has the owners of a shard with scores, best first:
//! 1. A leaving node affects only its shards.
//! 2. A joining node can only replace owners.
//! 3. In a full row, without opening a needed zone, it must reach the lowest score.
//!
//! So all scores are computed only for shards of leaving nodes; others need one, mostly without a
//! logarithm.
//! **Invariant**: rows equal those of a full computation.

use super::{Candidate, Node, Owner, Placement, hash};
use std::collections::BTreeMap;

/// Reciprocal share of changed nodes for a full computation.
const CHANGED_SHARE_MAX: usize = 4;

/// Placement of many shards.
#[derive(Clone, Debug)]
pub struct ShardMap {
    placement: Placement,
    /// Ascending and distinct.
    shards: Vec<[u8; 32]>,
    hashes: Vec<u64>,
    /// Owners, all of one length.
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

    /// Nodes and replicas.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Ascending shards with indices into [`Placement::nodes`], preferred first.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8; 32], impl Iterator<Item = usize>)> {
        let shards = self.shards.iter().enumerate();
        shards.map(|(at, shard)| {
            let owners = self.row(at).iter();
            (shard, owners.map(|owner| owner.node as usize))
        })
    }

    /// Owners of a known shard, preferred first.
    pub fn owners(&self, shard: &[u8; 32]) -> Option<impl Iterator<Item = &Node>> {
        let at = self.shards.binary_search(shard).ok()?;
        let owners = self.row(at).iter();
        Some(owners.map(|owner| &self.placement.nodes[owner.node as usize]))
    }

    /// Replaces the nodes; recomputes affected rows.
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

    /// Replaces the shards; keeps known rows.
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

    /// The order of remaining nodes, and so of rows, is kept.
    fn renumber(&mut self, numbers: &[u32]) {
        for owner in &mut self.rows {
            owner.node = numbers[owner.node as usize];
        }
    }

    /// Joins nodes to a row that lost none.
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

/// A changed weight or zone leaves and joins.
struct Changes {
    /// Old numbers, ascending.
    left: Vec<u32>,
    joined: Vec<u32>,
    /// New number of each old one.
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

/// Nodes to join where they qualify.
struct Joins {
    candidates: Vec<Candidate>,
    /// Even the lowest score may win.
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
