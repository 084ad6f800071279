//! Blames equal those of git.

use crate::support::{Root, Worktree};
use git::{Blame, BlameLimits, LookupError};
use schema::message::ChangeKind;
use std::collections::HashMap;
use std::time::Duration;

/// Commit and line of each line, by git.
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
        let source = &blame.sources[hunk.source as usize];
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

struct History {
    root: Root,
    worktree: Worktree,
}

impl History {
    fn new() -> History {
        let root = Root::new();
        let worktree = root.init("r");
        History { root, worktree }
    }

    fn commit(&self, path: &str, text: &str) {
        let message = format!("{path} has {} lines", text.lines().count());
        self.worktree.commit(path, text, &message);
    }

    fn git<const N: usize>(&self, arguments: [&str; N]) -> String {
        self.worktree.git(arguments)
    }

    fn blame(
        &self,
        rev: &str,
        path: &str,
        limits: BlameLimits,
    ) -> Result<Option<Blame>, LookupError> {
        let repositories = self.root.repositories();
        repositories.blame("r", rev, path.as_bytes(), limits)
    }

    fn check(&self, rev: &str, path: &str) -> Blame {
        let found = self.blame(rev, path, patient()).unwrap();
        let found = found.unwrap_or_else(|| panic!("{path} is there"));
        let expected = by_git(&self.worktree, rev, path);
        assert_eq!(by_us(&found), expected, "{rev}:{path}");
        assert!(found.complete);
        found
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.worktree.path.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
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
    let history = History::new();
    let (start, middle) = (|| 0..10, || 100..105);
    history.commit("a/f", &lines(0..30));
    history.commit("other", "x\n");
    history.commit("a/f", &lines(start().chain(middle()).chain(10..30)));
    history.git(["checkout", "-q", "-b", "side"]);
    let side = start().chain(middle()).chain(12..30).chain(200..203);
    history.commit("a/f", &lines(side));
    history.git(["checkout", "-q", "main"]);
    let top = (300..302).chain(start()).chain(middle()).chain(10..30);
    history.worktree.commit("a/f", &lines(top), "top");
    history.git(["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    history.commit("a/g", &lines(0..3));
    for rev in ["main", "main~1", "main~2", "side"] {
        history.check(rev, "a/f");
    }
    let found = history.check("main", "a/f");
    assert_eq!(found.commit, history.git(["rev-parse", "main"]));
    let top = found.sources.iter().find(|it| it.commit.subject == b"top");
    let previous = top.unwrap().previous.as_ref().unwrap();
    let before = history.git(["rev-parse", "main~1^1~1"]);
    assert_eq!(*previous, (before, b"a/f".to_vec()));
}

#[test]
fn a_blame_follows_a_file_that_was_moved() {
    let history = History::new();
    history.commit("old/name.c", &lines(0..20));
    history.commit("old/name.c", &lines((0..20).chain(50..52)));
    history.git(["mv", "old/name.c", "new.c"]);
    history.git(["commit", "-q", "-m", "moved"]);
    let changed = (0..3).chain(60..61).chain(3..20).chain(50..52);
    history.commit("new.c", &lines(changed));
    std::fs::create_dir(history.worktree.path.join("sub")).unwrap();
    history.git(["mv", "new.c", "sub/new.c"]);
    let changed = (0..18).chain(70..72).chain(50..52);
    history.commit("sub/new.c", &lines(changed));
    let found = history.check("main", "sub/new.c");
    let mut paths = found.sources.iter().map(|it| &it.path[..]);
    assert!(paths.any(|path| path == b"old/name.c"));
}

/// Similar files are removed along with a move.
#[test]
fn the_former_name_is_the_one_that_git_finds() {
    let text = || lines(0..100);
    let share = |share: u32| lines((0..share).chain(1000..1100 - share));
    let crlf = text().replace('\n', "\r\n");
    for (removed, now) in [
        // Same content: same last name, then first path.
        (vec![("z/b", text()), ("z/a/c", text())], "f"),
        (vec![("b", text()), ("z/f", text())], "f"),
        // Same last name with three quarters in common wins without comparison.
        (vec![("b", share(95)), ("z/f", share(80))], "f"),
        (vec![("b", share(95)), ("z/f", share(60))], "f"),
        (vec![("b", share(40)), ("z/f", share(40))], "f"),
        // Several of the last name compete with all others.
        (
            vec![("b", share(95)), ("y/f", share(80)), ("z/f", share(90))],
            "f",
        ),
        (
            vec![("b", share(80)), ("y/f", share(80)), ("z/f", share(80))],
            "f",
        ),
        (vec![("b", crlf.clone()), ("c", share(52))], "f"),
    ] {
        let history = History::new();
        for (path, text) in &removed {
            history.write(path, text);
        }
        history.commit("stays", &text());
        for (path, _) in &removed {
            history.git(["rm", "-q", path]);
        }
        history.commit(now, &text());
        history.check("main", now);
    }
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_its_end() {
    let history = History::new();
    let link = |path: &str| {
        let _ = std::fs::remove_file(history.worktree.path.join(path));
        std::os::unix::fs::symlink("stays", history.worktree.path.join(path)).unwrap();
    };
    history.write("replaced", &lines(0..50));
    history.commit("stays", "x\n");
    link("replaced");
    history.commit("new", &lines(0..50));
    history.check("main", "new");
    link("other");
    history.commit("stays", "y\n");
    std::fs::remove_file(history.worktree.path.join("other")).unwrap();
    history.git(["rm", "-q", "new"]);
    history.commit("other", &lines(0..50));
    history.check("main", "other");
}

/// Compares blames on two random branches. `line` makes a line of a number below 12; `end` ends
/// each text.
fn check_random(seed: u64, steps: u32, line: impl Fn(usize) -> String, end: &str) {
    let mut random = Random(seed);
    let history = History::new();
    let mut texts: HashMap<&str, Vec<usize>> = HashMap::new();
    history.commit("f", &line(0));
    for name in ["main", "side"] {
        texts.insert(name, vec![0]);
    }
    history.git(["branch", "side"]);
    for step in 0..steps {
        let (branch, other) = match random.below(3) {
            0 => ("side", "main"),
            _ => ("main", "side"),
        };
        history.git(["checkout", "-q", branch]);
        let text = texts.get_mut(branch).unwrap();
        for _ in 0..1 + random.below(3) {
            let at = random.below(text.len() + 1);
            match random.below(3) {
                0 if at < text.len() => drop(text.remove(at)),
                // Few different lines, for ambiguous diffs.
                _ => (0..random.below(6)).for_each(|_| text.insert(at, random.below(12))),
            }
        }
        let written: String = text.iter().map(|it| line(*it)).collect();
        history.write("step", &step.to_string());
        history.commit("f", &(written + end));
        if random.below(8) == 0 {
            history.git(["merge", "-q", "-s", "ours", "-m", "merge", other]);
        }
    }
    for rev in ["main", "side", "main~7", "side~3", "main~20"] {
        let (_, error) = (history.worktree).try_git(["cat-file", "-e", &format!("{rev}:f")]);
        if error.is_none() {
            history.check(rev, "f");
        }
    }
}

#[test]
fn random_histories_are_blamed_as_by_git() {
    let line = |number: usize| format!("{}{number}\n", "\t".repeat(number % 3));
    check_random(7, 60, line, "");
}

/// A block's place depends on indents, blank lines, and the common end that git leaves out.
#[test]
fn blocks_that_fit_in_several_places_are_where_git_puts_them() {
    let code = [
        "",
        "}",
        "    }",
        "\x0c",
        "    if a {",
        "fn f() {",
        "        b();",
        "\r",
        "  ",
        "\tc",
    ];
    let line = |number: usize| format!("{}\n", code[number % code.len()]);
    check_random(3, 40, line, "");
    let end: String = (0..400).map(|it| line(it * it % 11)).collect();
    check_random(5, 40, line, &end);
}

#[test]
fn what_is_no_file_has_no_blame_and_a_large_file_is_refused() {
    let history = History::new();
    history.commit("a/f", &lines(0..10));
    history.commit("empty", "");
    for path in ["", "a", "a/f/x", "none"] {
        assert_eq!(history.blame("", path, patient()), Ok(None), "{path}");
    }
    let empty = history.blame("", "empty", patient()).unwrap().unwrap();
    assert!(empty.hunks.is_empty());
    let refused = |limits| {
        let found = history.blame("", "a/f", limits);
        matches!(found, Err(LookupError::Refused { .. }))
    };
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
    let history = History::new();
    for count in 1..=10 {
        (history.worktree).commit("f", &lines(0..count), &format!("{count}"));
    }
    let blame = |limits| history.blame("", "f", limits).unwrap().unwrap();
    let found = blame(BlameLimits {
        commits_max: 4,
        ..patient()
    });
    assert!(!found.complete);
    let last = found.hunks.last().unwrap();
    assert_eq!((last.first, last.lines, last.or_earlier), (10, 1, false));
    let first = found.hunks.first().unwrap();
    assert_eq!((first.lines, first.or_earlier), (6, true));
    assert_eq!(found.sources[first.source as usize].commit.subject, b"6");
    let found = blame(BlameLimits {
        time_max: Duration::ZERO,
        ..patient()
    });
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
        let subject = &found.sources[hunk.source as usize].commit.subject;
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
    let history = History::new();
    history.commit("a/f", "1\n");
    history.commit("b", "1\n");
    history.git(["rm", "-q", "-r", "a"]);
    history.write("a", "now a file\n");
    history.write("c/d/e", "new\n");
    history.commit("b", "2\n");
    let repositories = history.root.repositories();
    for rev in ["main", "main~1", "main~2"] {
        let found = repositories.changes("r", ("", rev), b"", 100).unwrap();
        let found = found.changes.iter().map(|change| {
            let kind = match change.kind {
                ChangeKind::Added => "A",
                ChangeKind::Removed => "D",
                ChangeKind::Modified => "M",
                ChangeKind::Renamed => "R",
            };
            format!("{kind}\t{}", String::from_utf8_lossy(&change.path))
        });
        let args = ["show", "--no-renames", "--name-status", "--format=", rev];
        let expected = history.git(args);
        let mut expected: Vec<&str> = expected.lines().collect();
        let mut found: Vec<String> = found.collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{rev}");
    }
    let few = repositories.changes("r", ("", "main"), b"", 2).unwrap();
    assert_eq!((few.changes.len(), few.more), (2, true));
}

#[test]
fn commits_that_a_file_lists_are_passed_over() {
    let history = History::new();
    history.commit("f", "if (a)\n  b();\nend\n");
    history.commit("f", "if ( a )\n\tb();\nend\nmore\n");
    let id = history.git(["rev-parse", "HEAD"]);
    let list = format!("# reformatted\n{id} # all\nbroken\n");
    history.commit(".git-blame-ignore-revs", &list);
    let found = history.blame("main", "f", patient()).unwrap().unwrap();
    let args = [
        "blame",
        "--porcelain",
        "--ignore-rev",
        &id,
        "main",
        "--",
        "f",
    ];
    let expected = history.git(args);
    let is_id = |word: &&str| word.len() == 40;
    let ids = expected
        .lines()
        .filter_map(|line| line.split(' ').next().filter(is_id));
    let ours = found.hunks.iter().flat_map(|hunk| {
        let commit = &found.sources[hunk.source as usize].commit.id;
        std::iter::repeat_n(&commit[..], hunk.lines as usize)
    });
    assert_eq!(ours.collect::<Vec<_>>(), ids.collect::<Vec<_>>());
}

#[test]
fn names_are_those_of_the_mailmap() {
    let history = History::new();
    history.commit("f", "one\n");
    history.commit(
        ".mailmap",
        "Ada Lovelace <ada@new.org> <ADA@example.org>\nRob <bob@example.org>\n",
    );
    let repositories = history.root.repositories();
    let names = history.git(["log", "-1", "--use-mailmap", "--format=%aN <%aE> %cN <%cE>"]);
    let check = |commit: &schema::message::Commit| {
        let [author, committer] = [&commit.author, &commit.committer].map(|it| {
            let [name, email] = [&it.name, &it.email].map(|text| String::from_utf8_lossy(text));
            format!("{name} <{email}>")
        });
        assert_eq!(format!("{author} {committer}"), names);
    };
    check(&repositories.commit("r", "main").unwrap());
    check(&repositories.log("r", "", b"", None, 9).unwrap().commits[1]);
    let blame = history.blame("main", "f", patient()).unwrap().unwrap();
    check(&blame.sources[0].commit);
}

#[test]
fn changes_and_renames_are_those_of_git() {
    let history = History::new();
    let text = |name: &str| -> String { (0..40).map(|line| format!("{name} {line}\n")).collect() };
    for name in [
        "a/same.c",
        "a/named.c",
        "a/similar.c",
        "b/gone.c",
        "b/kept.c",
    ] {
        history.write(name, &text(name));
    }
    history.commit("b/empty", "");
    history.git(["mv", "a/same.c", "b/moved.c"]);
    history.git(["mv", "a/named.c", "b/named.c"]);
    history.git(["mv", "a/similar.c", "other.c"]);
    history.write("b/named.c", &(text("a/named.c") + "more\n"));
    history.write("other.c", &(text("a/similar.c").replace(" 1", " one")));
    history.git(["rm", "-q", "b/gone.c"]);
    history.commit("b/new.c", "entirely new\n");
    let repositories = history.root.repositories();
    for (since, rev) in [("", "main"), ("main", "main~1"), ("main", "main")] {
        let parent = format!("{rev}^");
        let base = if since.is_empty() { &parent } else { since };
        let expected = history.git(["diff", "-M", "--name-status", base, rev]);
        let found = repositories.changes("r", (since, rev), b"", 100).unwrap();
        let lossy = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let line = |change: &schema::message::Change| match change.kind {
            ChangeKind::Added => format!("A\t{}", lossy(&change.path)),
            ChangeKind::Removed => format!("D\t{}", lossy(&change.path)),
            ChangeKind::Modified => format!("M\t{}", lossy(&change.path)),
            ChangeKind::Renamed => format!("R\t{}\t{}", lossy(&change.was), lossy(&change.path)),
        };
        let mut found: Vec<String> = found.changes.iter().map(line).collect();
        let mut expected: Vec<String> = expected
            .lines()
            .map(|line| match line.strip_prefix('R') {
                Some(line) => format!("R{}", &line[3..]),
                None => line.to_owned(),
            })
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{since} {rev}");
    }
    let below = repositories.changes("r", ("", "main"), b"a", 100).unwrap();
    assert!(below.changes.iter().all(|it| it.was.starts_with(b"a/")));
    assert_eq!(below.changes.len(), 3);
}
