//! Assigns a store's shards to nodes, the same on all machines.

use cluster::membership::Member;
use cluster::placement::{Node, Placement};

const HASH_DIGITS: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Placing {
    nodes: Vec<Node>,
    hash: String,
}

impl Placing {
    pub(crate) fn new<'a>(members: impl IntoIterator<Item = &'a Member>) -> Placing {
        let mut nodes: Vec<Node> = members.into_iter().map(Member::node).collect();
        nodes.retain(|node| node.weight > 0);
        nodes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let mut hasher = blake3::Hasher::new();
        for node in &nodes {
            // Neither contains a line break.
            hasher.update(format!("{}\n{}\n{}\n", node.name, node.zone, node.weight).as_bytes());
        }
        let hash = hasher.finalize().to_hex()[..HASH_DIGITS].to_owned();
        Placing { nodes, hash }
    }

    /// Nodes with equal hashes agree on the owners of a generation.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// Ascending by name.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn placement(&self, replicas: u8) -> Placement {
        Placement::new(self.nodes.clone(), usize::from(replicas))
    }
}

/// Name of announced shards, to compare with the status in the store.
pub(crate) fn announced_name(shards: impl IntoIterator<Item = [u8; 32]>) -> String {
    let mut shards: Vec<[u8; 32]> = shards.into_iter().collect();
    shards.sort_unstable();
    let hash = blake3::hash(shards.as_flattened()).to_hex();
    hash[..HASH_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_depends_on_what_the_placement_depends_on() {
        let node = |name: &str, zone: &str, weight| Member {
            name: name.to_owned(),
            zone: zone.to_owned(),
            weight,
            ..Member::at("a:1")
        };
        let hash = |members: &[Member]| Placing::new(members).hash().to_owned();
        let (a, b) = (node("a", "east", 1), node("b", "west", 2));
        let both = hash(&[a.clone(), b.clone()]);
        assert_eq!(both, hash(&[b.clone(), a.clone()]));
        let moved = Member {
            address: "other:2".to_owned(),
            draining: true,
            ..a.clone()
        };
        assert_eq!(both, hash(&[moved, b.clone(), node("c", "east", 0)]));
        for other in [
            node("a", "west", 1),
            node("a", "east", 2),
            node("c", "east", 1),
        ] {
            assert_ne!(both, hash(&[other, b.clone()]));
        }
        assert_ne!(both, hash(&[a]));
    }
}
