//! Walks over small trees, checked against git.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};
use tempfile::TempDir;

use super::*;
use crate::corpus::rules::tests::{files_of_git, git};
use crate::corpus::sources;

/// Creates files (path, text); a path with a final `/` is a directory.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(root.path(), path.as_bytes(), text);
    }
    root
}

fn write(root: &Path, path: &[u8], text: &str) {
    let absolute = root.join(OsStr::from_bytes(path));
    if path.ends_with(b"/") {
        return fs::create_dir_all(absolute).unwrap();
    }
    fs::create_dir_all(absolute.parent().unwrap()).unwrap();
    fs::write(absolute, text).unwrap();
}

fn source(directory: &Path) -> Source {
    sources(&[directory.to_owned()], false).unwrap().remove(0)
}

fn walk_of(directory: &Path) -> Walk {
    let one = walk(&source(directory), false, 1).unwrap();
    assert_eq!(one, walk(&source(directory), false, 4).unwrap());
    one
}

fn render(walk: &Walk) -> String {
    let mut lines = String::new();
    for file in &walk.files {
        lines += &format!("{}\n", file.path.escape_ascii());
    }
    for skipped in &walk.skipped {
        lines += &format!("- {}: {}\n", skipped.path.escape_ascii(), skipped.reason);
    }
    lines
}

#[track_caller]
fn check(directory: &Path, expected: Expect) {
    expected.assert_eq(&render(&walk_of(directory)));
}

#[test]
fn files_come_best_class_first_then_by_bytes() {
    let root = tree(&[
        ("z.c", ""),
        ("a/b.c", ""),
        ("a.c", ""),
        ("a-b.c", ""),
        ("README", ""),
        (".hidden/.rc", ""),
        ("tests/a.c", ""),
        ("vendor/a.c", ""),
        ("empty/", ""),
    ]);
    check(
        root.path(),
        expect![[r#"
        a-b.c
        a.c
        a/b.c
        z.c
        .hidden/.rc
        README
        tests/a.c
        vendor/a.c
    "#]],
    );
}

#[test]
fn names_need_not_be_utf8() {
    let root = tempfile::tempdir().unwrap();
    for path in [
        &b"with space"[..],
        b"new\nline",
        b"\xff\xfe/\xc3.c",
        b"-",
        b"tab\t",
        b"...",
    ] {
        write(root.path(), path, "");
    }
    check(
        root.path(),
        expect![[r#"
        \xff\xfe/\xc3.c
        -
        ...
        new\nline
        tab\t
        with space
    "#]],
    );
}

#[test]
fn records_size_and_modification_time() {
    let root = tree(&[("a", "four")]);
    let time = std::time::UNIX_EPOCH + std::time::Duration::new(7, 5);
    fs::File::options()
        .write(true)
        .open(root.path().join("a"))
        .unwrap()
        .set_modified(time)
        .unwrap();
    let files = walk_of(root.path()).files;
    assert_eq!(files.len(), 1);
    assert_eq!((&files[0].path[..], files[0].bytes), (&b"a"[..], 4));
    assert_eq!(files[0].modified_ns, 7_000_000_005);
    assert!(files[0].changed_ns > files[0].modified_ns, "it is now");
}

/// Nested `.gitignore` files, every kind of pattern, `info/exclude`.
fn rules_tree() -> TempDir {
    tree(&[
        (".git/info/exclude", "*.tmp\n!kept.o\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (
            ".gitignore",
            "*.o\n/build\n!important.o\nlogs/\nsub/only\n*.x y\n",
        ),
        (".ignore", "seen.c\n"),
        ("a.o", ""),
        ("a.tmp", ""),
        ("a.x y", ""),
        ("kept.o", ""),
        ("important.o", ""),
        ("seen.c", ""),
        ("build/out.c", ""),
        ("build/deep/out.c", ""),
        ("sub/build/in.c", ""),
        ("sub/logs", ""),
        ("sub/.gitignore", "!a.o\nb.c\n*.tmp2\n"),
        ("sub/a.o", ""),
        ("sub/b.o", ""),
        ("sub/b.c", ""),
        ("sub/only", ""),
        ("sub/deeper/.gitignore", "!*.tmp\n!b.c\n"),
        ("sub/deeper/b.c", ""),
        ("sub/deeper/c.tmp", ""),
        ("sub/deeper/only", ""),
        ("x/logs/a.c", ""),
        ("x/sub/only", ""),
    ])
}

#[test]
fn skips_what_git_excludes_and_names_the_rule() {
    check(
        rules_tree().path(),
        expect![[r#"
        seen.c
        sub/build/in.c
        sub/deeper/b.c
        .gitignore
        .ignore
        important.o
        sub/.gitignore
        sub/a.o
        sub/deeper/.gitignore
        sub/deeper/c.tmp
        sub/deeper/only
        sub/logs
        x/sub/only
        - .git: git's own data
        - a.o: excluded by .gitignore:1:*.o
        - a.tmp: excluded by .git/info/exclude:1:*.tmp
        - a.x y: excluded by .gitignore:6:*.x y
        - build: excluded by .gitignore:2:/build
        - kept.o: excluded by .gitignore:1:*.o
        - sub/b.c: excluded by sub/.gitignore:2:b.c
        - sub/b.o: excluded by .gitignore:1:*.o
        - sub/only: excluded by .gitignore:5:sub/only
        - x/logs: excluded by .gitignore:4:logs/
    "#]],
    );
}

#[test]
fn no_ignore_skips_only_the_git_directory() {
    let root = rules_tree();
    let walk = walk(&source(root.path()), true, 1).unwrap();
    assert_eq!(walk.skipped.len(), 1);
    assert_eq!(walk.skipped[0].reason, SkipReason::GitDirectory);
    assert_eq!(walk.files.len(), 23);
}

#[test]
fn rules_apply_only_in_work_trees() {
    let root = tree(&[
        (".gitignore", "*.o\n"),
        ("a.o", ""),
        ("sub/.gitignore", "b"),
        ("sub/b", ""),
    ]);
    assert_eq!(walk_of(root.path()).files.len(), 4);
}

#[test]
fn rules_of_the_directories_above_apply() {
    let root = rules_tree();
    check(
        &root.path().join("sub"),
        expect![[r#"
        build/in.c
        deeper/b.c
        .gitignore
        a.o
        deeper/.gitignore
        deeper/c.tmp
        deeper/only
        logs
        - b.c: excluded by .gitignore:2:b.c
        - b.o: excluded by ../.gitignore:1:*.o
        - only: excluded by ../.gitignore:5:sub/only
    "#]],
    );
}

#[test]
fn a_source_is_not_excluded_itself() {
    let root = rules_tree();
    check(
        &root.path().join("build"),
        expect![[r#"
        deep/out.c
        out.c
    "#]],
    );
}

#[test]
fn a_nested_work_tree_has_its_own_rules() {
    let root = tree(&[
        (".git/", ""),
        (".gitignore", "*.o\nexcluded\n"),
        ("nested/.git/info/exclude", "*.tmp"),
        ("nested/.gitignore", "*.a\n"),
        ("nested/in/a.a", ""),
        ("nested/in/a.o", ""),
        ("nested/in/a.tmp", ""),
        ("excluded/.git/", ""),
        ("excluded/a", ""),
        ("a.a", ""),
        ("b.o", ""),
    ]);
    check(
        root.path(),
        expect![[r#"
        .gitignore
        a.a
        nested/.gitignore
        nested/in/a.o
        - .git: git's own data
        - b.o: excluded by .gitignore:1:*.o
        - excluded: excluded by .gitignore:2:excluded
        - nested/.git: git's own data
        - nested/in/a.a: excluded by nested/.gitignore:1:*.a
        - nested/in/a.tmp: excluded by nested/.git/info/exclude:1:*.tmp
    "#]],
    );
}

#[test]
fn a_git_file_names_the_repository_with_the_exclude_file() {
    let root = tree(&[
        ("repository/info/exclude", "*.tmp\n"),
        ("repository/worktrees/tree/commondir", "../..\n"),
        ("tree/.git", "gitdir: ../repository/worktrees/tree\n"),
        ("tree/a.tmp", ""),
        ("module/.git", "gitdir: ../repository\n"),
        ("module/a.tmp", ""),
        ("broken/.git", "nonsense"),
        ("broken/.gitignore", "b\n"),
        ("broken/a.tmp", ""),
        ("broken/b", ""),
    ]);
    for name in ["tree", "module"] {
        let expected = [
            "- .git: git's own data",
            "- a.tmp: excluded by .git/info/exclude:1:*.tmp",
        ];
        let rendered = render(&walk_of(&root.path().join(name)));
        assert_eq!(rendered.lines().collect::<Vec<_>>(), expected);
    }
    check(
        &root.path().join("broken"),
        expect![[r#"
        .gitignore
        a.tmp
        - .git: git's own data
        - b: excluded by .gitignore:1:b
    "#]],
    );
}

#[test]
fn a_gitignore_that_is_a_link_is_ignored() {
    let root = tree(&[(".git/", ""), ("patterns", "a\n"), ("a", "")]);
    symlink("patterns", root.path().join(".gitignore")).unwrap();
    check(
        root.path(),
        expect![[r#"
        a
        patterns
        - .git: git's own data
        - .gitignore: a symbolic link
    "#]],
    );
}

#[test]
fn links_pipes_and_sockets_are_skipped() {
    let root = tree(&[("dir/a", "")]);
    for (target, link) in [
        (".", "loop"),
        ("dir", "to-dir"),
        ("dir/a", "to-file"),
        ("no", "dangling"),
    ] {
        symlink(target, root.path().join(link)).unwrap();
    }
    symlink("..", root.path().join("dir/up")).unwrap();
    let _listener = UnixListener::bind(root.path().join("socket")).unwrap();
    check(
        root.path(),
        expect![[r#"
        dir/a
        - dangling: a symbolic link
        - dir/up: a symbolic link
        - loop: a symbolic link
        - socket: a pipe, socket or device
        - to-dir: a symbolic link
        - to-file: a symbolic link
    "#]],
    );
    let is_made = Command::new("mkfifo")
        .arg(root.path().join("pipe"))
        .status();
    if is_made.is_ok_and(|status| status.success()) {
        let pipe = Skipped {
            path: b"pipe".to_vec(),
            reason: SkipReason::NotRegular,
        };
        assert!(walk_of(root.path()).skipped.contains(&pipe));
    }
}

#[test]
fn an_unreadable_directory_is_one_skipped_entry() {
    let root = tree(&[("a", ""), ("closed/b", ""), ("closed/deep/c", "")]);
    let closed = root.path().join("closed");
    fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    // Not for the superuser.
    let is_closed = fs::read_dir(&closed).is_err();
    let walk = walk_of(root.path());
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    if is_closed {
        let message = "Permission denied (os error 13)".to_owned();
        let reason = SkipReason::Unreadable(message);
        assert_eq!(
            walk.skipped,
            [Skipped {
                path: b"closed".to_vec(),
                reason
            }]
        );
        assert_eq!(walk.files.len(), 1);
    }
}

fn nest(bottom: &Path, name: &str) -> std::path::PathBuf {
    let mut path = bottom.to_owned();
    while path.as_os_str().len() + name.len() + 1 < 4_000 {
        path.push(name);
    }
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn files_in_directories_too_deep_for_one_path_are_listed() {
    let root = tree(&[("top/", ""), ("other/", "")]);
    let bottom = nest(&root.path().join("top"), &"d".repeat(200));
    let below = nest(&root.path().join("other"), "e");
    fs::write(below.join("f.c"), "").unwrap();
    fs::write(bottom.join("g.c"), "").unwrap();
    fs::rename(root.path().join("other"), bottom.join("o")).unwrap();
    let walk = walk_of(&root.path().join("top"));
    assert_eq!((walk.files.len(), walk.skipped), (2, Vec::new()));
    let ends = |end: &[u8]| walk.files.iter().any(|file| file.path.ends_with(end));
    assert!(ends(b"d/g.c") && ends(b"e/e/f.c"));
}

#[test]
fn a_missing_package_is_an_error() {
    let root = tree(&[("a/", ""), ("b", "")]);
    let mut source = source(&root.path().join("a"));
    fs::remove_dir(&source.directory).unwrap();
    let error = walk(&source, false, 1).unwrap_err();
    assert!(matches!(error, CorpusError::Missing { .. }), "{error}");
    source.directory.set_file_name("b");
    let error = walk(&source, false, 1).unwrap_err();
    assert!(
        matches!(error, CorpusError::NotADirectory { .. }),
        "{error}"
    );
}

#[test]
fn finds_the_files_that_git_finds() {
    let root = rules_tree();
    fs::remove_dir_all(root.path().join(".git")).unwrap();
    if git(root.path(), &["init", "-q", "."]).is_none() {
        return;
    }
    write(root.path(), b".git/info/exclude", "*.tmp\n!kept.o\n");
    for directory in ["", "sub", "sub/deeper", "x"] {
        let directory = root.path().join(directory);
        let files: BTreeSet<Vec<u8>> = walk_of(&directory)
            .files
            .into_iter()
            .map(|file| file.path)
            .collect();
        assert_eq!(
            Some(files),
            files_of_git(&directory),
            "{}",
            directory.display()
        );
    }
    check_rules(root.path());
}

/// Compares rules with `git check-ignore -v`.
fn check_rules(root: &Path) {
    for skipped in walk_of(root).skipped {
        let SkipReason::Ignored(rule) = &skipped.reason else {
            continue;
        };
        let path = str::from_utf8(&skipped.path).unwrap();
        let told = git(root, &["check-ignore", "-v", "--", path]).unwrap();
        assert_eq!(
            String::from_utf8(told).unwrap(),
            format!("{rule}\t{path}\n")
        );
    }
}

/// Work tree with tracked files that patterns match; `None` without git.
fn tracked_tree() -> Option<TempDir> {
    let root = tree(&[
        (".gitignore", "*.gen.c\n/build\n"),
        ("a.gen.c", ""),
        ("b.gen.c", ""),
        ("build/notes/kept", ""),
        ("build/notes/other", ""),
        ("build/out/x", ""),
        ("build/y", ""),
        ("src/c.gen.c", ""),
        ("src/d.c", ""),
    ]);
    git(root.path(), &["init", "-q", "."])?;
    let tracked = ["b.gen.c", "build/notes/kept", "src/c.gen.c"];
    git(root.path(), &[&["add", "-f"], &tracked[..]].concat())?;
    Some(root)
}

#[test]
fn tracked_files_that_a_pattern_matches_are_searchable() {
    let Some(root) = tracked_tree() else { return };
    check(
        root.path(),
        expect![[r#"
        b.gen.c
        src/c.gen.c
        src/d.c
        .gitignore
        build/notes/kept
        - .git: git's own data
        - a.gen.c: excluded by .gitignore:1:*.gen.c
        - build/notes/other: excluded by .gitignore:2:/build
        - build/out: excluded by .gitignore:2:/build
        - build/y: excluded by .gitignore:2:/build
    "#]],
    );
    for directory in ["", "src", "build", "build/notes"] {
        let directory = root.path().join(directory);
        let files = walk_of(&directory).files.into_iter();
        let files: BTreeSet<Vec<u8>> = files.map(|file| file.path).collect();
        // The content of an excluded directory given by name is searchable.
        assert!(files.is_superset(&files_of_git(&directory).unwrap()));
    }
    git(root.path(), &["rm", "-q", "--cached", "b.gen.c"]);
    let files = walk_of(root.path()).files;
    assert!(files.iter().all(|file| file.path != b"b.gen.c"));
}

#[test]
fn a_damaged_or_missing_git_index_is_reported_and_patterns_decide() {
    let Some(root) = tracked_tree() else { return };
    let index = root.path().join(".git/index");
    let whole = fs::read(&index).unwrap();
    let check = |reason: &str| {
        let walk = walk_of(root.path());
        assert_eq!(walk.files.len(), 2, "{}", render(&walk));
        let skipped = walk.skipped.iter().find(|it| it.path == b".git/index");
        let said = skipped.map(|it| it.reason.to_string()).unwrap_or_default();
        assert!(
            said.starts_with(&format!("cannot be read: {reason}")),
            "{said}"
        );
        let walk = walk_of(&root.path().join("src"));
        assert_eq!(render(&walk).lines().count(), 3, "{}", render(&walk));
    };
    fs::write(&index, &whole[..whole.len() - 30]).unwrap();
    check("damaged: ");
    fs::remove_file(&index).unwrap();
    check("No such file or directory");
    fs::create_dir(&index).unwrap();
    check("not a regular file");
    // Without objects nothing is tracked.
    fs::remove_dir(&index).unwrap();
    fs::remove_dir_all(root.path().join(".git/objects")).unwrap();
    assert!(!render(&walk_of(root.path())).contains("cannot be read"));
}

#[test]
fn submodules_nested_repositories_and_linked_work_trees_have_their_own_git_index() {
    let Some(root) = tracked_tree() else { return };
    let (top, commit) = (root.path(), ["commit", "-q", "--allow-empty", "-m", "x"]);
    let git = |directory: &Path, arguments: &[&str]| {
        let user = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        git(directory, &[&user, arguments].concat()).unwrap();
    };
    for name in ["build/module", "nested"] {
        write(top, format!("{name}/.gitignore").as_bytes(), "*.o\n");
        write(top, format!("{name}/kept.o").as_bytes(), "");
        write(top, format!("{name}/other.o").as_bytes(), "");
        let directory = top.join(name);
        git(&directory, &["init", "-q", "."]);
        git(&directory, &["add", "-f", "kept.o"]);
        git(&directory, &commit);
    }
    // Tracked below an excluded directory.
    git(top, &["add", "-f", "build/module"]);
    git(top, &commit);
    git(top, &["worktree", "add", "-q", "linked"]);
    write(top, b"linked/.gitignore", "/build\n");
    write(top, b"linked/build/new", "");
    let walk = walk_of(top);
    let files: BTreeSet<_> = walk.files.iter().map(|file| &file.path[..]).collect();
    for path in [
        &b"build/module/kept.o"[..],
        b"build/module/.gitignore",
        b"nested/kept.o",
        b"linked/b.gen.c",
        b"linked/build/notes/kept",
    ] {
        assert!(
            files.contains(path),
            "{}: {}",
            path.escape_ascii(),
            render(&walk)
        );
    }
    for path in [
        &b"build/module/other.o"[..],
        b"nested/other.o",
        b"linked/build/new",
    ] {
        assert!(!files.contains(path), "{}", path.escape_ascii());
    }
}

#[test]
fn places_to_watch_are_the_directories_and_the_files_that_decide() {
    let Some(root) = tracked_tree() else { return };
    let root = fs::canonicalize(root.path()).unwrap();
    let found = watched(&root, false);
    let names = |paths: &[PathBuf]| -> Vec<String> {
        let relative = paths.iter().map(|path| path.strip_prefix(&root).unwrap());
        let mut names: Vec<_> = relative.map(|path| path.display().to_string()).collect();
        names.sort();
        names
    };
    assert_eq!(
        names(&found.directories),
        ["", "build", "build/notes", "src"]
    );
    let of_git = [
        ".git",
        ".git/commondir",
        ".git/index",
        ".git/info",
        ".git/info/exclude",
    ];
    assert_eq!(names(&found.deciding), of_git);
    let below = watched(&root.join("src"), false).deciding;
    assert_eq!(names(&below)[5..], [".gitignore"]);
    let all = watched(&root, true);
    assert_eq!(
        names(&all.directories),
        ["", "build", "build/notes", "build/out", "src"]
    );
    assert_eq!(all.deciding, Vec::<PathBuf>::new());
}

#[test]
fn the_signature_changes_with_files_and_rules() {
    let root = tree(&[("a", "1"), ("b", "")]);
    let walk = walk_of(root.path());
    let mut seen = vec![signature(&walk)];
    assert_eq!(signature(&walk_of(root.path())), seen[0]);
    let changes: [fn(&mut Walk); 8] = [
        |walk| walk.files[0].changed_ns += 1,
        |walk| walk.files[0].inode += 1,
        |walk| walk.files[0].bytes += 1,
        |walk| walk.files[0].modified_ns += 1,
        |walk| walk.files[0].path.push(b'b'),
        |walk| walk.files.truncate(1),
        |walk| {
            let reason = SkipReason::Unreadable("no".to_owned());
            walk.skipped.push(Skipped {
                path: b"c".to_vec(),
                reason,
            });
        },
        |walk| {
            walk.skipped.push(Skipped {
                path: b"c".to_vec(),
                reason: SkipReason::Binary,
            })
        },
    ];
    for change in changes {
        let mut changed = walk.clone();
        change(&mut changed);
        seen.push(signature(&changed));
    }
    let distinct: BTreeSet<u64> = seen.iter().copied().collect();
    assert_eq!(distinct.len(), seen.len());
}

fn deep_tree(root: &Path, depth: usize) -> Vec<u8> {
    let name = "d".repeat(200);
    let levels = depth / 15;
    let mut path = Vec::new();
    // Built inside out, so that no path is too long.
    let group = |root: &Path| {
        let group = root.join("group");
        let mut inner = group.clone();
        (0..15).for_each(|_| inner.push(&name));
        fs::create_dir_all(&inner).unwrap();
        inner
    };
    for level in 0..levels {
        let inner = group(root);
        if level == 0 {
            fs::write(inner.join("file"), "wanted\n").unwrap();
        } else {
            fs::rename(root.join("below"), inner.join("below")).unwrap();
        }
        fs::rename(root.join("group"), root.join("below")).unwrap();
        let part = format!("{}/", vec![&*name; 15].join("/"));
        path = [b"below/".as_slice(), part.as_bytes(), &path].concat();
    }
    [&path[..], b"file"].concat()
}

#[test]
fn files_deeper_than_a_path_can_be_are_read() {
    let root = tree(&[("a", "1")]);
    let path = deep_tree(root.path(), 60);
    assert!(path.len() > 12_000);
    let walk = walk_of(root.path());
    assert_eq!(walk.skipped, []);
    let paths: Vec<_> = walk.files.iter().map(|file| &file.path[..]).collect();
    assert!(paths.contains(&&path[..]));
    let deep = walk.files.iter().find(|file| file.path == path).unwrap();
    let mut text = Vec::new();
    crate::corpus::read(&source(root.path()), deep, &mut text).unwrap();
    assert_eq!(text, b"wanted\n");
}

#[test]
fn paths_that_an_index_cannot_hold_are_skipped_with_the_reason() {
    let root = tree(&[]);
    deep_tree(root.path(), 345);
    let walk = walk_of(root.path());
    assert_eq!(walk.files, []);
    assert_eq!(walk.skipped.len(), 1);
    let reason = walk.skipped[0].reason.to_string();
    assert!(reason.contains("NAME_BYTES_MAX"), "{reason}");
}
