//! Blames equal those of git.

use crate::support::{Root, Worktree};
use git::{Blame, BlameLimits, ChangeKind, LookupError};
use std::collections::HashMap;
use std::time::Duration;

/// The commit and the line in it of each line, as git says it.
fn by_git(worktree: &Worktree, rev: &str, path: &str) -> Vec<(String, u32, String)> {
    let text = worktree.git(["blame", "--porcelain", rev, "--", path]);
    let (mut lines, mut names) = (Vec::new(), HashMap::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let is_head = words[0].len() == 40 && words.len() >= 3 && !line.starts_with('\t');
        if is_head {
            lines.push((words[0].to_owned(), words[1].parse().unwrap()));
        } else if let Some(name) = line.strip_prefix("filename ") {
            names.insert(lines.last().unwrap().0.clone(), name.to_owned());
        }
    }
    let named = |(commit, line): (String, u32)| {
        let name = names[&commit].clone();
        (commit, line, name)
    };
    lines.into_iter().map(named).collect()
}

fn by_us(blame: &Blame) -> Vec<(String, u32, String)> {
    let mut lines = Vec::new();
    for hunk in &blame.hunks {
        assert_eq!(hunk.first as usize, lines.len() + 1, "every line once");
        let source = &blame.sources[hunk.source];
        let path = String::from_utf8_lossy(&source.path);
        for line in 0..hunk.lines {
            lines.push((
                source.commit.id.clone(),
                hunk.source_line + line,
                path.to_string(),
            ));
        }
    }
    lines
}

fn check(root: &Root, worktree: &Worktree, rev: &str, path: &str) -> Blame {
    let found = root.repositories();
    let found = found.blame("r", rev, path.as_bytes(), patient()).unwrap();
    let found = found.unwrap_or_else(|| panic!("{path} is there"));
    assert_eq!(by_us(&found), by_git(worktree, rev, path), "{rev}:{path}");
    assert!(found.complete);
    found
}

fn patient() -> BlameLimits {
    BlameLimits {
        time_max: Duration::from_secs(60),
        ..BlameLimits::default()
    }
}

fn lines(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers
        .into_iter()
        .map(|it| format!("line {it}\n"))
        .collect()
}

#[test]
fn a_blame_has_the_commits_that_git_blame_has() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("a/f", &lines(0..30), "one");
    worktree.commit("other", "x\n", "two");
    worktree.commit(
        "a/f",
        &lines((0..10).chain(100..105).chain(10..30)),
        "insert",
    );
    worktree.git(["checkout", "-q", "-b", "side"]);
    worktree.commit(
        "a/f",
        &lines((0..10).chain(100..105).chain(12..30).chain(200..203)),
        "side",
    );
    worktree.git(["checkout", "-q", "main"]);
    worktree.commit(
        "a/f",
        &lines((300..302).chain(0..10).chain(100..105).chain(10..30)),
        "top",
    );
    worktree.git(["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    worktree.commit("a/g", &lines(0..3), "another file");
    for rev in ["main", "main~1", "main~2", "side"] {
        check(&root, &worktree, rev, "a/f");
    }
    let found = check(&root, &worktree, "main", "a/f");
    let newest = worktree.git(["rev-parse", "main"]);
    assert_eq!(found.commit, newest);
    let top = found.sources.iter().find(|it| it.commit.subject == b"top");
    let previous = top.unwrap().previous.as_ref().unwrap();
    let before = worktree.git(["rev-parse", "main~1^1~1"]);
    assert_eq!(*previous, (before, b"a/f".to_vec()));
}

#[test]
fn a_blame_follows_a_file_that_was_moved() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("old/name.c", &lines(0..20), "one");
    worktree.commit("old/name.c", &lines((0..20).chain(50..52)), "two");
    worktree.git(["mv", "old/name.c", "new.c"]);
    worktree.git(["commit", "-q", "-m", "moved"]);
    worktree.commit(
        "new.c",
        &lines((0..3).chain(60..61).chain(3..20).chain(50..52)),
        "three",
    );
    std::fs::create_dir(worktree.path.join("sub")).unwrap();
    worktree.git(["mv", "new.c", "sub/new.c"]);
    worktree.commit(
        "sub/new.c",
        &lines((0..18).chain(70..72).chain(50..52)),
        "moved and changed",
    );
    let found = check(&root, &worktree, "main", "sub/new.c");
    let paths = found
        .sources
        .iter()
        .map(|it| String::from_utf8_lossy(&it.path));
    let paths: Vec<_> = paths.collect();
    assert!(paths.contains(&"old/name.c".into()), "{paths:?}");
}

#[test]
fn random_histories_are_blamed_as_by_git() {
    let root = Root::new();
    let worktree = root.init("r");
    let mut seed: u64 = 7;
    let mut random = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut texts: HashMap<&str, Vec<u64>> = HashMap::new();
    worktree.commit("f", "0\n", "first");
    for name in ["main", "side"] {
        texts.insert(name, vec![0]);
    }
    worktree.git(["branch", "side"]);
    for step in 0..60 {
        let branch = if random(3) == 0 { "side" } else { "main" };
        worktree.git(["checkout", "-q", branch]);
        let text = texts.get_mut(branch).unwrap();
        let before = text.clone();
        for _ in 0..1 + random(3) {
            let at = random(text.len() as u64 + 1) as usize;
            match random(3) {
                0 if at < text.len() => drop(text.remove(at)),
                // Few different lines, so that the diffs are ambiguous.
                _ => (0..random(6)).for_each(|_| text.insert(at, random(12))),
            }
        }
        if *text == before {
            continue;
        }
        let written: String = text
            .iter()
            .map(|it| format!("{}{it}\n", "\t".repeat(*it as usize % 3)))
            .collect();
        worktree.commit("f", &written, &format!("{step}"));
        if random(8) == 0 {
            let other = if branch == "main" { "side" } else { "main" };
            worktree.git(["merge", "-q", "-s", "ours", "-m", "merge", other]);
        }
    }
    for rev in ["main", "side", "main~7", "side~3", "main~20"] {
        if worktree
            .try_git(["cat-file", "-e", &format!("{rev}:f")])
            .1
            .is_none()
        {
            check(&root, &worktree, rev, "f");
        }
    }
}

#[test]
fn what_is_no_file_has_no_blame_and_a_large_file_is_refused() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("a/f", &lines(0..10), "one");
    worktree.commit("empty", "", "two");
    let repositories = root.repositories();
    let ask = |path: &str, limits| repositories.blame("r", "", path.as_bytes(), limits);
    for path in ["", "a", "a/f/x", "none"] {
        assert_eq!(ask(path, patient()), Ok(None), "{path}");
    }
    assert!(ask("empty", patient()).unwrap().unwrap().hunks.is_empty());
    let refused = |limits| matches!(ask("a/f", limits), Err(LookupError::Refused { .. }));
    assert!(refused(BlameLimits {
        lines_max: 9,
        ..patient()
    }));
    assert!(refused(BlameLimits {
        file_bytes_max: 10,
        ..patient()
    }));
}

#[test]
fn a_blame_that_reaches_a_limit_says_so() {
    let root = Root::new();
    let worktree = root.init("r");
    for count in 1..=10 {
        worktree.commit("f", &lines(0..count), &format!("{count}"));
    }
    let limits = BlameLimits {
        commits_max: 4,
        ..patient()
    };
    let found = root
        .repositories()
        .blame("r", "", b"f", limits)
        .unwrap()
        .unwrap();
    assert!(!found.complete);
    let last = found.hunks.last().unwrap();
    assert_eq!((last.first, last.lines, last.or_earlier), (10, 1, false));
    let first = found.hunks.first().unwrap();
    assert_eq!((first.lines, first.or_earlier), (6, true));
    assert_eq!(found.sources[first.source].commit.subject, b"6");
    let limits = BlameLimits {
        time_max: Duration::ZERO,
        ..patient()
    };
    let found = root
        .repositories()
        .blame("r", "", b"f", limits)
        .unwrap()
        .unwrap();
    assert!(found.hunks.iter().all(|hunk| hunk.or_earlier) && !found.complete);
}

#[test]
fn an_earlier_text_that_is_too_large_hides_the_commits_of_its_own_lines_alone() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("f", &lines(0..10), "first");
    worktree.git(["checkout", "-q", "-b", "side"]);
    worktree.commit("f", &lines((0..400).chain(500..501)), "large");
    worktree.commit("f", &lines((0..10).chain(500..501)), "small");
    worktree.git(["checkout", "-q", "main"]);
    worktree.commit("f", &lines((600..601).chain(0..10)), "top");
    worktree.git(["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    let limits = BlameLimits {
        file_bytes_max: 200,
        ..patient()
    };
    let found = root.repositories().blame("r", "", b"f", limits);
    let found = found.unwrap().unwrap();
    let hunks = found.hunks.iter().map(|hunk| {
        let subject = &found.sources[hunk.source].commit.subject;
        (hunk.first, hunk.lines, &subject[..], hunk.or_earlier)
    });
    let hunks: Vec<_> = hunks.collect();
    assert!(!found.complete);
    assert_eq!(
        hunks,
        [
            (1, 1, &b"top"[..], false),
            (2, 10, b"first", false),
            (12, 1, b"small", true),
        ]
    );
}

#[test]
fn a_commit_lists_the_files_that_git_lists() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("a/f", "1\n", "one");
    worktree.commit("b", "1\n", "two");
    worktree.git(["rm", "-q", "-r", "a"]);
    std::fs::write(worktree.path.join("a"), "now a file\n").unwrap();
    std::fs::create_dir_all(worktree.path.join("c/d")).unwrap();
    std::fs::write(worktree.path.join("c/d/e"), "new\n").unwrap();
    worktree.commit("b", "2\n", "three");
    let repositories = root.repositories();
    for rev in ["main", "main~1", "main~2"] {
        let found = repositories.changes("r", rev, 100).unwrap();
        let found = found.files.iter().map(|change| {
            let kind = match change.kind {
                ChangeKind::Added => "A",
                ChangeKind::Removed => "D",
                ChangeKind::Modified => "M",
            };
            format!("{kind}\t{}", String::from_utf8_lossy(&change.path))
        });
        let args = ["show", "--no-renames", "--name-status", "--format=", rev];
        let expected = worktree.git(args);
        let mut expected: Vec<&str> = expected.lines().collect();
        let mut found: Vec<String> = found.collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{rev}");
    }
    let few = repositories.changes("r", "main", 2).unwrap();
    assert_eq!((few.files.len(), few.more), (2, true));
}
