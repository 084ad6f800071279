use super::*;
use index::manifest::{Options, PackageEntry};
use proptest::prelude::*;

const PACKAGES: u8 = 5;

#[derive(Clone, Default)]
struct Machine {
    base: Option<Manifest>,
    /// Shards of its packages.
    places: BTreeMap<u8, BTreeSet<u8>>,
    /// Changes since it published.
    changed: BTreeSet<u8>,
}

#[derive(Clone, Debug)]
enum Step {
    Index(usize, Vec<u8>),
    Drop(usize, u8),
    Publish(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let machine = || 0..3_usize;
    let step = prop_oneof![
        3 => (machine(), prop::collection::vec(0..PACKAGES, 1..4)).prop_map(|(m, p)| Step::Index(m, p)),
        1 => (machine(), 0..PACKAGES).prop_map(|(m, p)| Step::Drop(m, p)),
        3 => machine().prop_map(Step::Publish),
    ];
    prop::collection::vec(step, 1..40)
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

fn manifest(shards: &BTreeMap<u8, Vec<u8>>, live: &BTreeMap<u8, BTreeSet<u8>>) -> Manifest {
    let shard = |(&id, packages): (&u8, &Vec<u8>)| {
        let packages = packages.iter().map(|package| PackageEntry {
            signature: u64::from(id),
            directory: vec![b'a' + package],
            is_dead: !live.get(package).is_some_and(|shards| shards.contains(&id)),
            has_own_name: false,
        });
        let packages: Vec<_> = packages.collect();
        packages.iter().any(|it| !it.is_dead).then(|| ShardEntry {
            id: [id; 32],
            file: format!("{id:02x}.shard"),
            packages,
            revisions: None,
            is_history: false,
        })
    };
    Manifest {
        shards: shards.iter().filter_map(shard).collect(),
        ..empty()
    }
}

fn live(manifest: &Manifest) -> BTreeMap<u8, BTreeSet<u8>> {
    let places = places(manifest).into_iter();
    places
        .map(|(name, shards)| (name[0] - b'a', shards.iter().map(|id| id[0]).collect()))
        .collect()
}

proptest! {
    #[test]
    fn no_machine_loses_a_package_of_another(steps in steps()) {
        let mut machines = vec![Machine::default(); 3];
        let mut shards: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
        let mut store = empty();
        for step in steps {
            match step {
                Step::Index(number, mut packages) => {
                    packages.sort_unstable();
                    packages.dedup();
                    let id = shards.len() as u8;
                    let machine = &mut machines[number];
                    for &package in &packages {
                        machine.places.insert(package, BTreeSet::from([id]));
                        machine.changed.insert(package);
                    }
                    shards.insert(id, packages);
                }
                Step::Drop(number, package) => {
                    machines[number].places.remove(&package);
                    machines[number].changed.insert(package);
                }
                Step::Publish(number) => {
                    let machine = &mut machines[number];
                    let ours = manifest(&shards, &machine.places);
                    let before = live(&store);
                    let published = machine.base.as_ref().map(live).unwrap_or_default();
                    store = manifests(machine.base.as_ref(), &ours, &store, false);
                    let text = store.render();
                    prop_assert_eq!(Manifest::parse(text.as_bytes()), Ok(store.clone()));
                    let after = live(&store);
                    for package in 0..PACKAGES {
                        let of = |places: &BTreeMap<u8, BTreeSet<u8>>| places.get(&package).cloned();
                        let expected = if !machine.changed.contains(&package) {
                            of(&before)
                        } else if let Some(ours) = of(&machine.places) {
                            Some(ours)
                        } else if of(&before) == of(&published) {
                            None
                        } else {
                            of(&before)
                        };
                        prop_assert_eq!(of(&after), expected, "package {}", package);
                    }
                    machine.base = Some(ours);
                    machine.changed.clear();
                }
            }
        }
    }
}

fn named(byte: u8) -> Option<NamedFile> {
    Some(NamedFile {
        hash: [byte; 32],
        file: format!("{byte:02x}.revisions"),
    })
}

fn with_table(packages: &[u8], table: u8) -> Manifest {
    let shards = BTreeMap::from([(1, packages.to_vec())]);
    let live = packages
        .iter()
        .map(|&it| (it, BTreeSet::from([1])))
        .collect();
    let mut made = manifest(&shards, &live);
    made.shards[0].revisions = named(table);
    made
}

#[test]
fn a_table_that_one_side_has_changed_is_taken_from_it() {
    let base = with_table(&[0, 1], 1);
    let changed = with_table(&[0, 1], 2);
    assert_eq!(manifests(Some(&base), &changed, &base, true), changed);
    assert_eq!(manifests(Some(&base), &base, &changed, true), changed);
}

#[test]
fn a_shard_whose_table_both_have_changed_is_taken_as_a_whole() {
    let base = with_table(&[0, 1], 1);
    let ours = with_table(&[0, 1], 2);
    // One package moves to another shard.
    let mut theirs = with_table(&[0, 1], 3);
    theirs.shards[0].packages[1].is_dead = true;
    let moved = manifest(
        &BTreeMap::from([(2, vec![1])]),
        &BTreeMap::from([(1, BTreeSet::from([2]))]),
    );
    theirs.shards.extend(moved.shards);
    assert_eq!(manifests(Some(&base), &ours, &theirs, true), ours);
}

#[test]
fn what_lies_beside_is_that_of_each_machine() {
    let beside = |paths: &[&str]| Manifest {
        beside: (paths.iter())
            .map(|path| Beside {
                path: path.as_bytes().to_vec(),
                reason: "hidden".to_owned(),
            })
            .collect(),
        ..empty()
    };
    let merged = manifests(
        Some(&beside(&["/a", "/b"])),
        &beside(&["/b", "/c"]),
        &beside(&["/a", "/b", "/x"]),
        true,
    );
    assert_eq!(merged, beside(&["/b", "/c", "/x"]));
}

#[test]
fn the_newer_record_of_a_repository_is_kept() {
    let record = |package: &[u8], indexed| RecordedRepository {
        package: package.to_vec(),
        indexed,
        ..RecordedRepository::default()
    };
    let recorded_of = |all: &[(&[u8], u64)]| Recorded {
        repositories: all
            .iter()
            .map(|&(package, at)| record(package, at))
            .collect(),
        sources: Vec::new(),
    };
    let merged = manifest(
        &BTreeMap::from([(1, vec![0, 1])]),
        &BTreeMap::from([(0, BTreeSet::from([1])), (1, BTreeSet::from([1]))]),
    );
    let ours = recorded_of(&[(b"a", 5), (b"b", 1)]);
    let theirs = recorded_of(&[(b"a", 3), (b"b", 2), (b"gone", 9)]);
    assert_eq!(
        recorded(&merged, ours, theirs),
        recorded_of(&[(b"a", 5), (b"b", 2)])
    );
}

#[test]
fn a_package_that_is_added_replaces_its_other_versions_if_that_is_asked_for() {
    let of = |names: &[&str], id: u8| {
        let packages = names.iter().map(|name| PackageEntry {
            signature: 0,
            directory: name.as_bytes().to_vec(),
            is_dead: false,
            has_own_name: false,
        });
        let shard = ShardEntry {
            id: [id; 32],
            file: format!("{id}.shard"),
            packages: packages.collect(),
            revisions: None,
            is_history: false,
        };
        Manifest {
            shards: vec![shard],
            ..empty()
        }
    };
    let theirs = of(&["bash_5.1", "sed_4"], 1);
    let ours = of(&["bash_5.2", "dash_1"], 2);
    let merged = manifests(None, &ours, &theirs, true);
    let names: Vec<_> = merged
        .live()
        .map(|it| String::from_utf8_lossy(&it.directory))
        .collect();
    assert_eq!(names, ["sed_4", "bash_5.2", "dash_1"]);
    // Earlier packages replace nothing: both may be wanted.
    let merged = manifests(Some(&ours), &ours, &theirs, true);
    assert_eq!(merged.live().count(), 2);
    // Versions stay without the option, or with a name of their own.
    let merged = manifests(None, &ours, &theirs, false);
    assert_eq!(merged.live().count(), 4);
    let mut own = theirs.clone();
    own.shards[0].packages[0].has_own_name = true;
    assert_eq!(manifests(None, &ours, &own, true).live().count(), 4);
    let mut own = ours.clone();
    own.shards[0].packages[0].has_own_name = true;
    assert_eq!(manifests(None, &own, &theirs, true).live().count(), 4);
}
