//! Shards of a store and their assigned nodes.

use crate::placing::Placing;
use ::store::{Generation, Group, Objects, StoreError, groups};
use std::collections::BTreeMap;

pub(super) struct Shards {
    pub(super) generation: Generation,
    /// Ascending by id.
    pub(super) groups: Vec<Group>,
}

impl Shards {
    pub(super) fn read(objects: &Objects) -> Result<Shards, StoreError> {
        let generation = Generation::current(objects)?;
        let groups = groups(&generation);
        Ok(Shards { generation, groups })
    }

    pub(super) fn assigned(
        &self,
        placing: &Placing,
        replicas: u8,
    ) -> BTreeMap<String, Vec<&Group>> {
        let placement = placing.placement(replicas);
        let none = placing.nodes().iter();
        let mut assigned: BTreeMap<String, Vec<&Group>> =
            none.map(|node| (node.name.clone(), Vec::new())).collect();
        for group in &self.groups {
            for owner in placement.owners(&group.id) {
                assigned.entry(owner.name.clone()).or_default().push(group);
            }
        }
        assigned
    }
}

pub(super) fn shards(groups: &[&Group]) -> u64 {
    groups.iter().map(|group| group.shards.len() as u64).sum()
}

pub(super) fn bytes(groups: &[&Group]) -> u64 {
    groups.iter().map(|group| group.bytes).sum()
}
