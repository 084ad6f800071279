use super::*;
use index::manifest::{Options, PackageEntry};
use proptest::prelude::*;

const NODES: usize = 3;
const PACKAGES: u8 = 5;

#[derive(Clone, Debug)]
enum Step {
    /// New versions, in a new shard of these owners.
    Publish(Vec<u8>, BTreeSet<usize>),
    Place(Vec<BTreeSet<usize>>),
    /// A node downloads, serves and reports.
    Sync(usize),
}

fn owners() -> impl Strategy<Value = BTreeSet<usize>> {
    prop::collection::btree_set(0..NODES, 1..=2)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let packages = prop::collection::vec(0..PACKAGES, 1..4);
    let step = prop_oneof![
        2 => (packages, owners()).prop_map(|(packages, owners)| Step::Publish(packages, owners)),
        1 => prop::collection::vec(owners(), 8).prop_map(Step::Place),
        6 => (0..NODES).prop_map(Step::Sync),
    ];
    prop::collection::vec(step, 1..60)
}

fn empty() -> Manifest {
    Manifest {
        options: Options {
            block_bytes: 4096,
            no_ignore: false,
        },
        shards: Vec::new(),
        beside: Vec::new(),
        recorded: None,
        precise: None,
    }
}

fn shard(id: u8, packages: &[u8]) -> ShardEntry {
    let packages = packages.iter().map(|package| PackageEntry {
        signature: u64::from(id),
        directory: vec![b'a' + package],
        is_dead: false,
        has_own_name: false,
    });
    ShardEntry {
        id: [id; 32],
        file: format!("{id:02x}.shard"),
        packages: packages.collect(),
        revisions: None,
        is_history: false,
    }
}

#[derive(Clone)]
struct Node {
    serves: Manifest,
    /// Last complete generation and map.
    done: (usize, usize),
}

struct Cluster {
    generation: (usize, Manifest),
    owners: BTreeMap<u8, BTreeSet<usize>>,
    map: usize,
    nodes: Vec<Node>,
    settled: BTreeSet<Vec<u8>>,
}

impl Cluster {
    fn sync(&mut self, number: usize) {
        let (generation, new) = &self.generation;
        let now = (*generation, self.map);
        let owns = |node: usize, shard: &ShardEntry| self.owners[&shard.id[0]].contains(&node);
        let is_ready = |shard: &ShardEntry| {
            let others = (0..NODES).filter(|&other| other != number);
            others
                .into_iter()
                .any(|other| owns(other, shard) && self.nodes[other].done == now)
        };
        let serves = manifest(
            &self.nodes[number].serves,
            new,
            &|shard| owns(number, shard),
            &is_ready,
        );
        self.nodes[number] = Node { serves, done: now };
    }

    fn check(&mut self) {
        let mut found = BTreeSet::new();
        for node in &self.nodes {
            let text = node.serves.render();
            // Refuses a package that is twice on a node.
            assert_eq!(Manifest::parse(text.as_bytes()), Ok(node.serves.clone()));
            found.extend(node.serves.live().map(|package| package.directory.clone()));
        }
        let lost: Vec<_> = self.settled.difference(&found).collect();
        assert!(lost.is_empty(), "nowhere: {lost:?}");
        self.settled = found;
    }
}

proptest! {
    #[test]
    fn a_package_that_is_somewhere_is_never_nowhere(steps in steps()) {
        let nodes = vec![Node { serves: empty(), done: (0, 0) }; NODES];
        let mut cluster = Cluster {
            generation: (0, empty()),
            owners: BTreeMap::new(),
            map: 0,
            nodes,
            settled: BTreeSet::new(),
        };
        for step in steps {
            match step {
                Step::Publish(mut packages, owners) => {
                    packages.sort_unstable();
                    packages.dedup();
                    let (number, manifest) = &mut cluster.generation;
                    *number += 1;
                    let id = *number as u8;
                    for package in manifest.shards.iter_mut().flat_map(|it| &mut it.packages) {
                        package.is_dead |= packages.contains(&(package.directory[0] - b'a'));
                    }
                    manifest.shards.push(shard(id, &packages));
                    manifest.shards.retain(|it| it.live().next().is_some());
                    cluster.owners.insert(id, owners);
                }
                Step::Place(new) => {
                    cluster.map += 1;
                    for (owners, new) in cluster.owners.values_mut().zip(new) {
                        *owners = new;
                    }
                }
                Step::Sync(node) => cluster.sync(node),
            }
            cluster.check();
        }
        // Now all shards reach their place.
        for _ in 0..2 {
            (0..NODES).for_each(|node| cluster.sync(node));
            cluster.check();
        }
        for (number, node) in cluster.nodes.iter().enumerate() {
            let mut expected = cluster.generation.1.clone();
            expected.shards.retain(|shard| cluster.owners[&shard.id[0]].contains(&number));
            prop_assert_eq!(&node.serves.shards, &expected.shards);
        }
    }
}

fn with_table(mut shard: ShardEntry, table: u8) -> ShardEntry {
    shard.revisions = Some(index::manifest::NamedFile {
        hash: [table; 32],
        file: format!("{table:02x}.revisions"),
    });
    shard
}

fn of(shards: &[ShardEntry]) -> Manifest {
    Manifest {
        shards: shards.to_vec(),
        ..empty()
    }
}

#[test]
fn packages_that_share_a_changed_table_wait_together() {
    let old = of(&[with_table(shard(1, &[0, 1]), 1)]);
    // Another part of package 1.
    let new = of(&[
        with_table(shard(1, &[0, 1]), 2),
        with_table(shard(3, &[1]), 3),
    ]);
    let has = |shard: &ShardEntry| shard.id[0] == 1;
    assert_eq!(manifest(&old, &new, &has, &|_| false), old);
    let all = manifest(&old, &new, &has, &|_| true);
    assert_eq!(all.shards, new.shards[..1]);
}

#[test]
fn a_package_that_was_dropped_waits_for_nothing() {
    let old = of(&[shard(1, &[0]), shard(2, &[1])]);
    let new = of(&[shard(2, &[1])]);
    assert_eq!(manifest(&old, &new, &|_| true, &|_| false), new);
}
