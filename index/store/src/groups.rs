//! Groups of shards with parts of one package. They go to the same nodes, because a frontend takes
//! a package from one backend.

use crate::generation::Generation;
use index::manifest::Manifest;
use std::collections::{BTreeMap, HashMap};

type ShardId = [u8; 32];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Decides the nodes.
    pub id: [u8; 32],
    pub shards: Vec<[u8; 32]>,
    pub bytes: u64,
}

/// Ascending.
pub fn groups(generation: &Generation) -> Vec<Group> {
    let ids = Groups::of(&generation.manifest);
    let mut groups: BTreeMap<ShardId, Group> = BTreeMap::new();
    for shard in &generation.manifest.shards {
        let id = ids.of_shard(&shard.id);
        let group = groups.entry(id).or_insert(Group {
            id,
            shards: Vec::new(),
            bytes: 0,
        });
        group.shards.push(shard.id);
        let table = shard.revisions.as_ref().map(|table| &table.file);
        let files = [Some(&shard.file), table].into_iter().flatten();
        let stored = files.filter_map(|name| generation.files.get(name));
        group.bytes += stored.map(|file| file.bytes).sum::<u64>();
    }
    groups.into_values().collect()
}

pub(crate) struct Groups(HashMap<ShardId, ShardId>);

impl Groups {
    pub(crate) fn of(manifest: &Manifest) -> Groups {
        let mut groups = Groups(HashMap::new());
        let mut first: HashMap<&[u8], ShardId> = HashMap::new();
        for shard in &manifest.shards {
            for package in shard.live() {
                let other = *first.entry(&package.directory).or_insert(shard.id);
                groups.join(shard.id, other);
            }
        }
        groups
    }

    /// The smallest id in its group.
    pub(crate) fn of_shard(&self, shard: &ShardId) -> ShardId {
        let mut id = *shard;
        while let Some(smaller) = self.0.get(&id) {
            id = *smaller;
        }
        id
    }

    fn join(&mut self, a: ShardId, b: ShardId) {
        let (a, b) = (self.of_shard(&a), self.of_shard(&b));
        if a != b {
            self.0.insert(a.max(b), a.min(b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use index::manifest::{Options, PackageEntry, ShardEntry};

    #[test]
    fn shards_with_parts_of_a_package_are_a_group() {
        let shard = |(id, packages): &(u8, &str)| ShardEntry {
            id: [*id; 32],
            file: String::new(),
            packages: (packages.bytes())
                .map(|name| PackageEntry {
                    signature: 0,
                    directory: vec![name.to_ascii_lowercase()],
                    is_dead: name.is_ascii_uppercase(),
                    has_own_name: false,
                })
                .collect(),
            revisions: None,
            is_history: false,
        };
        let shards = [
            (7, "ab"),
            (3, "bc"),
            (9, "d"),
            (5, "cA"),
            (2, "Dx"),
            (1, "y"),
        ];
        let manifest = Manifest {
            options: Options {
                block_bytes: 1,
                no_ignore: false,
            },
            shards: shards.iter().map(shard).collect(),
            beside: Vec::new(),
            recorded: None,
            precise: None,
        };
        let groups = Groups::of(&manifest);
        let of = |id: u8| groups.of_shard(&[id; 32])[0];
        assert_eq!([7, 3, 5, 9, 2, 1].map(of), [3, 3, 3, 9, 2, 1]);
    }
}
