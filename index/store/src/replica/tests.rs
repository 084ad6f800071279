use super::*;
use crate::publish::publish;
use index::corpus;
use index::directory::Index;
use index::indexing::{self, BuildOptions, Progress};

struct World {
    root: tempfile::TempDir,
    objects: Objects,
}

impl World {
    fn new() -> World {
        let root = tempfile::tempdir().unwrap();
        let objects = Objects::open(root.path().join("store").to_str().unwrap()).unwrap();
        World { root, objects }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn publish(&self, package: &str, text: &str) {
        let source = self.path("sources").join(package);
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("file.c"), text).unwrap();
        let sources = corpus::packages(&[source], false, true).unwrap().sources;
        let out = self.path("index");
        let options = BuildOptions {
            jobs: 1,
            shard_bytes: 1,
            ..BuildOptions::default()
        };
        let changes = Default::default();
        indexing::update(sources, &changes, &out, &options, &Progress::default()).unwrap();
        publish(&self.objects, &out, None, false, &Transfer::default()).unwrap();
    }

    fn replica(&self) -> Result<Replica, StoreError> {
        let options = reserving(0);
        Replica::open(self.objects.clone(), &self.path("data"), options)
    }

    fn packages(&self) -> Vec<String> {
        let index = Index::open(&self.path("data")).unwrap();
        let names = index.manifest.live();
        let mut names: Vec<_> = names
            .map(|package| String::from_utf8_lossy(&package.directory).into_owned())
            .collect();
        names.sort();
        names
    }
}

fn reserving(reserve: u64) -> FetchOptions {
    FetchOptions {
        files: 4,
        bytes_per_second: None,
        reserve,
    }
}

fn sync(replica: &Replica) -> Result<Synced, StoreError> {
    replica.sync(None, false, &Transfer::default())
}

#[test]
fn a_directory_follows_the_store() {
    let world = World::new();
    let replica = world.replica().unwrap();
    assert_eq!(sync(&replica).unwrap(), Synced::default());
    assert_eq!(world.packages(), Vec::<String>::new());
    world.publish("a_1", "int main;");
    assert_eq!(replica.generations().unwrap(), (0, 1));
    assert_eq!(sync(&replica).unwrap().shards, 1);
    world.publish("b_1", "void f;");
    let second = sync(&replica).unwrap();
    assert_eq!(
        (second.generation, second.shards, second.fetched_files),
        (2, 2, 1)
    );
    assert_eq!(world.packages(), ["a_1", "b_1"]);
    assert_eq!(replica.generations().unwrap(), (2, 2));
    assert!(!sync(&replica).unwrap().is_changed);
}

/// Has the shard of one package.
struct Only {
    package: &'static [u8],
    others_are_ready: bool,
}

impl Share for Only {
    fn owns(&self, generation: &Generation, group: &[u8; 32]) -> bool {
        let mut shards = generation.manifest.shards.iter();
        let shard = shards.find(|shard| shard.id == *group).unwrap();
        shard
            .packages
            .iter()
            .any(|package| package.directory == self.package)
    }

    fn is_ready(&self, _: &Generation, _: &[u8; 32]) -> bool {
        self.others_are_ready
    }
}

#[test]
fn shards_of_others_stay_until_these_are_ready_and_are_removed_then() {
    let world = World::new();
    world.publish("a_1", "int main;");
    world.publish("b_1", "void f;");
    let replica = world.replica().unwrap();
    assert!(sync(&replica).unwrap().is_settled);
    let sync_as = |others_are_ready| {
        let share = Only {
            package: b"b_1",
            others_are_ready,
        };
        replica
            .sync(Some(&share), false, &Transfer::default())
            .unwrap()
    };
    assert!(!sync_as(false).is_settled);
    assert_eq!(world.packages(), ["a_1", "b_1"]);
    let synced = sync_as(true);
    assert_eq!(
        (synced.shards, synced.all_shards, synced.is_settled),
        (1, 2, true)
    );
    assert_eq!(world.packages(), ["b_1"]);
    let shards = fs::read_dir(world.path("data")).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_str().unwrap().ends_with(".shard")
    });
    assert_eq!(shards.count(), 1);
}

#[test]
fn a_new_node_fetches_only_what_it_is_to_have() {
    let world = World::new();
    world.publish("a_1", "int main;");
    world.publish("b_1", "void f;");
    let share = Only {
        package: b"a_1",
        others_are_ready: false,
    };
    let replica = world.replica().unwrap();
    let synced = replica
        .sync(Some(&share), false, &Transfer::default())
        .unwrap();
    assert_eq!(
        (synced.shards, synced.fetched_files, synced.is_settled),
        (1, 1, true)
    );
    assert_eq!(world.packages(), ["a_1"]);
}

fn only_shard(world: &World) -> (PathBuf, Vec<u8>) {
    let generation = Generation::current(&world.objects).unwrap();
    let (_, file) = generation.files.iter().next().unwrap();
    let path = world.path("store").join(file.object());
    let bytes = fs::read(&path).unwrap();
    (path, bytes)
}

#[test]
fn a_file_that_was_begun_is_continued() {
    let world = World::new();
    world.publish("a_1", "int main;");
    let (object, bytes) = only_shard(&world);
    let part = world.path("data").join(format!(
        "{}{PART}",
        object.file_name().unwrap().to_str().unwrap()
    ));
    // Right bytes are kept.
    let replica = world.replica().unwrap();
    fs::write(&part, &bytes[..100]).unwrap();
    let mut lost = bytes.clone();
    lost[..100].fill(0);
    fs::write(&object, &lost).unwrap();
    sync(&replica).unwrap();
    assert_eq!(world.packages(), ["a_1"]);
}

#[test]
fn damaged_foreign_and_missing_objects_are_never_served() {
    let world = World::new();
    world.publish("a_1", "int main;");
    let (object, bytes) = only_shard(&world);
    let replica = world.replica().unwrap();
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    let longer = [&bytes[..], b"more"].concat();
    for bad in [
        &changed[..],
        &bytes[..bytes.len() - 1],
        b"foreign",
        &longer,
        b"",
    ] {
        fs::write(&object, bad).unwrap();
        assert!(sync(&replica).is_err());
        assert_eq!(world.packages(), Vec::<String>::new());
    }
    fs::remove_file(&object).unwrap();
    assert!(sync(&replica).unwrap_err().is_damage());
    fs::write(&object, &bytes).unwrap();
    sync(&replica).unwrap();
    assert_eq!(world.packages(), ["a_1"]);
}

#[test]
fn an_older_head_is_refused_unless_told() {
    let world = World::new();
    world.publish("a_1", "int main;");
    let head = world.path("store").join("HEAD");
    let old = fs::read(&head).unwrap();
    world.publish("b_1", "void f;");
    let replica = world.replica().unwrap();
    sync(&replica).unwrap();
    fs::write(&head, old).unwrap();
    let error = sync(&replica).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Older {
                head: 1,
                seen: 2,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(world.packages(), ["a_1", "b_1"]);
    replica.sync(None, true, &Transfer::default()).unwrap();
    assert_eq!(world.packages(), ["a_1"]);
}

#[test]
fn a_directory_of_another_store_is_refused() {
    let world = World::new();
    world.publish("a_1", "int main;");
    sync(&world.replica().unwrap()).unwrap();
    let other = World::new();
    other.publish("b_1", "void f;");
    let replica = Replica::open(
        other.objects.clone(),
        &world.path("data"),
        reserving(1 << 30),
    );
    let error = sync(&replica.unwrap()).unwrap_err();
    assert!(matches!(error, StoreError::OtherStore(_)), "{error}");
}

#[test]
fn a_full_disk_is_noticed_before_anything_is_fetched() {
    let world = World::new();
    world.publish("a_1", "int main;");
    let options = reserving(u64::MAX);
    let replica = Replica::open(world.objects.clone(), &world.path("data"), options).unwrap();
    let error = sync(&replica).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert_eq!(world.packages(), Vec::<String>::new());
}

#[test]
fn two_processes_cannot_keep_one_directory() {
    let world = World::new();
    let _first = world.replica().unwrap();
    assert!(world.replica().is_err());
}

#[test]
fn exchanged_objects_are_never_served() {
    let world = World::new();
    world.publish("a_1", "int main;");
    world.publish("b_1", "void f;");
    let store = world.path("store");
    let exchange = |below: &str| {
        let entries = fs::read_dir(store.join(below)).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let [.., one, two] = &paths[..] else {
            panic!("{paths:?}");
        };
        let aside = store.join("aside");
        fs::rename(one, &aside).unwrap();
        fs::rename(two, one).unwrap();
        fs::rename(&aside, two).unwrap();
    };
    for below in ["files", "generations"] {
        let replica =
            Replica::open(world.objects.clone(), &world.path(below), reserving(0)).unwrap();
        exchange(below);
        let error = sync(&replica).unwrap_err();
        assert!(
            error.to_string().contains(&format!("store/{below}/")),
            "{error}"
        );
        assert!(replica.shards().unwrap().is_empty());
        exchange(below);
        sync(&replica).unwrap();
        assert_eq!(replica.shards().unwrap().len(), 2);
    }
}

#[test]
fn objects_of_others_beside_its_own_are_ignored() {
    let world = World::new();
    for name in [
        "README",
        "files/README",
        "generations/x",
        "nodes/x.txt",
        "other/y",
    ] {
        world.objects.upload(name, &mut &b"hello"[..], 5).unwrap();
    }
    world.publish("a_1", "int main;");
    sync(&world.replica().unwrap()).unwrap();
    assert_eq!(world.packages(), ["a_1"]);
}

/// `/dev/full` is a disk without room.
#[test]
fn a_disk_that_fills_up_while_a_file_is_fetched_is_named_and_nothing_is_lost() {
    let world = World::new();
    world.publish("a_1", "int main;");
    let replica = world.replica().unwrap();
    sync(&replica).unwrap();
    world.publish("b_1", "void f;");
    let generation = Generation::current(&world.objects).unwrap();
    let parts: Vec<PathBuf> = (generation.files.values())
        .map(|file| {
            world
                .path("data")
                .join(format!("{}{PART}", index::manifest::hex(&file.hash)))
        })
        .collect();
    for part in &parts {
        std::os::unix::fs::symlink("/dev/full", part).unwrap();
    }
    let error = sync(&replica).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert!(
        error.to_string().contains("--data needs a larger disk"),
        "{error}"
    );
    assert_eq!(world.packages(), ["a_1"]);
    for part in &parts {
        fs::remove_file(part).unwrap();
    }
    sync(&replica).unwrap();
    assert_eq!(world.packages(), ["a_1", "b_1"]);
}

#[test]
fn a_generation_of_a_newer_format_changes_nothing() {
    let world = World::new();
    world.publish("a_1", "int main;");
    let replica = world.replica().unwrap();
    sync(&replica).unwrap();
    let (head, _) = Head::read(&world.objects).unwrap().unwrap();
    let text = "trawl-generation 2\nof a later version\n";
    let id = crate::generation::GenerationId {
        number: 2,
        hash: *blake3::hash(text.as_bytes()).as_bytes(),
    };
    let path = world.path("store").join(id.object());
    fs::write(path, text).unwrap();
    let head = format!("trawl-store 1 {}\n{id}\n", head.store);
    fs::write(world.path("store/HEAD"), head).unwrap();
    let error = sync(&replica).unwrap_err();
    let expected = "format 2; this version of Trawl reads format 1: update Trawl";
    assert!(error.to_string().ends_with(expected), "{error}");
    assert_eq!(world.packages(), ["a_1"]);
}
