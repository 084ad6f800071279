//! Updates of a repository: written and kept data.

use super::support::{Fixture, Repository, changes, contents, skipped};
use index::indexing::{Changes, Outcome};

fn with_files(fixture: &Fixture, count: usize) -> Repository {
    let repository = fixture.init("tool", &[]);
    let texts: Vec<(String, String)> = (0..count)
        .map(|number| {
            (
                format!("src/file{number}.c"),
                format!("int number_{number};\n"),
            )
        })
        .collect();
    let files: Vec<(&str, Option<&str>)> = texts
        .iter()
        .map(|(path, text)| (path.as_str(), Some(text.as_str())))
        .collect();
    repository.import("refs/heads/main", &files);
    repository
}

#[test]
fn a_repository_that_has_not_changed_is_not_touched() {
    let fixture = Fixture::new();
    let repository = with_files(&fixture, 10);
    fixture.update(&[&repository], &["all"]);
    let before = contents(&fixture.index());
    let report = fixture.update(&[&repository], &["all"]);
    assert_eq!(
        (report.outcome, report.written_bytes),
        (Outcome::Unchanged, 0)
    );
    assert_eq!(contents(&fixture.index()), before);
}

#[test]
fn a_second_branch_writes_what_is_new_alone() {
    let fixture = Fixture::new();
    let repository = with_files(&fixture, 500);
    fixture.update(&[&repository], &["all"]);
    let first = fixture.index().shards[0].file_id();
    repository.import_from(
        "refs/heads/topic",
        Some("main"),
        &[("src/file7.c", Some("changed\n"))],
    );
    let report = fixture.update(&[&repository], &["all"]);
    assert_eq!((report.read.documents, report.shards), (1, 2));
    let index = fixture.index();
    assert_eq!(index.shards[0].file_id(), first);
    assert_eq!(index.shards[1].document_count(), 1);
    let of_file = |path: &str| {
        contents(&index)
            .iter()
            .filter(|it| it.starts_with(path))
            .count()
    };
    assert_eq!(
        (of_file("tool/src/file7.c"), of_file("tool/src/file8.c")),
        (2, 1)
    );
    // Deleted branch: its document is superseded, nothing is written.
    repository.git(&["update-ref", "-d", "refs/heads/topic"]);
    let report = fixture.update(&[&repository], &["all"]);
    assert_eq!(
        (report.read.documents, report.packages, report.documents),
        (0, 1, 500)
    );
    assert_eq!(contents(&fixture.index()).len(), 500);
}

#[test]
fn a_document_that_comes_back_is_the_old_one() {
    let fixture = Fixture::new();
    let repository = with_files(&fixture, 20);
    fixture.update(&[&repository], &[]);
    let before = contents(&fixture.index());
    let id = repository.git(&["rev-parse", "main"]);
    repository.import("refs/heads/main", &[("src/file3.c", None)]);
    let report = fixture.update(&[&repository], &[]);
    assert_eq!((report.documents, report.shards), (19, 1));
    repository.git(&["update-ref", "refs/heads/main", &id]);
    let report = fixture.update(&[&repository], &[]);
    assert_eq!((report.read.documents, report.shards), (0, 1));
    assert_eq!(contents(&fixture.index()), before);
}

#[test]
fn what_is_skipped_is_listed_as_long_as_a_revision_has_it() {
    let fixture = Fixture::new();
    let repository = with_files(&fixture, 3);
    repository.import("refs/heads/main", &[("bin", Some("a\0"))]);
    fixture.update(&[&repository], &[]);
    assert_eq!(skipped(&fixture.index()), ["tool/bin binary"]);
    repository.import("refs/heads/main", &[("src/file1.c", Some("new\n"))]);
    let report = fixture.update(&[&repository], &[]);
    assert_eq!(report.read.skipped.len(), 0);
    assert_eq!(skipped(&fixture.index()), ["tool/bin binary"]);
    repository.import("refs/heads/main", &[("bin", None)]);
    fixture.update(&[&repository], &[]);
    assert_eq!(skipped(&fixture.index()), [""; 0]);
}

#[test]
fn many_small_updates_are_merged_to_few_shards() {
    let fixture = Fixture::new();
    let repository = with_files(&fixture, 50);
    for round in 0..12 {
        let text = format!("round {round}\n");
        repository.import("refs/heads/main", &[("src/file7.c", Some(&text))]);
        fixture.update(&[&repository], &[]);
        let index = fixture.index();
        assert!(index.shards.len() <= 8, "{}", index.shards.len());
        let lines = contents(&index);
        assert_eq!(lines.len(), 50);
        assert!(
            lines
                .iter()
                .any(|line| line.contains(&format!("round {round}")))
        );
    }
}

#[test]
fn a_repository_that_cannot_be_read_does_not_stop_the_others() {
    let fixture = Fixture::new();
    let good = with_files(&fixture, 3);
    let bad = fixture.init("bad", &[]);
    bad.import("refs/heads/main", &[("a", Some("a\n"))]);
    fixture.update(&[&good, &bad], &[]);
    std::fs::write(bad.path.join(".git/HEAD"), "nonsense").unwrap();
    good.import("refs/heads/main", &[("src/new.c", Some("new\n"))]);
    let report = fixture.update(&[&good, &bad], &[]);
    assert_eq!(report.problems.len(), 1);
    assert_eq!(report.problems[0].0, "bad");
    // Indexed content stays, with the reason.
    assert_eq!((report.packages, contents(&fixture.index()).len()), (2, 5));
    let recorded = fixture.index().recorded;
    assert!(!recorded.repository(b"bad").unwrap().problem.is_empty());
    assert!(recorded.repository(b"tool").unwrap().problem.is_empty());
}

fn neighbours(fixture: &Fixture) -> [Repository; 3] {
    let made = ["a", "b", "c"].map(|name| {
        let repository = fixture.init(name, &[]);
        let text = format!("text of {name}\n");
        repository.import(
            "refs/heads/main",
            &[("f", Some(&text)), ("bin", Some("\0"))],
        );
        repository
    });
    fixture.update(&made.each_ref(), &[]);
    assert_eq!(fixture.index().shards.len(), 1);
    made
}

fn texts(fixture: &Fixture) -> Vec<String> {
    let lines = contents(&fixture.index());
    let plain = lines.iter().map(|line| {
        let parts: Vec<&str> = line.splitn(3, ' ').collect();
        format!("{} {}", parts[0], parts[2])
    });
    plain.collect()
}

#[test]
fn a_repository_that_shares_a_shard_is_removed() {
    for removed in 0..3 {
        let fixture = Fixture::new();
        let made = neighbours(&fixture);
        let name = ["a", "b", "c"][removed];
        let mut left: Vec<&Repository> = made.iter().collect();
        left.remove(removed);
        let remove = Changes {
            remove: vec![name.into()],
            ..Changes::default()
        };
        let report = fixture.update_in("index", &remove, &[]);
        assert_eq!((report.packages, report.dropped.len()), (2, 1));
        let is_gone =
            |lines: &[String]| !lines.iter().any(|it| it.starts_with(&format!("{name}/")));
        assert!(is_gone(&texts(&fixture)) && is_gone(&skipped(&fixture.index())));
        // A push to a neighbour is indexed.
        left[0].import("refs/heads/main", &[("f", Some("pushed\n"))]);
        fixture.update(&left, &[]);
        assert!(
            texts(&fixture)
                .iter()
                .any(|it| it.ends_with("\"pushed\\n\""))
        );
        assert_eq!(texts(&fixture).len(), 2);
        // Restored unchanged.
        fixture.update(&made.each_ref(), &[]);
        assert_eq!(texts(&fixture).len(), 3);
    }
}

#[test]
fn a_repository_that_is_gone_is_pruned_and_a_push_to_its_neighbour_indexed() {
    let fixture = Fixture::new();
    let [a, _, c] = neighbours(&fixture);
    a.import("refs/heads/main", &[("f", Some("pushed\n"))]);
    let prune = Changes {
        prune: true,
        ..changes(&[&a, &c], &[])
    };
    let report = fixture.update_in("index", &prune, &[]);
    assert_eq!((report.packages, report.dropped.len()), (2, 1));
    assert_eq!(
        texts(&fixture),
        ["a/f \"pushed\\n\"", "c/f \"text of c\\n\""]
    );
}

#[test]
fn a_repository_becomes_a_directory_and_a_directory_a_repository() {
    let fixture = Fixture::new();
    let [a, ..] = neighbours(&fixture);
    std::fs::write(a.path.join("f"), "on disk\n").unwrap();
    std::fs::write(a.path.join("g"), "not committed\n").unwrap();
    fixture.update_with(&[], &[], std::slice::from_ref(&a.path));
    let on_disk = texts(&fixture);
    assert_eq!(
        on_disk[..2],
        ["a/f \"on disk\\n\"", "a/g \"not committed\\n\""]
    );
    assert_eq!(
        (on_disk.len(), fixture.index().recorded.repositories.len()),
        (4, 2)
    );
    fixture.update(&[&a], &[]);
    assert_eq!(
        texts(&fixture)[..2],
        ["a/f \"text of a\\n\"", "b/f \"text of b\\n\""]
    );
}
