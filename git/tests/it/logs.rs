//! Logs and references equal those of git.

use crate::support::{Root, Worktree};
use git::LookupError;
use schema::message::ReferenceKind;

/// A file changed on two branches, merged by taking one side.
fn sample(root: &Root) -> Worktree {
    let worktree = root.init("r");
    worktree.commit("a/file", "1\n", "one");
    worktree.commit("other", "1\n", "two");
    worktree.git(["checkout", "-q", "-b", "side"]);
    worktree.commit("a/file", "2\n", "on side");
    worktree.commit("a/deep/x", "x\n", "deep");
    worktree.git(["checkout", "-q", "main"]);
    worktree.commit("other", "2\n", "three");
    worktree.git(["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    worktree.commit("a/file", "3\n", "four");
    worktree.git(["mv", "a/file", "a/moved"]);
    worktree.git(["commit", "-q", "-m", "moved"]);
    worktree.git(["update-index", "--chmod=+x", "other"]);
    worktree.git(["commit", "-q", "-m", "executable"]);
    worktree
}

#[test]
fn a_log_has_the_commits_and_the_order_of_git_log() {
    let root = Root::new();
    let worktree = sample(&root);
    let repositories = root.repositories();
    for rev in ["main", "side", "main~1"] {
        for path in [
            "", "a", "a/", "a/file", "a/moved", "a/deep", "other", "none", "a/file/x",
        ] {
            let arguments: &[&str] = match path {
                "" => &["log", "--format=%H", rev],
                "a/moved" => &["log", "--format=%H", "--follow", rev, "--", path],
                path => &["log", "--format=%H", rev, "--", path],
            };
            let expected = worktree.git(arguments.iter().copied());
            let mut found = Vec::new();
            let mut after = None;
            loop {
                let page = repositories
                    .log("r", rev, path.as_bytes(), after.as_ref(), 2)
                    .unwrap();
                assert!(page.commits.len() <= 2);
                found.extend(page.commits.into_iter().map(|commit| commit.id));
                match page.next {
                    Some(next) => after = Some(next.to_string().parse().unwrap()),
                    None => break,
                }
            }
            assert_eq!(found.join("\n"), expected, "{rev} -- {path}");
        }
    }
}

#[test]
fn a_file_has_the_path_of_each_commit() {
    let root = Root::new();
    sample(&root);
    let repositories = root.repositories();
    let log = repositories.log("r", "main", b"a/moved", None, 9).unwrap();
    let paths = log.paths.iter().map(|path| String::from_utf8_lossy(path));
    assert_eq!(
        paths.collect::<Vec<_>>(),
        ["", "a/file", "a/file", "a/file"]
    );
    assert_eq!(log.commits.len(), 4);
}

#[test]
fn a_push_between_two_pages_of_a_log_changes_neither() {
    let root = Root::new();
    let worktree = sample(&root);
    let repositories = root.repositories();
    let expected = worktree.git(["log", "--format=%H"]);
    let first = repositories.log("r", "", b"", None, 4).unwrap();
    worktree.commit("file", "new\n", "pushed");
    let second = repositories
        .log("r", "", b"", first.next.as_ref(), 100)
        .unwrap();
    assert_eq!(second.next, None);
    let ids = first
        .commits
        .into_iter()
        .chain(second.commits)
        .map(|it| it.id);
    assert_eq!(ids.collect::<Vec<_>>().join("\n"), expected);
    assert_eq!(
        repositories.log("r", "", b"", None, 1).unwrap().commits[0].subject,
        b"pushed"
    );
}

#[test]
fn a_path_that_leaves_the_tree_is_refused() {
    let root = Root::new();
    sample(&root);
    let log = root.repositories().log("r", "", b"../x", None, 1);
    assert!(matches!(log, Err(LookupError::Refused { .. })), "{log:?}");
}

#[test]
fn references_are_listed_with_the_commit_behind_them() {
    let root = Root::new();
    let worktree = sample(&root);
    worktree.git(["tag", "-a", "v1", "-m", "one", "side"]);
    worktree.git(["tag", "tree", "HEAD^{tree}"]);
    worktree.git(["pack-refs", "--all"]);
    worktree.git(["branch", "-f", "side", "main"]);
    worktree.git(["symbolic-ref", "refs/remotes/o/HEAD", "refs/heads/main"]);
    worktree.git(["symbolic-ref", "refs/heads/dangling", "refs/heads/none"]);
    let main = worktree.git(["rev-parse", "main"]);
    let tagged = worktree.git(["rev-parse", "v1^{commit}"]);
    let found = root.repositories().refs("r").unwrap();
    let found: Vec<(String, ReferenceKind, String)> = (found.into_iter())
        .map(|it| (String::from_utf8(it.name).unwrap(), it.kind, it.id))
        .collect();
    let expected = [
        ("refs/heads/main", ReferenceKind::Branch, &main),
        ("refs/heads/side", ReferenceKind::Branch, &main),
        ("refs/remotes/o/HEAD", ReferenceKind::Other, &main),
        ("refs/tags/v1", ReferenceKind::Tag, &tagged),
    ];
    assert_eq!(
        found,
        expected.map(|(name, kind, id)| (name.to_owned(), kind, id.clone()))
    );
}

#[test]
fn names_are_paths_without_git_at_their_end() {
    let root = Root::new();
    for name in ["a", "group/b", "group/sub/c"] {
        root.init(name).commits(1);
    }
    let outer = root.init("clones");
    outer.git(["clone", "-q", "--bare", "../a", "../bare.git"]);
    std::fs::create_dir(root.path().join("empty")).unwrap();
    std::os::unix::fs::symlink("/", root.path().join("link")).unwrap();
    let repositories = root.repositories();
    assert_eq!(
        repositories.names().unwrap(),
        ["a", "bare", "clones", "group/b", "group/sub/c"]
    );
    for name in ["a", "bare", "group/sub/c"] {
        assert!(repositories.commit(name, "").is_ok(), "{name}");
    }
    // One name alone: rights are given to names.
    let unknown = LookupError::UnknownRepository {
        candidates: Vec::new(),
    };
    assert_eq!(repositories.commit("bare.git", ""), Err(unknown));
}

#[test]
fn commits_between_two_revisions_are_counted_as_by_rev_list() {
    let root = Root::new();
    let worktree = sample(&root);
    let repositories = root.repositories();
    let all = worktree.git(["rev-list", "--all"]);
    let ids: Vec<&str> = all.lines().collect();
    for old in &ids {
        for new in &ids {
            let range = format!("{old}..{new}");
            let expected = worktree.git(["rev-list", "--count", &range]);
            let count = repositories.commits_between("r", old, new, 1000);
            assert_eq!(count.unwrap().to_string(), expected, "{range}");
        }
    }
    let (first, last) = (ids[ids.len() - 1], ids[0]);
    assert_eq!(repositories.commits_between("r", first, last, 2), Ok(2));
    assert!(
        repositories
            .commits_between("r", "nothing", last, 2)
            .is_err()
    );
}
