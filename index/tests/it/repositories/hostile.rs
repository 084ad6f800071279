//! Damaged and malicious repositories affect only themselves.

use super::support::{Fixture, contents, skipped};

#[test]
fn a_missing_or_damaged_object_is_one_skipped_file() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    repository.import(
        "refs/heads/main",
        &[
            ("a", Some("a\n")),
            ("d/b", Some("b\n")),
            ("e", Some("e\n")),
            ("f/g/h", Some("h\n")),
        ],
    );
    let object = |name: &str| {
        let id = repository.git(&["rev-parse", &format!("main:{name}")]);
        (
            repository
                .path
                .join(".git/objects")
                .join(&id[..2])
                .join(&id[2..]),
            id,
        )
    };
    let (missing, missing_id) = object("a");
    let (damaged, damaged_id) = object("e");
    let (tree, tree_id) = object("f/g");
    let bytes = std::fs::read(&missing).unwrap();
    std::fs::remove_file(&missing).unwrap();
    std::fs::remove_file(&tree).unwrap();
    std::fs::remove_file(&damaged).unwrap();
    std::fs::write(&damaged, b"no object").unwrap();
    let report = fixture.update(&[&repository], &[]);
    assert_eq!((report.problems.len(), report.documents), (0, 1));
    let lines = skipped(&fixture.index());
    assert!(
        lines[0].starts_with("tool/a cannot be read:") && lines[0].contains(&missing_id),
        "{lines:?}"
    );
    assert!(
        lines[1].starts_with("tool/e cannot be read:") && lines[1].contains(&damaged_id),
        "{lines:?}"
    );
    assert!(
        lines[2].starts_with("tool/f/g cannot be read:") && lines[2].contains(&tree_id),
        "{lines:?}"
    );
    // Fetched objects are indexed without a change of refs.
    std::fs::write(&missing, bytes).unwrap();
    let report = fixture.update(&[&repository], &[]);
    assert_eq!((report.documents, skipped(&fixture.index()).len()), (2, 2));
}

#[test]
fn hostile_names_are_only_names() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    let text = repository.blob("text\n");
    let raw: Vec<u8> = (0..20)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let names: [&[u8]; 9] = [
        b"..", b"../../x", b".GIT", b"A", b"a", b"a\nb", b"aux.c", b"name.", b"-rf",
    ];
    let mut tree = Vec::new();
    for name in names {
        tree.extend_from_slice(b"100644 ");
        tree.extend_from_slice(name);
        tree.push(0);
        tree.extend_from_slice(&raw);
    }
    let file = repository.path.join("tree");
    std::fs::write(&file, tree).unwrap();
    let id = repository.git(&[
        "hash-object",
        "-w",
        "--literally",
        "-t",
        "tree",
        file.to_str().unwrap(),
    ]);
    let id = repository.git(&["commit-tree", "-m", "x", &id]);
    repository.git(&["update-ref", "refs/heads/main", &id]);
    fixture.update(&[&repository], &[]);
    let index = fixture.index();
    let found: Vec<String> = (contents(&index).iter())
        .map(|line| line.split(" refs/").next().unwrap().to_owned())
        .collect();
    let expected = ["-rf", ".GIT", "A", "a\nb", "a", "aux.c", "name."];
    assert_eq!(found, expected.map(|name| format!("tool/{name}")));
    assert_eq!(
        skipped(&index),
        [
            "tool/.. its path would leave the repository",
            "tool/../../x its path would leave the repository"
        ]
    );
}

#[test]
fn a_repository_whose_references_lead_nowhere_is_told() {
    let fixture = Fixture::new();
    let good = fixture.init("good", &[]);
    good.import("refs/heads/main", &[("a", Some("a\n"))]);
    let cyclic = fixture.init("cyclic", &[]);
    cyclic.import("refs/heads/main", &[("a", Some("a\n"))]);
    std::fs::write(cyclic.path.join(".git/refs/heads/x"), "ref: refs/heads/y\n").unwrap();
    std::fs::write(cyclic.path.join(".git/refs/heads/y"), "ref: refs/heads/x\n").unwrap();
    let gone = fixture.init("gone", &[]);
    std::fs::write(
        gone.path.join(".git/refs/heads/main"),
        format!("{}\n", "1".repeat(40)),
    )
    .unwrap();
    let report = fixture.update(&[&good, &cyclic, &gone], &["all"]);
    let problems: Vec<&str> = report
        .problems
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(problems, ["cyclic", "gone"]);
    assert!(
        report.problems[0].1.contains("refs/heads/x"),
        "{:?}",
        report.problems
    );
    assert_eq!((report.packages, report.documents), (2, 2));
}
