//! Histories of repositories: commits and changes as documents.

use super::support::{Fixture, Repository, changes, contents, skipped};
use index::change::FileChange;
use index::directory::Index;
use index::indexing::{Changes, HistorySource, Outcome, Report};
use index::shard::{DocId, Shard, TextCache};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeSet;
use std::sync::Arc;

fn with_history(repository: &Repository, patterns: &[&str]) -> Changes {
    let mut changes = changes(&[repository], patterns);
    changes.repositories[0].history = Some(HistorySource::default());
    changes
}

fn update(fixture: &Fixture, repository: &Repository, patterns: &[&str]) -> Report {
    fixture.update_in("index", &with_history(repository, patterns), &[])
}

fn histories(index: &Index) -> Vec<&Arc<Shard>> {
    let shards = index.shards.iter();
    shards.filter(|shard| shard.is_history()).collect()
}

struct Found {
    commit: String,
    path: String,
    text: Vec<u8>,
    change: Option<FileChange>,
}

fn documents(index: &Index) -> Vec<Found> {
    let mut found = Vec::new();
    for shard in histories(index) {
        for id in (0..shard.document_count()).map(DocId) {
            if shard.revisions().is_some_and(|of| !of.is_indexed(id.0)) {
                continue;
            }
            let document = shard.document(id).unwrap();
            let range = shard.text_range(document.blocks.clone()).unwrap();
            let of = shard.history_document(&document).unwrap();
            found.push(Found {
                commit: of.commit.to_owned(),
                path: String::from_utf8(document.path.to_vec()).unwrap(),
                text: shard.text(range, &TextCache::default()).unwrap().to_vec(),
                change: of.change,
            });
        }
    }
    found
}

fn file(repository: &Repository, commit: &str, path: &str) -> String {
    let there = repository.git(&["ls-tree", "-r", "--name-only", commit, "--", path]);
    if there.is_empty() {
        return String::new();
    }
    let text = repository.git(&["show", &format!("{commit}:{path}")]);
    text.lines().map(|line| format!("{line}\n")).collect()
}

fn applied(before: &str, found: &Found) -> String {
    let change = found.change.as_ref().expect("a change");
    let text = std::str::from_utf8(&found.text).unwrap();
    let (mut old, mut changed) = (before.split_inclusive('\n'), text.split_inclusive('\n'));
    let mut after = String::new();
    for hunk in &change.hunks {
        after.extend(old.by_ref().take(hunk.gap as usize));
        for _ in 0..hunk.removed.lines {
            assert_eq!(changed.next(), old.next(), "{}", found.path);
        }
        after.extend(changed.by_ref().take(hunk.added.lines as usize));
    }
    assert_eq!(changed.next(), None);
    after.extend(old);
    after
}

#[test]
fn the_changes_of_a_commit_make_its_files_of_those_before() {
    let texts = prop::collection::vec("[ab]{0,8}", 1..4);
    let commits = prop::collection::vec(prop::collection::vec((0..4_u8, texts), 1..3), 1..6);
    let config = Config {
        cases: 12,
        failure_persistence: None,
        ..Config::default()
    };
    let run = |commits: Vec<Vec<(u8, Vec<String>)>>| {
        let fixture = Fixture::new();
        let repository = fixture.init("tool", &[]);
        for files in &commits {
            let lines =
                |text: &String| text.chars().map(|it| format!("{it}\n")).collect::<String>();
            let files: Vec<(String, String)> = (files.iter())
                .map(|(name, parts)| (format!("f{name}"), parts.iter().map(lines).collect()))
                .collect();
            let files = files
                .iter()
                .map(|(path, text)| (&path[..], Some(&text[..])));
            repository.import("refs/heads/main", &files.collect::<Vec<_>>());
        }
        update(&fixture, &repository, &[]);
        let found = documents(&fixture.index());
        let count = repository.git(&["rev-list", "--count", "main"]);
        let messages = found.iter().filter(|it| it.change.is_none());
        prop_assert_eq!(messages.count().to_string(), count);
        for it in found.iter().filter(|it| it.change.is_some()) {
            let parent = format!("{}^", it.commit);
            let parents = repository.git(&["rev-list", "--parents", "-1", &it.commit]);
            let former = &it.change.as_ref().unwrap().former;
            let former = if former.is_empty() {
                it.path.as_bytes()
            } else {
                former
            };
            let before = match parents.contains(' ') {
                true => file(&repository, &parent, std::str::from_utf8(former).unwrap()),
                false => String::new(),
            };
            prop_assert_eq!(
                applied(&before, it),
                file(&repository, &it.commit, &it.path)
            );
        }
        Ok(())
    };
    TestRunner::new(config).run(&commits, run).unwrap();
}

#[test]
fn an_update_adds_new_commits_and_forgets_unreachable_ones() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    repository.import("refs/heads/main", &[("a.c", Some("one\n"))]);
    repository.import("refs/heads/main", &[("a.c", Some("two\n"))]);
    update(&fixture, &repository, &[]);
    let old = repository.git(&["rev-parse", "main"]);
    let first = histories(&fixture.index())[0].file_id();
    let texts = |index: &Index| -> Vec<String> {
        let changes = documents(index)
            .into_iter()
            .filter(|it| it.change.is_some());
        let texts = changes.map(|it| String::from_utf8(it.text).unwrap());
        texts.collect::<BTreeSet<_>>().into_iter().collect()
    };
    repository.import("refs/heads/main", &[("a.c", Some("three\n"))]);
    let report = fixture.update(&[&repository], &[]);
    assert_eq!(
        (report.read.documents, report.read.history_documents),
        (1, 2)
    );
    let index = fixture.index();
    assert_eq!(histories(&index)[0].file_id(), first);
    assert_eq!(texts(&index), ["one\n", "one\ntwo\n", "two\nthree\n"]);
    assert_eq!(
        fixture.update(&[&repository], &[]).outcome,
        Outcome::Unchanged
    );
    repository.git(&["update-ref", "refs/heads/main", &format!("{old}~")]);
    fixture.update(&[&repository], &[]);
    assert_eq!(texts(&fixture.index()), ["one\n"]);
    repository.git(&["update-ref", "refs/heads/main", &old]);
    fixture.update(&[&repository], &[]);
    assert_eq!(texts(&fixture.index()), ["one\n", "one\ntwo\n"]);
}

#[test]
fn commits_are_found_under_the_revisions_that_reach_them() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    repository.import("refs/heads/main", &[("a.c", Some("one\n"))]);
    repository.import_from("refs/heads/topic", Some("main"), &[("b", Some("a\0b"))]);
    update(&fixture, &repository, &["all"]);
    let index = fixture.index();
    let shard = histories(&index)[0];
    let mut counts = Vec::new();
    for id in (0..shard.document_count()).map(DocId) {
        counts.push(shard.revisions_of(id).iter().count());
    }
    counts.sort_unstable();
    assert_eq!(counts, [1, 2, 2]);
    assert_eq!(skipped(&index), ["tool/b binary", "tool/b binary"]);
    assert_eq!(contents(&index).len(), 4);
}

#[test]
fn a_history_may_begin_at_a_date() {
    let fixture = Fixture::new();
    let repository = fixture.init("tool", &[]);
    repository.import("refs/heads/main", &[("a.c", Some("one\n"))]);
    let mut changes = with_history(&repository, &[]);
    let update = |changes: &Changes| fixture.update_in("index", changes, &[]);
    changes.repositories[0].history = Some(HistorySource {
        since: Some(1_700_000_001),
    });
    update(&changes);
    assert_eq!(histories(&fixture.index()).len(), 0);
    changes.repositories[0].history = Some(HistorySource {
        since: Some(1_700_000_000),
    });
    update(&changes);
    assert_eq!(documents(&fixture.index()).len(), 2);
}
