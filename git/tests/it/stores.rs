//! Object stores and changed histories do not change answers.

use crate::support::{Root, init};
use git::LookupError;

#[test]
fn grafts_and_replace_refs_count_as_in_git() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commits(9);
    let repositories = root.repositories();
    assert!(repositories.commit("r", "HEAD~7").is_ok());
    let line = worktree
        .git(["rev-parse", "HEAD~2", "HEAD~6"])
        .replace('\n', " ");
    std::fs::write(worktree.path.join(".git/info/grafts"), format!("{line}\n")).unwrap();
    worktree.git(["replace", "HEAD~1", "HEAD~4"]);
    for rev in ["HEAD~1", "HEAD~2", "HEAD~3", "HEAD~4"] {
        let expected = worktree.try_git(["rev-parse", "-q", "--verify", rev]).0;
        let found = repositories
            .commit("r", rev)
            .map_or(String::new(), |it| it.id);
        assert_eq!(found, expected, "{rev}");
    }
    let replaced = repositories.commit("r", "HEAD~1").unwrap();
    assert_eq!(
        replaced.subject,
        worktree
            .git(["log", "-1", "--format=%s", "HEAD~1"])
            .as_bytes()
    );
    let ids: Vec<String> = (repositories
        .log("r", "", b"", None, 100)
        .unwrap()
        .commits
        .into_iter())
    .map(|it| it.id)
    .collect();
    assert_eq!(ids.join("\n"), worktree.git(["log", "--format=%H"]));
}

#[test]
fn a_replacement_is_not_replaced_again() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commits(6);
    worktree.git(["replace", "HEAD~2", "HEAD~3"]);
    worktree.git(["replace", "HEAD~1", "HEAD~2"]);
    let found = root.repositories().commit("r", "HEAD~1").unwrap().subject;
    // Git follows the chain to `change 2`.
    assert_eq!(found, b"change 3");
}

#[test]
fn a_shallow_clone_ends_at_its_boundary() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commits(9);
    let source = format!("file://{}", worktree.path.display());
    let flags = ["clone", "-q", "--bare", "--depth", "3"];
    worktree.git(flags.into_iter().chain([source.as_str(), "../shallow.git"]));
    let repositories = root.repositories();
    let boundary = repositories.commit("shallow", "HEAD~2").unwrap();
    assert_eq!(boundary.id, worktree.git(["rev-parse", "HEAD~2"]));
    let beyond = repositories.commit("shallow", "HEAD~3");
    assert!(
        matches!(beyond, Err(LookupError::UnknownRevision { .. })),
        "{beyond:?}"
    );
    assert_eq!(
        repositories
            .log("shallow", "", b"", None, 100)
            .unwrap()
            .commits
            .len(),
        3
    );
}

#[test]
fn alternates_are_read_below_the_directory_alone() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commits(3);
    worktree.git(["clone", "-q", "--shared", "--bare", ".", "../shared.git"]);
    let outside = init(&root.outside(), &[]);
    outside.commits(3);
    outside.git([
        "clone",
        "-q",
        "--shared",
        "--bare",
        ".",
        "../root/leaks.git",
    ]);
    let repositories = root.repositories();
    assert!(repositories.commit("shared", "HEAD~1").is_ok());
    let found = repositories.commit("leaks", "HEAD~1");
    assert!(
        matches!(&found, Err(LookupError::Refused { reason }) if reason.contains("outside")),
        "{found:?}"
    );
}

#[test]
fn objects_and_references_that_come_later_are_found() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commits(3);
    let repositories = root.repositories();
    for round in 0..40 {
        let id = worktree.commit("file", &format!("round {round}"), "more");
        assert_eq!(repositories.commit("r", "").map(|it| it.id), Ok(id.clone()));
        match round % 4 {
            0 => worktree.git(["gc", "-q", "--prune=now"]),
            1 => worktree.git(["repack", "-dq"]),
            _ => worktree.git(["tag", &format!("t{round}")]),
        };
        let commit = repositories.commit("r", &id).unwrap();
        assert_eq!(commit.tags.len(), usize::from(round % 4 > 1), "{round}");
        assert!(repositories.commit("r", "HEAD~3").is_ok());
    }
}

#[test]
fn a_repository_that_is_removed_and_made_again_is_the_new_one() {
    let root = Root::new();
    root.init("r").commits(2);
    let repositories = root.repositories();
    assert!(repositories.commit("r", "HEAD~1").is_ok());
    std::fs::remove_dir_all(root.path().join("r")).unwrap();
    let gone = repositories.commit("r", "");
    assert!(
        matches!(gone, Err(LookupError::UnknownRepository { .. })),
        "{gone:?}"
    );
    let id = root.init("r").commit("other", "x", "new");
    assert_eq!(repositories.commit("r", "").map(|it| it.id), Ok(id));
}

#[test]
fn repositories_with_sha256_are_read() {
    let root = Root::new();
    let worktree = init(&root.path().join("r"), &["--object-format=sha256"]);
    worktree.commits(3);
    worktree.git(["gc", "-q"]);
    worktree.commit("other", "x", "loose");
    let full = worktree.git(["rev-parse", "HEAD~2"]);
    let repositories = root.repositories();
    for rev in ["HEAD~2", &full, &full[..40], &full[..7]] {
        assert_eq!(
            repositories.commit("r", rev).map(|it| it.id),
            Ok(full.clone()),
            "{rev}"
        );
    }
}

#[test]
fn an_additional_work_tree_has_its_own_head() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commits(3);
    worktree.git(["worktree", "add", "-q", "../tree", "HEAD~2"]);
    let found = root.repositories().commit("tree", "").unwrap();
    assert_eq!(found.id, worktree.git(["rev-parse", "main~2"]));
    assert_eq!(
        root.repositories().commit("tree", "main").unwrap().id,
        worktree.git(["rev-parse", "main"])
    );
    worktree.git(["worktree", "add", "-q", "../../outside", "HEAD~1"]);
    std::os::unix::fs::symlink(root.outside(), root.path().join("link")).unwrap();
    assert!(root.repositories().commit("link", "").is_err());
}

#[test]
fn a_message_in_another_encoding_is_utf8() {
    let root = Root::new();
    let worktree = root.init("r");
    std::fs::write(worktree.path.join("message"), b"caf\xe9\n").unwrap();
    worktree.git([
        "-c",
        "i18n.commitEncoding=ISO-8859-1",
        "commit",
        "-q",
        "--allow-empty",
        "-F",
        "message",
    ]);
    assert_eq!(
        root.repositories().commit("r", "").unwrap().subject,
        "café".as_bytes()
    );
}

/// More repositories than are open at a time.
#[test]
fn descriptors_and_memory_do_not_grow_with_the_number_of_repositories() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commits(3);
    worktree.git(["gc", "-q"]);
    for index in 0..300 {
        worktree.git([
            "clone",
            "-q",
            "--bare",
            ".",
            &format!("../many/{index}.git"),
        ]);
    }
    let repositories = root.repositories();
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let mappings = || {
        std::fs::read_to_string("/proc/self/maps")
            .unwrap()
            .lines()
            .count()
    };
    let look_up = |numbers: std::ops::Range<usize>| {
        for index in numbers {
            let commit = repositories.commit(&format!("many/{index}"), "HEAD~1");
            assert!(commit.is_ok(), "{index}: {commit:?}");
        }
    };
    look_up(0..100);
    let (files, maps) = (descriptors(), mappings());
    for _ in 0..3 {
        look_up(100..300);
    }
    // Other tests run meanwhile.
    assert!(descriptors() < files + 100, "{files} and {}", descriptors());
    assert!(mappings() < maps + 300, "{maps} and {}", mappings());
}
