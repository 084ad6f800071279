//! Files of a commit, with hostile names.

use crate::support::{Root, Worktree};
use git::{
    Blob, Files, Hazard, LookupError, ObjectId, SourceOptions, SourceRepository, TreeEntryKind,
};
use std::io::Write;
use std::process::{Command, Stdio};

/// Writes a tree that `git` would not make.
fn tree(worktree: &Worktree, entries: &[(&str, &[u8], &str)]) -> String {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        write!(bytes, "{mode} ").unwrap();
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend((0..20).map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).unwrap()));
    }
    hash(worktree, "tree", &bytes)
}

fn hash(worktree: &Worktree, kind: &str, bytes: &[u8]) -> String {
    let mut child = Command::new("git")
        .args(["hash-object", "-w", "--literally", "--stdin", "-t", kind])
        .current_dir(&worktree.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git is installed: apt install git");
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

fn open(worktree: &Worktree) -> SourceRepository {
    let options = SourceOptions::default();
    SourceRepository::open(&worktree.path, &options).expect("it is a repository")
}

fn files(repository: &SourceRepository, tree: &str) -> Files {
    let files = repository.files(&[tree.to_owned()]);
    files.expect("the tree is whole")
}

fn id(hex: &str) -> ObjectId {
    let digits = (0..hex.len()).step_by(2);
    let bytes = digits.map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
    ObjectId::from_bytes_or_panic(&bytes.collect::<Vec<u8>>())
}

#[test]
fn the_files_of_a_commit_are_those_of_git_ls_tree() {
    let root = Root::new();
    let worktree = root.init("r");
    for file in ["a", "b/c", "b/d/e", "z"] {
        worktree.commit(file, file, file);
    }
    worktree.git(["update-index", "--chmod=+x", "z"]);
    worktree.git(["commit", "-q", "-m", "executable"]);
    for packed in [false, true] {
        let tree = worktree.git(["rev-parse", "HEAD^{tree}"]);
        let mut found = files(&open(&worktree), &tree).files;
        found.sort_by(|a, b| a.path.cmp(&b.path));
        let found: Vec<String> = (found.into_iter())
            .map(|it| format!("{} {}", it.id, String::from_utf8(it.path).unwrap()))
            .collect();
        let expected = worktree.git(["ls-tree", "-r", "--format=%(objectname) %(path)", "HEAD"]);
        assert_eq!(found.join("\n"), expected, "packed: {packed}");
        worktree.git(["gc", "-q"]);
    }
}

#[test]
fn symbolic_links_lead_where_git_follows_them_and_never_out_of_the_tree() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("a/deploy.yaml", "deploy", "a file");
    let links = [
        ("../a/deploy.yaml", "b/deploy.yaml"),
        ("b/deploy.yaml", "twice"),
        ("a", "directory"),
        ("directory/../a/deploy.yaml", "through"),
        ("a//deploy.yaml", "slashes"),
        ("nowhere", "dangling"),
        ("loop", "loop"),
        ("/etc/passwd", "absolute"),
        ("../../../etc/passwd", "above"),
        ("../r/a/deploy.yaml", "around"),
        ("a/deploy.yaml/x", "below"),
    ];
    for (target, link) in links {
        let path = worktree.path.join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }
    worktree.git(["add", "-A"]);
    worktree.git(["commit", "-q", "-m", "links"]);
    let ask = |path: &str| {
        let command = "git cat-file --batch-check='%(objecttype) %(objectname)' --follow-symlinks";
        let asked = format!("printf 'HEAD:{path}\\n' | {command}");
        let said = Command::new("sh")
            .args(["-c", &asked])
            .current_dir(&worktree.path)
            .output();
        String::from_utf8(said.unwrap().stdout).unwrap()
    };
    let repositories = root.repositories();
    for path in [
        "a/deploy.yaml",
        "b/deploy.yaml",
        "twice",
        "directory/deploy.yaml",
        "directory",
        "through",
        "slashes",
        "dangling",
        "loop",
        "absolute",
        "above",
        "around",
        "below",
        "a",
        "none",
    ] {
        let (_, found) = repositories
            .file("r", "HEAD", path.as_bytes(), 100)
            .unwrap();
        let expected = if ask(path).starts_with("blob ") {
            Some(Blob::Content(b"deploy".to_vec()))
        } else {
            // The text of a broken link is its target.
            let mut links = links.iter();
            let link = links.find(|(_, link)| *link == path);
            link.map(|(target, _)| Blob::Content(target.as_bytes().to_vec()))
        };
        assert_eq!(found, expected, "{path}: {}", ask(path));
    }
}

#[test]
fn a_directory_of_any_commit_is_listed() {
    let root = Root::new();
    let worktree = root.init("r");
    let file = hash(&worktree, "blob", b"text");
    let inner = tree(&worktree, &[("100644", b"b.c", &file)]);
    let entries = [
        ("100644", &b".."[..], &file[..]),
        ("100644", b"\xff.c", &file),
        ("120000", b"link", &file),
        ("160000", b"submodule", &file),
        ("40000", b"a", &inner),
    ];
    let top = tree(&worktree, &entries);
    let commit = worktree.git(["commit-tree", "-m", "x", &top]);
    let list = |path: &[u8]| {
        let repositories = root.repositories();
        repositories.directory("r", &commit, path).unwrap()
    };
    let mut names = list(b"");
    names.sort();
    assert_eq!(names, [&b"a/"[..], b"link", b"\xff.c"]);
    assert_eq!(list(b"a/"), [b"b.c"]);
    for none in [&b"link"[..], b"a/b.c", b"x/"] {
        assert_eq!(list(none), [b""; 0]);
    }
}

#[test]
fn hostile_names_are_reported_with_their_hazard() {
    let root = Root::new();
    let worktree = root.init("r");
    let file = hash(&worktree, "blob", b"text");
    let inner = tree(&worktree, &[("100644", b"config", &file)]);
    let names: [(&[u8], Hazard); 6] = [
        (b"..", Hazard::Traversal),
        (b"../../etc/passwd", Hazard::Traversal),
        (b"/etc", Hazard::Traversal),
        (b".GiT ", Hazard::GitDirectory),
        (b"a\nb", Hazard::Control),
        (b"name.", Hazard::TrailingDot),
    ];
    let mut entries: Vec<(&str, &[u8], &str)> = names
        .iter()
        .map(|(name, _)| ("100644", *name, file.as_str()))
        .collect();
    entries.push(("40000", b".git", &inner));
    entries.push(("120000", b"link", &file));
    entries.push(("160000", b"module", &file));
    let repository = open(&worktree);
    let found = files(&repository, &tree(&worktree, &entries)).files;
    let at = |path: &[u8]| found.iter().find(|it| it.path == path).expect("listed");
    for (name, hazard) in names {
        assert_eq!(at(name).hazard, Some(hazard), "{name:?}");
    }
    assert_eq!(at(b".git/config").hazard, Some(Hazard::GitDirectory));
    assert_eq!(at(b"link").kind, TreeEntryKind::Link);
    assert_eq!(at(b"module").kind, TreeEntryKind::Submodule);
}

#[test]
fn a_file_is_read_up_to_a_number_of_bytes() {
    let root = Root::new();
    let worktree = root.init("r");
    let file = hash(&worktree, "blob", b"text");
    let inner = tree(&worktree, &[("100644", b"config", &file)]);
    let repository = open(&worktree);
    let read = |hex: &str, bytes_max| {
        let take = |content: Result<&[u8], u64>| content.map(<[u8]>::to_vec);
        repository.blob(id(hex), bytes_max, take)
    };
    assert_eq!(read(&file, 4), Ok(Ok(b"text".to_vec())));
    assert_eq!(read(&file, 3), Ok(Err(4)));
    assert!(matches!(read(&inner, 3), Err(LookupError::Refused { .. })));
    assert!(read(&"0".repeat(40), 3).is_err());
}

#[test]
fn a_tree_4000_deep_is_walked() {
    let root = Root::new();
    let worktree = root.init("r");
    let mut stream = String::from(
        "commit refs/heads/main\ncommitter a <a> 1 +0000\ndata 1\nx\nM 100644 inline ",
    );
    stream.push_str(&"d/".repeat(4_000));
    stream.push_str("f\ndata 1\nx\n");
    let mut child = Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(&worktree.path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("git is installed: apt install git");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stream.as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success());
    let tree = worktree.git(["rev-parse", "main^{tree}"]);
    let paths = files(&open(&worktree), &tree).files;
    let paths: Vec<_> = paths.iter().map(|it| it.path.len()).collect();
    assert_eq!(paths, [8_001]);
    let log = root
        .repositories()
        .log("r", "main", b"d/d/d", None, 1)
        .unwrap();
    assert_eq!(log.commits.len(), 1);
}
