//! Comparison of the files of a tree with its index.

use super::*;
use crate::condition::Condition;
use crate::place;
use index::plan::{DocumentQuery, plan};

#[test]
fn a_file_is_left_out_if_it_is_as_in_the_record() {
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join("cache");
    fs::create_dir(&cache).unwrap();
    let place = Place::new(Some(&cache)).unwrap();
    place.create().unwrap();
    let root = home.path().join("t");
    fs::create_dir(&root).unwrap();
    for (name, text) in [
        ("a", "alpha\n"),
        ("b", "beta\n"),
        ("c", "a\0"),
        ("d", "\u{feff}b"),
    ] {
        fs::write(root.join(name), text).unwrap();
    }
    let directory = place.directory_of(&root);
    // Recorded as if it began when all times of files were long ago.
    let began_ns = i128::MAX;
    fs::create_dir_all(&directory).unwrap();
    update::index_at(root.clone(), &directory, None, &[][..], began_ns).unwrap();
    let query = DocumentQuery::Block(plan("alpha", false).unwrap());
    let condition = Condition::of(query);
    let open = || Comparison::open(&place, &root, &condition);
    let can_match = |name: &str| {
        let found = fs::symlink_metadata(root.join(name)).unwrap();
        open().unwrap().can_match(name.as_bytes(), &found)
    };
    let can: Vec<_> = ["a", "b", "c", "d"].into_iter().map(can_match).collect();
    assert_eq!(can, [true, false, true, false]);
    fs::write(root.join("b"), "gamma").unwrap();
    assert!(can_match("b"));
    fs::rename(root.join("d"), root.join("b")).unwrap();
    assert!(can_match("b"));
    let record = place::record_in(&directory);
    let bytes = fs::read(&record).unwrap();
    fs::write(&record, &bytes[..60]).unwrap();
    assert!(open().is_err());
    fs::write(&record, [&bytes[..8], &[0; 32], &bytes[40..]].concat()).unwrap();
    assert_eq!(open().unwrap_err().to_string(), "another index");
}

#[test]
fn the_index_of_a_similar_tree_is_shared() {
    let home = tempfile::tempdir().unwrap();
    let place = Place::new(Some(&home.path().join("cache"))).unwrap();
    place.create().unwrap();
    let root = |name: &str| {
        let root = home.path().join(name);
        fs::create_dir(&root).unwrap();
        root
    };
    let (first, second, other) = (root("first"), root("second"), root("other"));
    for name in ["a", "b", "c", "d"] {
        fs::write(first.join(name), "text\n").unwrap();
        fs::write(second.join(name), "text\n").unwrap();
    }
    let directory = place.directory_of(&first);
    fs::create_dir(&directory).unwrap();
    update::index_at(first, &directory, None, &[][..], 0).unwrap();
    let own = place.directory_of(&second);
    fs::create_dir(&own).unwrap();
    assert_eq!(similar::find(&second, &own), Some(directory.clone()));
    assert_eq!(similar::find(&other, &place.directory_of(&other)), None);
    let (index, shared) = (place::index_in(&directory), place::index_in(&own));
    place::link(&index, &shared).unwrap();
    assert_eq!(place::bytes([&*index, &*shared]), place::bytes([&*index]));
    update::index_at(second.clone(), &own, Some(0), &[][..], 0).unwrap();
    assert_eq!(similar::root_of(&own), Some(second));
}
