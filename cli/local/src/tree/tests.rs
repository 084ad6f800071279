//! Directories of an answer.

use super::*;
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
