//! A repository opened by path for indexing.

use crate::support::{Root, Worktree, init};
use git::{
    LeftOut, LookupError, SourceOptions, SourceRepository, TreeEntryKind, repositories_below,
};
use std::path::Path;

fn open(path: &Path) -> SourceRepository {
    SourceRepository::open(path, &SourceOptions::default()).expect("it is a repository")
}

fn names(repository: &SourceRepository, patterns: &[&str]) -> (Vec<String>, String) {
    let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
    let selection = repository.select(&patterns).expect("the patterns match");
    let names: Vec<String> = (selection.revisions.iter())
        .map(|it| String::from_utf8_lossy(&it.name).into_owned())
        .collect();
    let default = names[selection.default].clone();
    (names, default)
}

/// Lists `path id revisions` of the chosen revisions.
fn listed(repository: &SourceRepository, patterns: &[&str]) -> Vec<String> {
    let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
    let selection = repository.select(&patterns).expect("the patterns match");
    let trees: Vec<String> = selection
        .revisions
        .into_iter()
        .map(|it| it.commit.tree)
        .collect();
    let files = repository.files(&trees).expect("the trees are whole");
    let mut lines: Vec<String> = (files.files.iter())
        .map(|it| {
            let path = String::from_utf8_lossy(&it.path).into_owned();
            format!("{path} {} {:?}", it.id, files.sets[it.revisions as usize])
        })
        .collect();
    lines.sort();
    lines
}

fn with_history(worktree: &Worktree) {
    worktree.commit("src/a.c", "one\n", "first");
    worktree.commit("src/b.c", "b\n", "second");
    worktree.git(["tag", "v1.0"]);
    worktree.commit("src/a.c", "two\n", "third");
    worktree.git(["tag", "-a", "-m", "annotated", "v1.1"]);
    worktree.git(["checkout", "-q", "-b", "topic/x", "v1.0"]);
    worktree.commit("src/deep/er/c.c", "c\n", "fourth");
    worktree.git(["checkout", "-q", "main"]);
}

#[test]
fn the_default_branch_or_what_patterns_name_is_chosen() {
    let root = Root::new();
    let worktree = root.init("r");
    with_history(&worktree);
    let repository = open(&worktree.path);
    let head = "refs/heads/main".to_owned();
    assert_eq!(names(&repository, &[]), (vec![head.clone()], head.clone()));
    assert_eq!(names(&repository, &["HEAD"]).1, head);
    let tags = vec!["refs/tags/v1.0".to_owned(), "refs/tags/v1.1".to_owned()];
    // The youngest commit is the default.
    assert_eq!(
        names(&repository, &["v1.*"]),
        (tags.clone(), tags[1].clone())
    );
    assert_eq!(
        names(&repository, &["v1.0", "refs/tags/*"]),
        (tags.clone(), tags[0].clone())
    );
    let all = names(&repository, &["all"]);
    assert_eq!((all.0.len(), all.1), (4, head.clone()));
    assert_eq!(names(&repository, &["topic/x"]).0, ["refs/heads/topic/x"]);
    assert_eq!(names(&repository, &["*x"]).0, ["refs/heads/topic/x"]);
    let id = worktree.git(["rev-parse", "main~1"]);
    assert_eq!(names(&repository, &[&id[..8]]).0, [id.as_str()]);
    worktree.git(["checkout", "-q", "--detach", "main~1"]);
    assert_eq!(names(&open(&worktree.path), &[]).0, [id.as_str()]);
}

#[test]
fn a_pattern_that_matches_nothing_names_what_resembles_it() {
    let root = Root::new();
    let worktree = root.init("r");
    with_history(&worktree);
    let repository = open(&worktree.path);
    for (pattern, near) in [
        ("v1.00", "v1.0"),
        ("topik/x", "topic/x"),
        ("v1.1*1", "v1.1"),
    ] {
        let found = repository.select(&[pattern.to_owned()]);
        let Err(LookupError::UnknownRevision { candidates }) = found else {
            panic!("{pattern}: {found:?}");
        };
        assert!(
            candidates.iter().any(|it| it == near),
            "{pattern}: {candidates:?}"
        );
    }
    let unborn = root.init("unborn");
    let error = open(&unborn.path).select(&[]).unwrap_err().to_string();
    assert!(error.contains("no commit yet"), "{error}");
    worktree.git(["symbolic-ref", "HEAD", "refs/heads/gone"]);
    let error = open(&worktree.path).select(&[]).unwrap_err().to_string();
    assert!(
        error.contains("refs/heads/gone has no commit") && error.contains("main"),
        "{error}"
    );
}

#[test]
fn a_pattern_that_matches_nothing_leaves_what_the_others_choose() {
    let root = Root::new();
    let worktree = root.init("r");
    with_history(&worktree);
    let repository = open(&worktree.path);
    let select = |patterns: &[&str]| {
        let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
        repository.select(&patterns)
    };
    for patterns in [
        ["HEAD", "z*"],
        ["z*", "HEAD"],
        ["main", "develop"],
        ["main", "0123456789abcdef"],
        ["all", "z?"],
    ] {
        let selection = select(&patterns).expect("one of them matches");
        let alone = patterns.iter().find_map(|it| select(&[it]).ok());
        let alone = alone.expect("one of them matches alone");
        assert_eq!(selection.revisions, alone.revisions, "{patterns:?}");
        assert_eq!(selection.default, alone.default, "{patterns:?}");
        let missing: Vec<&str> = selection.missing.iter().map(|it| &*it.0).collect();
        let unmatched = patterns.into_iter().filter(|it| select(&[it]).is_err());
        assert_eq!(missing, unmatched.collect::<Vec<_>>());
    }
    // `HEAD` without a commit, and a reference to a file.
    worktree.git(["symbolic-ref", "HEAD", "refs/heads/gone"]);
    let blob = worktree.git(["rev-parse", "main:src/a.c"]);
    worktree.git(["update-ref", "refs/tags/file", &blob]);
    let repository = open(&worktree.path);
    let patterns = ["HEAD", "main", "file"].map(str::to_owned);
    let selection = repository.select(&patterns).expect("main has a commit");
    assert_eq!(selection.revisions[0].name, b"refs/heads/main");
    let missing: Vec<String> = selection
        .missing
        .iter()
        .map(|(name, why)| format!("{name}: {why}"))
        .collect();
    assert!(
        missing.len() == 2
            && missing[0].contains("refs/heads/gone has no commit")
            && missing[1].contains("refs/tags/file leads to no commit"),
        "{missing:?}"
    );
}

#[test]
fn files_of_several_revisions_are_listed_once_with_those_that_have_them() {
    let root = Root::new();
    let worktree = root.init("r");
    with_history(&worktree);
    for _ in 0..2 {
        let found = listed(&open(&worktree.path), &["all"]);
        let mut expected: Vec<String> = Vec::new();
        let revisions = [
            "refs/heads/main",
            "refs/heads/topic/x",
            "refs/tags/v1.0",
            "refs/tags/v1.1",
        ];
        let lines: Vec<String> = (revisions.iter().enumerate())
            .flat_map(|(number, name)| {
                let text = worktree.git(["ls-tree", "-r", "--format=%(path) %(objectname)", name]);
                text.lines()
                    .map(|line| format!("{number} {line}"))
                    .collect::<Vec<_>>()
            })
            .collect();
        let mut files: Vec<&str> = lines.iter().map(|line| &line[2..]).collect();
        files.sort_unstable();
        files.dedup();
        for file in files {
            let of: Vec<usize> = (0..4)
                .filter(|number| lines.contains(&format!("{number} {file}")))
                .collect();
            expected.push(format!("{file} {of:?}"));
        }
        assert_eq!(found, expected);
        worktree.git(["gc", "-q"]);
    }
}

#[test]
fn a_work_tree_a_bare_one_and_a_linked_work_tree_are_the_same_source() {
    for hash in ["sha1", "sha256"] {
        let root = Root::new();
        let format = format!("--object-format={hash}");
        let worktree = init(&root.path().join("r"), &[&format]);
        with_history(&worktree);
        worktree.git(["clone", "-q", "--bare", ".", "../bare.git"]);
        worktree.git(["worktree", "add", "-q", "../linked", "v1.1"]);
        let expected = listed(&open(&worktree.path), &["v1.1"]);
        for (path, name) in [("r/.git", "r"), ("bare.git", "bare"), ("linked", "linked")] {
            let repository = open(&root.path().join(path));
            assert_eq!(listed(&repository, &["v1.1"]), expected, "{path}");
            assert_eq!(repository.name().as_deref(), Some(name.as_bytes()));
        }
        let linked = open(&root.path().join("linked"));
        let (names, _) = names(&linked, &[]);
        assert_eq!(names, [worktree.git(["rev-parse", "v1.1^{commit}"])]);
    }
    let root = Root::new();
    let found = SourceRepository::open(&root.path(), &SourceOptions::default()).map(drop);
    assert!(found.unwrap_err().to_string().contains("no git repository"));
}

#[test]
fn alternates_elsewhere_are_read_if_they_are_allowed() {
    let root = Root::new();
    let outside = init(&root.outside().join("deep"), &[]);
    with_history(&outside);
    let target = root.path().join("shared.git");
    let target = target.to_str().unwrap();
    outside.git(["clone", "-q", "--shared", "--bare", ".", target]);
    let refused = SourceRepository::open(target.as_ref(), &SourceOptions::default()).map(drop);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("--alternates-root"), "{refused}");
    let allowed = SourceOptions {
        alternates_roots: vec![root.outside()],
        ..SourceOptions::default()
    };
    let repository = SourceRepository::open(target.as_ref(), &allowed).unwrap();
    assert_eq!(
        listed(&repository, &["all"]),
        listed(&open(&outside.path), &["all"])
    );
    let missing = SourceOptions {
        alternates_roots: vec![root.path().join("nowhere")],
        ..SourceOptions::default()
    };
    let error = SourceRepository::open(target.as_ref(), &missing)
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
}

/// As `git receive-pack` before it accepts a push.
#[test]
fn objects_that_the_environment_names_are_read_for_one_repository() {
    let root = Root::new();
    let worktree = root.init("r");
    with_history(&worktree);
    let objects = worktree.path.join(".git/objects");
    let quarantine = root.path().join("quarantine");
    std::fs::create_dir_all(quarantine.join("pack")).unwrap();
    worktree.commit("pushed", "pushed\n", "fifth");
    let id = worktree.git(["rev-parse", "HEAD"]);
    let new = worktree.git(["rev-list", "--objects", "HEAD~1..HEAD"]);
    for line in new.lines() {
        let name = &line[..40];
        let (fan, rest) = name.split_at(2);
        std::fs::create_dir_all(quarantine.join(fan)).unwrap();
        let from = objects.join(fan).join(rest);
        std::fs::rename(from, quarantine.join(fan).join(rest)).unwrap();
    }
    let plain = open(&worktree.path);
    assert!(plain.select(std::slice::from_ref(&id)).is_err());
    let options = SourceOptions {
        object_directory: Some(quarantine),
        alternate_object_directories: vec![objects],
        ..SourceOptions::default()
    };
    let repository = SourceRepository::open(&worktree.path, &options).unwrap();
    let lines = listed(&repository, &[&id]);
    assert!(
        lines.iter().any(|line| line.starts_with("pushed ")),
        "{lines:?}"
    );
    let file = repository.select(&[id]).unwrap().revisions[0]
        .commit
        .tree
        .clone();
    let files = repository.files(&[file]).unwrap().files;
    let file = files.iter().find(|file| file.path == b"pushed").unwrap();
    let text = repository
        .blob(file.id, 100, |bytes| bytes.map(<[u8]>::to_vec))
        .unwrap();
    assert_eq!(text, Ok(b"pushed\n".to_vec()));
}

#[test]
fn a_missing_directory_is_listed_and_the_others_are_walked() {
    let root = Root::new();
    let worktree = root.init("r");
    with_history(&worktree);
    let tree = worktree.git(["rev-parse", "topic/x:src/deep"]);
    let (fan, rest) = tree.split_at(2);
    std::fs::remove_file(worktree.path.join(".git/objects").join(fan).join(rest)).unwrap();
    let repository = open(&worktree.path);
    let selection = repository.select(&["topic/x".to_owned()]).unwrap();
    let files = repository
        .files(&[selection.revisions[0].commit.tree.clone()])
        .unwrap();
    assert_eq!(files.files.len(), 2);
    assert_eq!(files.damaged[0].path, b"src/deep");
    assert!(
        files.damaged[0].reason.contains(&tree),
        "{:?}",
        files.damaged
    );
}

#[test]
fn attributes_are_those_of_the_tree() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("lib/z.c", "z\n", "first");
    worktree.commit("lib/own/.gitattributes", "* -linguist-vendored\n", "second");
    worktree.commit("lib/own/z.c", "z\n", "third");
    worktree.commit(
        ".gitattributes",
        "lib/** linguist-vendored\n*.gen linguist-generated\n",
        "fourth",
    );
    let repository = open(&worktree.path);
    let selection = repository.select(&["HEAD".to_owned()]).unwrap();
    let files = repository
        .files(&[selection.revisions[0].commit.tree.clone()])
        .unwrap();
    let attributes = repository.attributes(&files, 0);
    assert_eq!(attributes.of(b"lib/z.c").is_foreign, Some(true));
    assert_eq!(attributes.of(b"lib/own/z.c").is_foreign, Some(false));
    assert_eq!(attributes.of(b"a.gen").is_foreign, Some(true));
    assert_eq!(attributes.of(b"a.c").is_foreign, None);
    assert!(
        files
            .files
            .iter()
            .all(|file| file.kind == TreeEntryKind::File)
    );
}

/// Layout of `git init --ref-format=reftable`, perhaps unknown to the installed git.
#[test]
fn a_repository_with_reftables_is_refused_with_the_reason() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("a.c", "a\n", "first");
    let git_dir = worktree.path.join(".git");
    std::fs::write(git_dir.join("HEAD"), "ref: refs/heads/.invalid\n").unwrap();
    let options = SourceOptions::default();
    let refused = SourceRepository::open(&worktree.path, &options).map(|_| ());
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("reftable format") && error.contains("git refs migrate"),
        "{error}"
    );
    let looked_up = root
        .repositories()
        .commit("r", "HEAD")
        .unwrap_err()
        .to_string();
    assert_eq!(looked_up, error);
}

#[test]
fn repositories_below_a_directory_are_found_with_those_that_links_lead_to() {
    let root = Root::new();
    for name in ["a", "group/b", "group/sub/c", ".hidden/d", ".dotfiles"] {
        root.init(name).commits(1);
    }
    let other = Root::new();
    other.init("linked").commits(1);
    let at = |path: &str| root.path().join(path);
    for (target, link) in [
        (other.path().join("linked"), "group/e.git"),
        (other.path().join("linked"), "second"),
        (at("a"), "again"),
        (at("group"), "loop"),
        (at("gone"), "dangling"),
    ] {
        std::os::unix::fs::symlink(target, at(link)).unwrap();
    }
    std::fs::create_dir_all(at("notes/deep")).unwrap();
    std::fs::write(at("notes/deep/text"), "x").unwrap();
    std::fs::write(at("group/README"), "x").unwrap();
    root.init("a.git").commits(1);
    let found = repositories_below(&root.path()).unwrap();
    let names: Vec<String> = (found.repositories.keys())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    assert_eq!(
        names,
        [".dotfiles", "a", "group/b", "group/e", "group/sub/c"]
    );
    let is_of_support = |path: &Path| path.file_name().is_some_and(|it| it == ".clock");
    let left_out: Vec<(&str, &LeftOut)> = (found.left_out.iter())
        .filter(|(path, _)| !is_of_support(path))
        .map(|(path, why)| {
            (
                path.strip_prefix(root.path()).unwrap().to_str().unwrap(),
                why,
            )
        })
        .collect();
    let expected = [
        (".hidden", &LeftOut::Hidden),
        ("a.git", &LeftOut::SameName(at("a"))),
        ("again", &LeftOut::Link),
        ("dangling", &LeftOut::Link),
        ("group/README", &LeftOut::File),
        ("loop", &LeftOut::Link),
        ("notes", &LeftOut::NoRepository),
        ("second", &LeftOut::Link),
    ];
    assert_eq!(left_out, expected);
    assert!(!found.is_truncated);
    assert!(repositories_below(&at("nowhere")).is_err());
}
