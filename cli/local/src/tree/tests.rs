//! Directories of an answer.

use super::*;
use crate::condition::Condition;
use crate::place::{self, Place};
use expect_test::{Expect, expect};
use std::fmt::Write;

fn check(open: &[&str], scope: &str, candidates: &[&str], expected: Expect) {
    let open: HashSet<Vec<u8>> = open.iter().map(|path| path.as_bytes().to_vec()).collect();
    let none = HashSet::new();
    let mut answer = Answer {
        scope: scope.as_bytes(),
        open: [&open, &none],
        directories: Directories::new(),
        count: 0,
    };
    let mut text = String::new();
    if answer.is_searchable(scope.as_bytes()) {
        let open = open.iter().map(Vec::as_slice);
        let candidates = candidates.iter().map(|path| path.as_bytes());
        assert!(open.chain(candidates).all(|path| answer.add(path)));
        let mut lines: Vec<_> = answer.directories.iter().collect();
        lines.sort_by_key(|(directory, _)| *directory);
        for (directory, names) in lines {
            let mut names: Vec<_> = names
                .iter()
                .map(|name| String::from_utf8_lossy(name))
                .collect();
            names.sort();
            let directory = String::from_utf8_lossy(directory);
            writeln!(text, "{directory}: {}", names.join(" ")).unwrap();
        }
    } else {
        text.push_str("all\n");
    }
    expected.assert_eq(&text);
}

#[test]
fn an_answer_has_the_directories_above() {
    check(
        &[],
        "",
        &["a/b/x", "y"],
        expect![[r#"
        : y
        a: 
        a/b: x
    "#]],
    );
}

#[test]
fn below_an_open_path_no_directory_is_known() {
    check(
        &["a/b"],
        "",
        &["a/b/x", "a/b/c/y", "a/bc/z"],
        expect![[r#"
        : 
        a: b
        a/bc: z
    "#]],
    );
    check(
        &["a", "a/b"],
        "",
        &["a/b/x"],
        expect![[r#"
        : a
    "#]],
    );
}

#[test]
fn an_answer_is_limited_to_its_scope() {
    check(
        &["c"],
        "a/b",
        &["a/b/x", "a/y", "a/bc/z"],
        expect![[r#"
        : 
        a: 
        a/b: x
    "#]],
    );
    check(&["a"], "a/b", &["a/b/x"], expect!["all\n"]);
    check(&[""], "", &["x"], expect!["all\n"]);
}

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
    let condition = Condition {
        pattern: "alpha".to_owned(),
        ..Condition::default()
    };
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
