//! Random histories of repositories and packages: stepwise updates equal a fresh build.

use super::support::{Fixture, Repository, changes, contents, skipped};
use index::indexing::{Changes, HistorySource};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

#[derive(Clone, Debug)]
enum Step {
    /// Commits files by number: text, or deleted.
    Commit(u8, Vec<(u8, Option<u8>)>),
    /// Creates or forces a branch at another.
    Branch(u8, u8),
    Delete(u8),
    Tag(u8, u8),
    Pack,
    /// Changes vendored files and languages.
    Attributes(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let files = prop::collection::vec((0..12_u8, prop::option::weighted(0.8, 0..6_u8)), 1..5);
    prop_oneof![
        6 => (0..3_u8, files).prop_map(|(branch, files)| Step::Commit(branch, files)),
        2 => (0..3_u8, 0..3_u8).prop_map(|(to, from)| Step::Branch(to, from)),
        1 => (1..3_u8).prop_map(Step::Delete),
        1 => (0..3_u8, 0..3_u8).prop_map(|(name, at)| Step::Tag(name, at)),
        1 => Just(Step::Pack),
        1 => (0..7_u8).prop_map(Step::Attributes),
    ]
}

fn path(number: u8) -> String {
    match number {
        0..4 => format!("src/f{number}.c"),
        4..6 => format!("lib/f{number}.c"),
        6 => "README".to_owned(),
        7 => "deep/er/f".to_owned(),
        _ => format!("f{number}"),
    }
}

/// Few texts, to be shared; the last is binary.
fn text(number: u8) -> String {
    match number {
        0 => String::new(),
        4 => "#!/bin/sh\n".to_owned(),
        5 => "a\0b".to_owned(),
        _ => format!("text {number}\n").repeat(usize::from(number)),
    }
}

fn apply(repository: &Repository, step: &Step) {
    let exists = |branch: u8| {
        let name = format!("refs/heads/b{branch}");
        !repository
            .git(&["for-each-ref", "--format=%(refname)", &name])
            .is_empty()
    };
    match step {
        Step::Commit(branch, files) => {
            let files: Vec<(String, Option<String>)> = files
                .iter()
                .map(|(file, what)| (path(*file), what.map(text)))
                .collect();
            let files: Vec<(&str, Option<&str>)> = files
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_deref()))
                .collect();
            repository.import(&format!("refs/heads/b{branch}"), &files);
        }
        Step::Branch(to, from) if exists(*from) => {
            let (to, from) = (format!("refs/heads/b{to}"), format!("refs/heads/b{from}"));
            repository.git(&["update-ref", &to, &from]);
        }
        Step::Delete(branch) => {
            repository.git(&["update-ref", "-d", &format!("refs/heads/b{branch}")]);
        }
        Step::Tag(name, at) if exists(*at) => {
            repository.git(&[
                "tag",
                "-f",
                &format!("v{name}"),
                &format!("refs/heads/b{at}"),
            ]);
        }
        Step::Pack => {
            repository.git(&["gc", "-q", "--prune=now"]);
        }
        Step::Attributes(what) => {
            let rules = [
                "",
                "lib/** linguist-vendored\n",
                "src/f1.c linguist-generated\n",
                "* -linguist-vendored\n",
                "*.c linguist-language=C++\n",
                "* linguist-language=Shell\n",
                "f* linguist-language=Common-Lisp\n",
            ];
            repository.import(
                "refs/heads/b0",
                &[(".gitattributes", Some(rules[usize::from(*what)]))],
            );
        }
        _ => {}
    }
}

/// Everything an index has, ranks included.
fn answers(index: &index::directory::Index) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut ranks = Vec::new();
    let mut counts = (0, 0);
    for shard in &index.shards {
        let live = shard.live_counts();
        counts = (counts.0 + live.documents, counts.1 + live.text_bytes);
        for package in shard.live_packages() {
            let package = shard.package(package).unwrap();
            for id in shard.documents_of(&package).unwrap() {
                let document = shard.document(id).unwrap();
                let revisions = shard.revisions();
                if revisions.is_none_or(|of| of.is_indexed(id.0)) {
                    let is_default = revisions.is_none_or(|of| of.is_default(id.0));
                    let path = String::from_utf8_lossy(document.path);
                    ranks.push(format!(
                        "{path} {} {} {is_default} {:?}",
                        document.static_rank,
                        shard.language(&document).unwrap(),
                        document.hash
                    ));
                }
            }
        }
    }
    ranks.sort();
    ranks.push(format!("{counts:?}"));
    (contents(index), skipped(index), ranks)
}

#[test]
fn an_index_brought_up_to_date_step_by_step_is_one_built_anew() {
    let history = (
        prop::collection::vec(step(), 1..9),
        prop::sample::select(vec![&["all"][..], &[], &["b*"], &["v*", "b0"]]),
        any::<bool>(),
    );
    let config = Config {
        cases: 12,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let run = |(steps, patterns, in_history): (Vec<Step>, &[&str], bool)| {
        let fixture = Fixture::new();
        let tool = fixture.init("tool", &[]);
        let other = fixture.init("other.git", &["--bare"]);
        for repository in [&tool, &other] {
            repository.git(&["symbolic-ref", "HEAD", "refs/heads/b0"]);
            repository.import(
                "refs/heads/b0",
                &[("src/f0.c", Some("text 1\n")), ("f9", Some("x\n"))],
            );
            repository.git(&["tag", "v9", "b0"]);
        }
        for (number, step) in steps.iter().enumerate() {
            apply(if number % 4 == 3 { &other } else { &tool }, step);
            let mut changes = changes(&[&tool, &other], patterns);
            for source in changes.repositories.iter_mut().filter(|_| in_history) {
                source.history = Some(HistorySource::default());
            }
            let stepped = fixture.update_in("stepped", &changes, &[]);
            let anew_name = format!("anew{number}");
            let anew = fixture.update_in(&anew_name, &changes, &[]);
            prop_assert_eq!(&stepped.problems, &anew.problems);
            let stepped = answers(&fixture.index_in("stepped"));
            let anew = answers(&fixture.index_in(&anew_name));
            prop_assert_eq!(stepped, anew, "after step {} of {:?}", number, steps);
        }
        Ok(())
    };
    runner.run(&history, run).unwrap();
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Absent,
    Repository,
    Directory,
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Changes to these kinds, and the directories.
fn becoming(
    made: &[Repository],
    kinds: &[Kind],
    before: &[Kind],
    prune: bool,
) -> (Changes, Vec<std::path::PathBuf>) {
    let of_kind = |kind| {
        let numbered = made.iter().zip(kinds);
        numbered
            .filter(move |(_, it)| **it == kind)
            .map(|(made, _)| made)
    };
    let repositories: Vec<&Repository> = of_kind(Kind::Repository).collect();
    let is_removed = |number: &usize| {
        !prune && kinds[*number] == Kind::Absent && before[*number] != Kind::Absent
    };
    let removed = (0..NAMES.len()).filter(is_removed);
    let changes = Changes {
        prune,
        remove: removed.map(|number| NAMES[number].into()).collect(),
        ..changes(&repositories, &[])
    };
    let directories = of_kind(Kind::Directory).map(|it| it.path.clone());
    (changes, directories.collect())
}

#[test]
fn packages_that_come_and_go_and_change_their_kind_leave_no_trace() {
    let kind = prop::sample::select(vec![Kind::Absent, Kind::Repository, Kind::Directory]);
    let step = (prop::collection::vec(kind, NAMES.len()), any::<bool>());
    let config = Config {
        cases: 16,
        failure_persistence: None,
        ..Config::default()
    };
    let run = |steps: Vec<(Vec<Kind>, bool)>| {
        let fixture = Fixture::new();
        let made = NAMES.map(|name| fixture.init(name, &[]));
        let mut before = vec![Kind::Absent; NAMES.len()];
        for (number, (mut kinds, prune)) in steps.clone().into_iter().enumerate() {
            // An index is never empty.
            kinds[0] = Kind::Repository;
            for (index, repository) in made.iter().enumerate() {
                if number == 0 || index == number % NAMES.len() {
                    let text = format!("{} in step {number}\n", NAMES[index]);
                    repository.import(
                        "refs/heads/main",
                        &[("f", Some(&text)), ("bin", Some("\0"))],
                    );
                    std::fs::write(repository.path.join("g"), text).unwrap();
                }
            }
            let (changes, directories) = becoming(&made, &kinds, &before, prune);
            fixture.update_in("stepped", &changes, &directories);
            let (changes, directories) = becoming(&made, &kinds, &kinds, prune);
            let anew = format!("anew{number}");
            fixture.update_in(&anew, &changes, &directories);
            let stepped = answers(&fixture.index_in("stepped"));
            let anew = answers(&fixture.index_in(&anew));
            prop_assert_eq!(stepped, anew, "after step {} of {:?}", number, steps);
            before = kinds;
        }
        Ok(())
    };
    let mut runner = TestRunner::new(config);
    let steps = prop::collection::vec(step, 2..6);
    runner.run(&steps, run).unwrap();
}
