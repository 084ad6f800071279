//! Which nodes have a shard: weighted rendezvous hashing with zones.
//!
//! Each pair of a shard and a node has a score, a number that looks random and grows with the node's weight. A shard
//! belongs to the nodes with the highest scores, in different zones as far as there are any. All processes that know the
//! same nodes compute the same placement. When a node joins or leaves, only the shards that it gets or had move.
//!
//! ```text
//! u      a number in (0, 1): 52 bits of a mix of two hashes, of the shard's id and of the node's name
//! score  - weight / ln u
//! ```
//!
//! The logarithm is computed in software, so that all machines get the same bits. [`ShardMap`] keeps the owners of many
//! shards, and finds those that change with the nodes.

mod shard_map;

pub use shard_map::ShardMap;

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How much lower a bound on a score may be than the score, relatively: many times the rounding errors of both.
const BOUND_ERROR: f64 = 1e-9;

/// A machine that may have shards.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name, which no other node has.
    pub name: String,
    /// Where it is; nodes of one zone may be lost together.
    pub zone: String,
    /// How much of all shards it gets, in relation to the weights of the others. With 0 it gets none.
    pub weight: u32,
}

/// A set of nodes, and how many of them have each shard.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Ascending by name.
    nodes: Vec<Node>,
    replicas: usize,
    /// Of each node the number of its zone.
    zone_of: Vec<u32>,
    /// The nodes of each zone that get shards.
    zones: Vec<Vec<Candidate>>,
}

/// What decides the score of a node.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    hash: u64,
    weight: f64,
    node: u32,
}

/// A node that a shard belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Owner {
    score: f64,
    node: u32,
}

impl Candidate {
    fn new(node: &Node, number: u32) -> Candidate {
        Candidate {
            hash: hash(node.name.as_bytes()),
            weight: f64::from(node.weight),
            node: number,
        }
    }

    /// Returns it with its score for a shard, if that may be `least_score` or more. A score that is certainly lower
    /// takes no logarithm: `- ln u >= 1 - u`.
    fn owner(&self, shard: u64, least_score: f64) -> Option<Owner> {
        let uniform = uniform(mix(shard, self.hash));
        if (1.0 - uniform) * least_score > self.weight * (1.0 + BOUND_ERROR) {
            return None;
        }
        let score = -self.weight / libm::log(uniform);
        let node = self.node;
        Some(Owner { score, node })
    }
}

impl Owner {
    /// Orders the best first. Nodes with equal scores are ordered by name.
    fn order(&self, other: &Owner) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then(self.node.cmp(&other.node))
    }
}

impl Placement {
    /// A placement on these nodes. Of nodes with one name the last is taken.
    pub fn new(nodes: impl IntoIterator<Item = Node>, replicas: usize) -> Placement {
        let by_name: BTreeMap<String, Node> = nodes
            .into_iter()
            .map(|node| (node.name.clone(), node))
            .collect();
        let nodes: Vec<Node> = by_name.into_values().collect();
        let (mut numbers, mut zones) = (BTreeMap::new(), Vec::new());
        let mut zone_of = Vec::with_capacity(nodes.len());
        for (number, node) in (0..).zip(&nodes) {
            let zone = *numbers.entry(&node.zone).or_insert(zones.len());
            if zone == zones.len() {
                zones.push(Vec::new());
            }
            if node.weight > 0 {
                zones[zone].push(Candidate::new(node, number));
            }
            zone_of.push(zone as u32);
        }
        Placement {
            nodes,
            replicas,
            zone_of,
            zones,
        }
    }

    /// Returns the nodes that have a shard, the preferred one first: as many as there are replicas, or fewer if there
    /// are not so many nodes.
    pub fn owners(&self, shard: &[u8; 32]) -> Vec<&Node> {
        let owners = self.ranked(hash(shard));
        let node = |owner: Owner| &self.nodes[owner.node as usize];
        owners.into_iter().map(node).collect()
    }

    /// The nodes, ascending by name.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// How many nodes have each shard.
    pub fn replicas(&self) -> usize {
        self.replicas
    }

    /// How many nodes each shard has: fewer than there are replicas if there are not so many nodes.
    fn owners_per_shard(&self) -> usize {
        self.zones
            .iter()
            .map(Vec::len)
            .sum::<usize>()
            .min(self.replicas)
    }

    fn ranked(&self, shard: u64) -> Vec<Owner> {
        let mut candidates: Vec<Owner> = Vec::with_capacity(self.zones.len() * self.replicas);
        let mut best: Vec<Owner> = Vec::with_capacity(self.replicas + 1);
        for zone in &self.zones {
            self.find_best(shard, zone, &mut best);
            candidates.append(&mut best);
        }
        self.chosen(candidates)
    }

    /// Finds the best nodes of a zone, as many as there are replicas.
    fn find_best(&self, shard: u64, zone: &[Candidate], best: &mut Vec<Owner>) {
        let mut least_score = 0.0;
        for candidate in zone {
            let Some(owner) = candidate.owner(shard, least_score) else {
                continue;
            };
            let at = best.partition_point(|other| other.order(&owner).is_lt());
            best.insert(at, owner);
            best.truncate(self.replicas);
            if best.len() == self.replicas {
                least_score = best.last().map_or(f64::INFINITY, |owner| owner.score);
            }
        }
    }

    /// Chooses among candidates: the best of each zone, and then the best that are left. Returns the best first.
    fn chosen(&self, mut candidates: Vec<Owner>) -> Vec<Owner> {
        candidates.sort_unstable_by(Owner::order);
        let mut chosen: Vec<Owner> = Vec::with_capacity(self.replicas);
        let mut others = Vec::new();
        for owner in candidates {
            let zone = self.zone_of[owner.node as usize];
            let is_other = |known: &Owner| self.zone_of[known.node as usize] != zone;
            if chosen.len() < self.replicas && chosen.iter().all(is_other) {
                chosen.push(owner);
            } else {
                others.push(owner);
            }
        }
        let missing = self.replicas - chosen.len();
        chosen.extend(others.into_iter().take(missing));
        chosen.sort_unstable_by(Owner::order);
        chosen
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let (first, _) = hash.as_bytes().split_first_chunk().expect("32 bytes");
    u64::from_le_bytes(*first)
}

/// Mixes two hashes: the finalizer of splitmix64.
fn mix(shard: u64, node: u64) -> u64 {
    let mut mixed = shard ^ node;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A number in (0, 1). It and its distance from 1 are exact: with one more bit the largest would be 1.
fn uniform(mixed: u64) -> f64 {
    ((mixed >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

#[cfg(test)]
mod tests;
