//! Git repositories as packages: indexed files equal those of `git`, and step-by-step updates equal
//! a fresh build.

mod histories;
mod hostile;
mod random;
pub(crate) mod support;
mod updates;

use index::shard::Shard;
use std::sync::Arc;
use support::{Fixture, contents, skipped};

#[test]
fn a_repository_is_its_default_branch() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool.git", &["--bare"]);
    repository.import(
        "refs/heads/main",
        &[("src/a.c", Some("int a;\n")), ("b.md", Some("# b\n"))],
    );
    repository.import("refs/heads/other", &[("c.c", Some("int c;\n"))]);
    let report = fixture.update(&[&repository], &[]);
    assert_eq!((report.packages, report.documents), (1, 2));
    assert_eq!(report.problems, []);
    let commit = repository.git(&["rev-parse", "main"]);
    assert_eq!(
        contents(&fixture.index()),
        [
            format!("tool/b.md refs/heads/main@{commit} \"# b\\n\""),
            format!("tool/src/a.c refs/heads/main@{commit} \"int a;\\n\""),
        ]
    );
}

#[test]
fn a_file_of_several_revisions_is_one_document_and_a_changed_one_two() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    repository.import(
        "refs/heads/main",
        &[("a.c", Some("one\n")), ("b.c", Some("same\n"))],
    );
    repository.git(&["tag", "v1", "main"]);
    repository.import("refs/heads/main", &[("a.c", Some("two\n"))]);
    let report = fixture.update(&[&repository], &["all"]);
    // Documents of the default branch.
    assert_eq!(report.documents, 2);
    let lines: Vec<String> = (contents(&fixture.index()).iter())
        .map(|line| line.split('@').next().unwrap().to_owned())
        .collect();
    assert_eq!(
        lines,
        [
            "tool/a.c refs/heads/main",
            "tool/a.c refs/tags/v1",
            "tool/b.c refs/heads/main"
        ]
    );
    assert_eq!(fixture.index().shards[0].text_count(), 3);
}

#[test]
fn what_is_no_text_is_listed_with_the_reason() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n";
    repository.import(
        "refs/heads/main",
        &[
            ("bin", Some("a\0b")),
            ("big.psd", Some(lfs)),
            ("wide.txt", Some("\u{feff}text\n")),
        ],
    );
    let commit = repository.git(&["rev-parse", "main"]);
    repository.stage("120000", &repository.blob("../../etc/passwd"), "link");
    repository.stage("160000", &commit, "module");
    repository.commit_staged("more");
    fixture.update(&[&repository], &[]);
    assert_eq!(
        skipped(&fixture.index()),
        [
            "tool/big.psd a pointer of Git LFS to 12 bytes, sha256 ab".to_owned(),
            "tool/bin binary".to_owned(),
            "tool/link a symbolic link".to_owned(),
            format!("tool/module a submodule at commit {commit}"),
        ]
    );
    let lines = contents(&fixture.index());
    assert!(lines[0].ends_with("\"text\\n\""), "{lines:?}");
}

#[test]
fn what_gitattributes_calls_generated_or_vendored_ranks_as_such() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    repository.import(
        "refs/heads/main",
        &[
            (
                ".gitattributes",
                Some("*.gen.c linguist-generated\nvendor/own/** -linguist-vendored\n"),
            ),
            ("a.gen.c", Some("int a;\n")),
            ("b.c", Some("int b;\n")),
            ("vendor/own/c.c", Some("int c;\n")),
            ("vendor/d.c", Some("int d;\n")),
        ],
    );
    fixture.update(&[&repository], &[]);
    let index = fixture.index();
    let rank = |path: &str| {
        let shard = &index.shards[0];
        let id = shard.find(b"tool", path.as_bytes()).unwrap().unwrap();
        shard.document(id).unwrap().static_rank
    };
    assert_eq!((rank("a.gen.c"), rank("vendor/d.c")), (0.0, 0.0));
    assert_eq!((rank("b.c"), rank("vendor/own/c.c")), (0.3, 0.3));
}

#[test]
fn gitattributes_set_the_languages_of_repositories_and_directories() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    let directory = fixture.path("plain");
    std::fs::create_dir(&directory).unwrap();
    let languages = |attributes: &str| {
        let files = [
            (".gitattributes", attributes),
            ("a.h", "namespace a {}\n"),
            ("b.inc", "x\n"),
            ("c.c", "int c;\n"),
        ];
        let of_repository = files.map(|(path, text)| (path, Some(text)));
        repository.import("refs/heads/main", &of_repository);
        for (path, text) in files {
            std::fs::write(directory.join(path), text).unwrap();
        }
        fixture.update_with(&[&repository], &[], std::slice::from_ref(&directory));
        let index = fixture.index();
        ["tool", "plain"].map(|package| {
            let paths = ["a.h", "b.inc", "c.c"];
            let found = paths.map(|path| {
                let find = |shard: &Arc<Shard>| {
                    let id = shard.find(package.as_bytes(), path.as_bytes());
                    let document = shard.document(id.unwrap()?).unwrap();
                    Some(shard.language(&document).unwrap().to_owned())
                };
                index.shards.iter().find_map(find).unwrap()
            });
            found.join(" ")
        })
    };
    for (attributes, expected) in [
        ("", "C++  C"),
        ("*.inc linguist-language=C++\n", "C++ C++ C"),
        (
            "*.h linguist-language=C\n*.c linguist-language=objective-c++\n",
            "C  Objective-C++",
        ),
        ("*.c linguist-language=unheard-of\n", "C++  C"),
    ] {
        assert_eq!(languages(attributes), [expected; 2], "{attributes}");
    }
}

#[test]
fn a_repository_and_a_directory_are_packages_of_one_index() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    repository.import("refs/heads/main", &[("a.c", Some("shared\n"))]);
    let directory = fixture.path("plain");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("b.c"), "shared\n").unwrap();
    let report = fixture.update_with(&[&repository], &[], &[directory]);
    assert_eq!(
        (report.packages, report.documents, report.shards),
        (2, 2, 1)
    );
    let index = fixture.index();
    assert_eq!(index.shards[0].text_count(), 1);
    let lines = contents(&index);
    assert_eq!(lines[0], "plain/b.c  \"shared\\n\"");
    assert!(
        lines[1].starts_with("tool/a.c refs/heads/main@"),
        "{lines:?}"
    );
    // The directory is dropped by name; the repository stays.
    fixture.update_with(&[&repository], &[], &[]);
    assert_eq!(contents(&fixture.index()).len(), 2);
}
