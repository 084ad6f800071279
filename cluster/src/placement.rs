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
//! A software logarithm gives all machines the same bits.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Slack of a bound on scores: many times the rounding errors.
const BOUND_ERROR: f64 = 1e-9;

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique.
    pub name: String,
    /// Nodes of a zone may be lost together.
    pub zone: String,
    /// Relative share of the shards; 0 for none.
    pub weight: u32,
}

/// Nodes with a weight, by zone, and replicas per shard.
#[derive(Clone, Debug)]
pub struct Placement {
    replicas: usize,
    zones: Vec<Vec<Candidate>>,
}

#[derive(Clone, Debug)]
struct Candidate {
    hash: u64,
    node: Node,
}

#[derive(Clone, Copy, Debug)]
struct Owner<'a> {
    score: f64,
    node: &'a Node,
}

impl Candidate {
    /// Score if it may reach `least_score`; lower ones need no logarithm:
    /// `- ln u >= 1 - u`.
    fn owner(&self, shard: u64, least_score: f64) -> Option<Owner<'_>> {
        let (node, weight) = (&self.node, f64::from(self.node.weight));
        let uniform = uniform(mix(shard, self.hash));
        let may_reach = (1.0 - uniform) * least_score <= weight * (1.0 + BOUND_ERROR);
        let score = || -weight / libm::log(uniform);
        may_reach.then(|| Owner {
            score: score(),
            node,
        })
    }
}

impl Owner<'_> {
    /// Best first, then by name.
    fn order(&self, other: &Owner<'_>) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| self.node.name.cmp(&other.node.name))
    }
}

impl Placement {
    /// The last node of one name counts.
    pub fn new(nodes: impl IntoIterator<Item = Node>, replicas: usize) -> Placement {
        let named = nodes.into_iter().map(|node| (node.name.clone(), node));
        let by_name: BTreeMap<String, Node> = named.collect();
        let mut zones: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
        for node in by_name.into_values().filter(|node| node.weight > 0) {
            let hash = hash(node.name.as_bytes());
            let zone = zones.entry(node.zone.clone()).or_default();
            zone.push(Candidate { hash, node });
        }
        let zones = zones.into_values().collect();
        Placement { replicas, zones }
    }

    /// Owners of a shard, preferred first: as many as replicas, if there are enough nodes. The best
    /// of each zone comes before the rest.
    pub fn owners(&self, shard: &[u8; 32]) -> Vec<&Node> {
        let shard = hash(shard);
        let (mut owners, mut rest) = (Vec::new(), Vec::new());
        for zone in &self.zones {
            let mut best = self.best(shard, zone).into_iter();
            owners.extend(best.next());
            rest.extend(best);
        }
        owners.sort_unstable_by(Owner::order);
        rest.sort_unstable_by(Owner::order);
        owners.append(&mut rest);
        owners.truncate(self.replicas);
        owners.sort_unstable_by(Owner::order);
        owners.into_iter().map(|owner| owner.node).collect()
    }

    fn best<'a>(&self, shard: u64, zone: &'a [Candidate]) -> Vec<Owner<'a>> {
        let (mut best, mut least_score) = (Vec::<Owner<'a>>::new(), 0.0);
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
        best
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
