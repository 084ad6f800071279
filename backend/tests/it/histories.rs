//! Compares searches of changes with a naive pass over the hunks of every commit.

use crate::found::{How, find};
use backend::CompiledQuery;
use git::FileHunks;
use index::directory::Index;
use index::indexing::{self, BuildOptions, Changes, HistorySource, RepositorySource};
use language::symbols::Class;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use schema::message::{Expr, Field, Filter, Pattern, Place, Reading, Syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Changed files of each commit; `None` deletes one.
type Commits = Vec<BTreeMap<u8, Option<Vec<u8>>>>;

/// Subject, path, sign, number and text.
type Line = (String, String, char, u32, String);

const WORDS: [&str; 4] = ["task\n", "ask back\n", "}\n", "int task;\n"];

fn text(lines: &[u8]) -> String {
    lines.iter().map(|&line| WORDS[usize::from(line)]).collect()
}

fn import(path: &Path, commits: &Commits) {
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(words).current_dir(path).stdin(Stdio::piped());
        git.env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap());
        git.spawn().expect("git is installed: apt install git")
    };
    let ends = |mut child: std::process::Child| assert!(child.wait().unwrap().success());
    ends(git(&["init", "-q", "--bare", "-b", "main"]));
    let mut stream = String::new();
    for (number, files) in commits.iter().enumerate() {
        let subject = format!("c{number}");
        stream += &format!("commit refs/heads/main\ncommitter A <a@b> {number} +0000\n");
        stream += &format!("data {}\n{subject}\n", subject.len());
        for (name, lines) in files {
            match lines {
                Some(lines) => {
                    let text = text(lines);
                    let bytes = text.len();
                    stream += &format!("M 100644 inline f{name}\ndata {bytes}\n{text}\n");
                }
                None => stream += &format!("D f{name}\n"),
            }
        }
    }
    let mut child = git(&["fast-import", "--quiet"]);
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stream.as_bytes())
        .unwrap();
    ends(child);
}

/// Changed lines of all commits.
fn naive(commits: &Commits) -> BTreeSet<Line> {
    let mut files: BTreeMap<u8, String> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (number, changed) in commits.iter().enumerate() {
        for (name, lines) in changed {
            let after = lines.as_deref().map(text);
            let before = match &after {
                Some(after) => files.insert(*name, after.clone()),
                None => files.remove(name),
            };
            let [before, after] = [before, after].map(Option::unwrap_or_default);
            let hunks = FileHunks::between(before.as_bytes(), after.as_bytes());
            let all = String::from_utf8(hunks.text).unwrap();
            let (mut lines, mut old, mut new) = (all.lines(), 1, 1);
            for hunk in hunks.hunks {
                (old, new) = (old + hunk.gap, new + hunk.gap);
                for (sign, at, count) in [
                    ('-', &mut old, hunk.removed.lines),
                    ('+', &mut new, hunk.added.lines),
                ] {
                    for line in lines.by_ref().take(count as usize) {
                        let place = (format!("c{number}"), format!("f{name}"));
                        found.insert((place.0, place.1, sign, *at, line.to_owned()));
                        *at += 1;
                    }
                }
            }
        }
    }
    found
}

fn search(index: &Index, expr: &Expr) -> BTreeSet<Line> {
    let query = CompiledQuery::new(expr, false).unwrap();
    let utf8 = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let mut found = BTreeSet::new();
    for batch in find(&index.shards, &query, How::all(0)).batches() {
        let (subject, path) = (utf8(batch.change.unwrap().subject), utf8(batch.path));
        for line in batch.lines {
            let changed = line.changed.unwrap();
            let sign = if changed.is_added { '+' } else { '-' };
            let text = utf8(line.text);
            found.insert((subject.clone(), path.clone(), sign, changed.number, text));
        }
    }
    found
}

fn query(text: &str, classes: u32) -> Expr {
    let diff = Filter {
        field: Field::Type,
        reading: Reading::Exact,
        text: "diff".to_owned(),
    };
    let pattern = Pattern {
        text: text.to_owned(),
        syntax: Syntax::Regexp,
        place: Place {
            classes,
            ..Place::default()
        },
        ..Pattern::default()
    };
    Expr::all([Expr::Pattern(pattern), Expr::Filter(diff)])
}

#[test]
fn changed_lines_are_those_of_a_naive_pass() {
    let lines = prop::collection::vec(0..WORDS.len() as u8, 0..9);
    let files = prop::collection::btree_map(0..3_u8, prop::option::weighted(0.9, lines), 1..3);
    // A commit that removes a file adds none: it would be a move.
    let commits = prop::collection::vec(files, 1..7).prop_map(|mut commits: Commits| {
        for files in &mut commits {
            if files.values().any(Option::is_none) {
                files.values_mut().for_each(|file| *file = None);
            }
        }
        commits
    });
    let config = Config {
        cases: 16,
        failure_persistence: None,
        ..Config::default()
    };
    let run = |commits: Commits| {
        let directory = tempfile::tempdir().unwrap();
        let [path, out] = ["r.git", "index"].map(|name| directory.path().join(name));
        std::fs::create_dir(&path).unwrap();
        import(&path, &commits);
        let changes = Changes {
            repositories: vec![RepositorySource {
                name: b"r".to_vec(),
                path,
                history: Some(HistorySource::default()),
                ..RepositorySource::default()
            }],
            ..Changes::default()
        };
        let options = BuildOptions::default();
        indexing::update(Vec::new(), &changes, &out, &options, &Default::default()).unwrap();
        let (index, all) = (Index::open(&out).unwrap(), naive(&commits));
        for pattern in ["task", "^}$", "a.*k", "int|back", "zzz"] {
            let matcher = regex::Regex::new(pattern).unwrap();
            for (classes, signs) in [
                (1 << Class::Added as u32, "+"),
                (1 << Class::Removed as u32, "-"),
                (0, "+-"),
            ] {
                let is_it = |it: &&Line| signs.contains(it.2) && matcher.is_match(&it.4);
                let expected: BTreeSet<Line> = all.iter().filter(is_it).cloned().collect();
                prop_assert_eq!(search(&index, &query(pattern, classes)), expected);
            }
        }
        Ok(())
    };
    TestRunner::new(config).run(&commits, run).unwrap();
}
