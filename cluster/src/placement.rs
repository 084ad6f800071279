//! Nodes of a shard: weighted rendezvous hashing with zones.
//!
//! Each shard and node have a pseudorandom score that grows with the node's weight. A shard belongs
//! to the nodes with the highest scores, in different zones if possible. The same nodes give every
//! process the same placement. A joining or leaving node moves only its own shards.
//!
//! ```text
//! u      a number in (0, 1): 52 bits of a mix of two hashes, of the shard's id and of the
//!       node's name
//! score  - weight / ln u
//! ```
//!
//! A software logarithm gives all machines the same bits. [`ShardMap`] keeps and updates the owners
//! of many shards.

mod shard_map;

pub use shard_map::ShardMap;

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Slack of a bound on scores: many times the rounding errors.
const BOUND_ERROR: f64 = 1e-9;

/// A machine for shards.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Nodes of a zone may be lost together.
    pub zone: String,
    /// Relative share of the shards; 0 for none.
    pub weight: u32,
}

/// Nodes, and replicas per shard.
#[derive(Clone, Debug)]
pub struct Placement {
    nodes: Vec<Node>,
    replicas: usize,
    zone_of: Vec<u32>,
    /// Nodes with a weight, by zone.
    zones: Vec<Vec<Candidate>>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    hash: u64,
    weight: f64,
    node: u32,
}

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

    /// Score if it may reach `least_score`; lower ones need no logarithm:
    /// `- ln u >= 1 - u`.
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
    /// Best first, then by name.
    fn order(&self, other: &Owner) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then(self.node.cmp(&other.node))
    }
}

impl Placement {
    /// The last node of one name counts.
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

    /// Owners of a shard, preferred first: as many as replicas, if there are enough nodes.
    pub fn owners(&self, shard: &[u8; 32]) -> Vec<&Node> {
        let owners = self.ranked(hash(shard));
        let node = |owner: Owner| &self.nodes[owner.node as usize];
        owners.into_iter().map(node).collect()
    }

    /// Nodes by name.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Replicas per shard.
    pub fn replicas(&self) -> usize {
        self.replicas
    }

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

    /// Best nodes of a zone.
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

    /// Best of each zone, then of the rest; best first.
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

/// Finalizer of splitmix64.
fn mix(shard: u64, node: u64) -> u64 {
    let mut mixed = shard ^ node;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// In (0, 1), exact to both ends: with one more bit the largest would be 1.
fn uniform(mixed: u64) -> f64 {
    ((mixed >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

#[cfg(test)]
mod tests;
