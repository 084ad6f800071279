//! Shards that have parts of one package. They go to the same nodes, because a frontend takes a package from one backend.

use index::manifest::Manifest;
use std::collections::HashMap;

type ShardId = [u8; 32];

/// The groups of the shards of a generation.
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

    /// The id of the shard's group: the smallest id in it.
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
                })
                .collect(),
            revisions: None,
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
        };
        let groups = Groups::of(&manifest);
        let of = |id: u8| groups.of_shard(&[id; 32])[0];
        assert_eq!([7, 3, 5, 9, 2, 1].map(of), [3, 3, 3, 9, 2, 1]);
    }
}
