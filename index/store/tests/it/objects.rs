use crate::world::World;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use store::Objects;

/// Writers as in the documentation's figures.
const WRITERS: usize = 16;

fn content(objects: &Objects, name: &str) -> Vec<u8> {
    objects.read(name).unwrap().unwrap().0
}

#[test]
fn a_store_with_conditional_writes_is_accepted() {
    let world = World::new();
    world.objects.check().unwrap();
    assert_eq!(world.objects.list("check").unwrap(), []);
}

#[test]
fn an_object_is_changed_only_by_who_knows_its_version() {
    let world = World::new();
    let objects = &world.objects;
    assert_eq!(objects.read("a/pointer").unwrap(), None);
    let first = objects.swap("a/pointer", None, b"1").unwrap().unwrap();
    assert_eq!(objects.swap("a/pointer", None, b"x").unwrap(), None);
    let (bytes, known) = objects.read("a/pointer").unwrap().unwrap();
    assert_eq!((&bytes[..], &known), (&b"1"[..], &first));
    let second = objects
        .swap("a/pointer", Some(&first), b"2")
        .unwrap()
        .unwrap();
    let stale = objects.swap("a/pointer", Some(&first), b"x").unwrap();
    assert_eq!(stale, None);
    objects
        .swap("a/pointer", Some(&second), b"3")
        .unwrap()
        .unwrap();
    assert_eq!(content(objects, "a/pointer"), b"3");
    objects.delete("a/pointer").unwrap();
    objects.delete("a/pointer").unwrap();
    let gone = objects.swap("a/pointer", Some(&second), b"x").unwrap();
    assert_eq!(gone, None);
    assert_eq!(objects.read("a/pointer").unwrap(), None);
}

#[test]
fn of_racing_writers_one_succeeds_at_a_time() {
    let world = World::new();
    let objects = &world.objects;
    let reached = Mutex::new(Vec::new());
    let count = || {
        let mut added = 0;
        while added < 5 {
            let known = objects.read("counter").unwrap();
            let (number, version) = match &known {
                Some((bytes, version)) => {
                    let text = str::from_utf8(bytes).unwrap();
                    (text.parse::<usize>().unwrap(), Some(version))
                }
                None => (0, None),
            };
            let next = (number + 1).to_string();
            let put = objects.swap("counter", version, next.as_bytes());
            if put.unwrap().is_some() {
                reached.lock().unwrap().push(number + 1);
                added += 1;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(count);
        }
    });
    let reached = reached.into_inner().unwrap();
    let distinct: BTreeSet<_> = reached.iter().copied().collect();
    assert_eq!(reached.len(), 5 * WRITERS);
    assert_eq!(distinct, (1..=5 * WRITERS).collect());
}

#[test]
fn large_objects_are_whole_and_can_be_read_from_any_byte() {
    let world = World::new();
    let objects = &world.objects;
    // More than two parts of an upload.
    let bytes: Vec<u8> = (0..36_000_001_u32).map(|at| (at % 251) as u8).collect();
    objects
        .upload("files/large", &mut &bytes[..], bytes.len() as u64)
        .unwrap();
    let found = objects.head("files/large").unwrap().unwrap();
    assert_eq!(found.bytes, bytes.len() as u64);
    for offset in [0, 1, 16 << 20, bytes.len() - 1] {
        let mut read = Vec::new();
        assert!(
            objects
                .download("files/large", offset as u64, &mut read)
                .unwrap()
        );
        assert!(read == bytes[offset..], "from {offset}");
    }
    objects.upload("files/large", &mut &b"new"[..], 3).unwrap();
    assert_eq!(content(objects, "files/large"), b"new");
    let mut nothing = Vec::new();
    assert!(!objects.download("files/other", 0, &mut nothing).unwrap());
}

#[test]
fn a_list_has_what_is_directly_below_a_name() {
    let world = World::new();
    let objects = &world.objects;
    assert_eq!(objects.list("some").unwrap(), []);
    for name in ["some/b", "some/a", "something/c", "some/deeper/d"] {
        objects.swap(name, None, name.as_bytes()).unwrap();
    }
    let listed = objects.list("some").unwrap().into_iter();
    let listed: Vec<_> = listed.map(|object| (object.name, object.bytes)).collect();
    let expected = [("some/a".to_owned(), 6), ("some/b".to_owned(), 6)];
    assert_eq!(listed, expected);
}

#[test]
fn the_clock_of_the_store_is_that_of_its_objects() {
    let world = World::new();
    let objects = &world.objects;
    let modified = |name: &str| {
        objects.upload(name, &mut &b"1"[..], 1).unwrap();
        objects.head(name).unwrap().unwrap().modified
    };
    let before = modified("before");
    let now = objects.now().unwrap();
    assert!(before <= now && now <= modified("after"));
    assert_eq!(objects.list("check").unwrap(), []);
}
