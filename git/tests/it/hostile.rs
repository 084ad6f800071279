//! Damaged and hostile repositories: an error, no panic, nothing read outside.

use crate::support::{Root, Worktree};
use git::{LookupError, Repositories};
use std::os::unix::fs::symlink;
use std::path::Path;

fn unreadable(repositories: &Repositories, rev: &str, part: &str) {
    match repositories.commit("r", rev) {
        Err(LookupError::Unreadable { reason }) => {
            assert!(reason.contains(part), "{rev}: {reason}")
        }
        other => panic!("{rev}: {other:?}"),
    }
}

fn sample(root: &Root) -> Worktree {
    let worktree = root.init("r");
    worktree.commits(4);
    worktree
}

fn write(worktree: &Worktree, file: &str, text: &str) {
    std::fs::write(worktree.path.join(".git").join(file), text).unwrap();
}

#[test]
fn no_name_leaves_the_directory() {
    let root = Root::new();
    sample(&root);
    std::fs::rename(root.path().join("r"), root.outside()).unwrap();
    symlink(root.outside(), root.path().join("link")).unwrap();
    std::fs::create_dir(root.path().join("file")).unwrap();
    let pointer = format!("gitdir: {}/.git\n", root.outside().display());
    std::fs::write(root.path().join("file/.git"), pointer).unwrap();
    let repositories = root.repositories();
    let absolute = root.outside().display().to_string();
    for name in [
        "../outside",
        "link",
        "file",
        "link/.git",
        &absolute,
        "",
        ".",
        "a\0b",
        "a//b",
        "x/../link",
    ] {
        let found = repositories.commit(name, "");
        assert!(
            matches!(found, Err(LookupError::Refused { .. })),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn symbolic_links_inside_a_repository_lead_nowhere_outside() {
    let root = Root::new();
    let worktree = sample(&root);
    let id = worktree.git(["rev-parse", "HEAD"]);
    std::fs::create_dir(root.outside()).unwrap();
    std::fs::write(root.outside().join("id"), &id).unwrap();
    symlink(
        root.outside().join("id"),
        worktree.path.join(".git/refs/heads/link"),
    )
    .unwrap();
    let found = root.repositories().commit("r", "link");
    assert!(
        matches!(found, Err(LookupError::Refused { .. })),
        "{found:?}"
    );
    assert!(root.repositories().commit("r", "main").is_ok());
    for name in [
        "refs",
        "objects",
        "packed-refs",
        "HEAD",
        "config",
        "objects/pack",
    ] {
        let path = worktree.path.join(".git").join(name);
        let _ = worktree.try_git(["pack-refs"]);
        let saved = root.outside().join(name.replace('/', "-"));
        std::fs::rename(&path, &saved).unwrap();
        symlink(&saved, &path).unwrap();
        let found = root.repositories().commit("r", "");
        assert!(found.is_err(), "{name}: {found:?}");
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&saved, &path).unwrap();
    }
}

#[test]
fn broken_references_are_errors_with_the_reason() {
    let root = Root::new();
    let worktree = sample(&root);
    let missing = "1".repeat(40);
    write(&worktree, "refs/heads/missing", &missing);
    write(&worktree, "refs/heads/garbage", "no id\n");
    write(&worktree, "refs/heads/empty", "");
    write(&worktree, "refs/heads/a", "ref: refs/heads/b\n");
    write(&worktree, "refs/heads/b", "ref: refs/heads/a\n");
    write(&worktree, "refs/heads/dangling", "ref: refs/heads/none\n");
    write(
        &worktree,
        "refs/heads/up",
        "ref: refs/heads/../../../outside\n",
    );
    let status = std::process::Command::new("mkfifo")
        .arg(worktree.path.join(".git/refs/heads/pipe"))
        .status();
    assert!(status.unwrap().success());
    let repositories = root.repositories();
    unreadable(&repositories, "missing", "does not have");
    unreadable(&repositories, "garbage", "neither");
    unreadable(&repositories, "empty", "neither");
    unreadable(&repositories, "a", "itself");
    unreadable(&repositories, "dangling", "does not exist");
    unreadable(&repositories, "up", "refs/heads/up");
    unreadable(&repositories, "pipe", "regular file");
    assert!(repositories.commit("r", "main").is_ok());
    assert!(repositories.commit("r", ":/change 2").is_ok());
    let names: Vec<Vec<u8>> = repositories
        .refs("r")
        .unwrap()
        .into_iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(names, [b"refs/heads/main".to_vec()]);
    write(&worktree, "HEAD", "ref: refs/heads/unborn\n");
    let found = root.repositories().commit("r", "");
    assert!(found.is_err(), "{found:?}");
}

#[test]
fn a_missing_object_is_an_error_where_it_is_needed() {
    let root = Root::new();
    let worktree = sample(&root);
    let id = worktree.git(["rev-parse", "HEAD~2"]);
    let path = worktree
        .path
        .join(".git/objects")
        .join(&id[..2])
        .join(&id[2..]);
    std::fs::remove_file(path).unwrap();
    let repositories = root.repositories();
    assert!(repositories.commit("r", "HEAD~1").is_ok());
    unreadable(&repositories, "HEAD~2", "does not have");
    assert!(repositories.log("r", "", b"", None, 10).is_err());
    let unknown = repositories.commit("r", &id);
    assert!(
        matches!(unknown, Err(LookupError::UnknownRevision { .. })),
        "{unknown:?}"
    );
}

#[test]
fn hostile_configuration_changes_nothing() {
    let root = Root::new();
    let worktree = sample(&root);
    let text = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = /etc\n\thooksPath = /bin\n\
                \tfsmonitor = touch /tmp/never\n\tsshCommand = touch /tmp/never\n\talternateRefsCommand = x\n\
                [include]\n\tpath = /etc/passwd\n[includeIf \"gitdir:/\"]\n\tpath = /etc/shadow\n\
                [filter \"x\"]\n\tclean = touch /tmp/never\n\tprocess = touch /tmp/never\n\
                [extensions]\n\tworktreeConfig = true\n[uploadpack]\n\tpackObjectsHook = x\n";
    write(&worktree, "config", text);
    assert!(root.repositories().commit("r", "HEAD~1").is_ok());
    write(&worktree, "config", "[core\n broken");
    assert!(root.repositories().commit("r", "").is_err());
    write(
        &worktree,
        "config",
        "[core]\n\trepositoryformatversion = 99\n[extensions]\n\tobjectFormat = md5\n",
    );
    assert!(root.repositories().commit("r", "").is_err());
}

#[test]
fn alternates_that_lead_to_each_other_end() {
    let root = Root::new();
    let worktree = sample(&root);
    let other = root.init("other");
    other.commits(1);
    write(
        &worktree,
        "objects/info/alternates",
        "../../../other/.git/objects\n",
    );
    write(
        &other,
        "objects/info/alternates",
        "../../../r/.git/objects\n",
    );
    let found = root.repositories().commit("r", "");
    assert!(
        !matches!(found, Err(LookupError::UnknownRepository { .. })),
        "{found:?}"
    );
    write(
        &worktree,
        "objects/info/alternates",
        "/\n../../../none\n\0\n",
    );
    assert!(root.repositories().commit("r", "").is_err());
}

/// Flips every byte of a small packed repository.
#[test]
fn every_byte_flipped_is_an_answer_or_an_error() {
    let root = Root::new();
    let worktree = sample(&root);
    worktree.git(["tag", "-a", "v1", "-m", "one"]);
    worktree.git(["gc", "-q", "--prune=now"]);
    let pack = worktree.path.join(".git/objects/pack");
    let _ = worktree.try_git(["multi-pack-index", "write"]);
    let mut files: Vec<_> = std::fs::read_dir(pack)
        .unwrap()
        .flatten()
        .map(|it| it.path())
        .collect();
    files.push(worktree.path.join(".git/packed-refs"));
    files.push(worktree.path.join(".git/config"));
    files.retain(|path| {
        path.extension()
            .is_none_or(|it| it != "rev" && it != "keep" && it != "bitmap")
    });
    let mut errors = 0;
    let mut flips = 0;
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        // Fan-out tables are long and alike: every seventh byte.
        let positions: Vec<usize> = (0..bytes.len())
            .filter(|at| *at < 64 || *at % 7 == 0 || *at > 1_100)
            .collect();
        for at in positions {
            let mut damaged = bytes.clone();
            damaged[at] ^= if at % 2 == 0 { 0xff } else { 0x01 };
            replace(&path, &damaged);
            errors += look_at_all(&root);
            flips += 1;
        }
        for length in [0, 1, 7, 20, bytes.len() / 2, bytes.len() - 1] {
            replace(&path, &bytes[..length]);
            look_at_all(&root);
        }
        replace(&path, &bytes);
    }
    assert!(
        errors > 0 && flips > 500,
        "{errors} errors in {flips} flips"
    );
}

/// Replaces a file, which may be mapped.
fn replace(path: &Path, bytes: &[u8]) {
    let new = path.with_extension("new");
    std::fs::write(&new, bytes).unwrap();
    std::fs::rename(&new, path).unwrap();
}

fn look_at_all(root: &Root) -> usize {
    let repositories = root.repositories();
    let revisions = [
        "",
        "v1",
        "HEAD~3",
        ":/change 1",
        "HEAD^{/change}",
        "abcd",
        "main~2",
    ];
    let found = revisions
        .iter()
        .filter(|rev| repositories.commit("r", rev).is_err())
        .count();
    let _ = repositories.refs("r");
    let _ = repositories.log("r", "", b"file", None, 10);
    found
}
