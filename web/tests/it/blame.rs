//! Commits, histories and blames, as JSON and as pages.

use crate::site::{AsBackend, Site};
use std::sync::Arc;
use testkit::backend::{Document, Fake, FakeRepository, commit_id};
use web::model::{Blame, ChangedFileKind, Changes};

fn site(commits: usize) -> (Site, Arc<Fake>) {
    let document = Document {
        package: b"project".to_vec(),
        path: b"src/file.c".to_vec(),
        lines: (0..commits).map(|line| format!("{line}").into()).collect(),
        split: false,
    };
    let fake = Fake::new("one", vec![(1, vec![document])]);
    *fake.repositories.lock().unwrap() = vec![FakeRepository::new("project", commits)];
    (Site::new(vec![fake.backend()]), fake)
}

#[test]
fn a_blame_names_the_commit_of_each_line() {
    let (site, _fake) = site(5);
    let blame: Blame = site.read("/api/v2/blame?repo=project&rev=HEAD~1&path=src/file.c");
    assert_eq!((&blame.rev[..], &blame.path[..]), ("HEAD~1", "src/file.c"));
    assert_eq!(blame.commit, commit_id(3));
    assert!(blame.complete);
    let hunks = blame.hunks.iter();
    let hunks: Vec<_> = hunks.map(|it| (it.first, it.last, it.commit)).collect();
    assert_eq!(hunks, [(1, 1, 0), (2, 2, 1), (3, 3, 2), (4, 4, 3)]);
    let [first, second, third, _] = &blame.commits[..] else {
        panic!("{:?}", blame.commits);
    };
    assert_eq!(first.id, commit_id(0));
    assert_eq!(first.author, "A <script> \u{fffd}");
    assert_eq!(first.subject, "project: change 0");
    assert_eq!(first.previous, None);
    let former = second.previous.as_ref().unwrap();
    assert_eq!(
        (&former.rev, &former.path[..]),
        (&commit_id(0), "src/former.c")
    );
    let former = third.previous.as_ref().unwrap();
    assert_eq!(former.path, "src/file.c", "the path that was asked for");
}

#[test]
fn a_blame_that_reached_a_bound_says_so() {
    let (site, _fake) = site(30);
    let blame: Blame = site.read("/api/v2/blame?repo=project&path=src/file.c");
    assert!(!blame.complete && blame.hunks[0].or_earlier && !blame.hunks[1].or_earlier);
}

#[test]
fn a_commit_has_the_files_that_it_changed() {
    let (site, _fake) = site(5);
    let changes: Changes = site.read("/api/v2/changes?repo=project");
    assert_eq!((&changes.commit, changes.complete), (&commit_id(4), true));
    let files = changes.changes.iter();
    let files: Vec<_> = files.map(|file| (&file.path[..], file.kind)).collect();
    assert_eq!(
        files,
        [
            ("src/<b>.c", ChangedFileKind::Added),
            ("src/file.c", ChangedFileKind::Modified),
            ("src/old.c", ChangedFileKind::Removed),
        ]
    );
}

#[test]
fn what_has_no_blame_is_an_error_that_says_why() {
    let (site, _fake) = site(5);
    for (query, status, says) in [
        ("repo=project", 400, "path"),
        ("repo=project&path=none.c", 404, "has no file none.c"),
        ("repo=project&path=a&rev=main@{1}", 400, "reflog"),
        ("repo=project&path=a&rev=mian", 404, "no revision mian"),
        ("repo=other&path=a", 404, "no repository other"),
        ("repo=project&path=a&count=1", 400, "count"),
        (
            &format!("repo=project&path={}", "x".repeat(5000)),
            400,
            "4096 bytes",
        ),
    ] {
        let answer = site.get(&format!("/api/v2/blame?{query}"));
        assert_eq!(answer.status, status, "{query}");
        assert!(answer.text().contains(says), "{query}: {}", answer.text());
    }
    for page in [
        "/commit?repo=other",
        "/log?repo=other",
        "/commit?repo=project&rev=mian",
    ] {
        assert_eq!(site.get(page).status, 404, "{page}");
    }
    assert_eq!(site.get("/log?repo=project&cursor=%21").status, 400);
    assert_eq!(site.get("/commit").status, 400);
}

#[test]
fn the_page_of_a_commit_leads_to_its_files_its_parents_and_its_history() {
    let (site, _fake) = site(5);
    let page = site.get("/commit?repo=project&rev=main").text();
    let (id, before) = (commit_id(4), commit_id(3));
    for part in [
        "<h1>project: change 4</h1>".to_owned(),
        "Why.".to_owned(),
        "A &#60;script&#62;".to_owned(),
        format!("<code>{id}</code>"),
        format!("href=\"/commit?repo=project&#38;rev={before}\""),
        format!(
            "href=\"/show?package=project&#38;path=src/%3Cb%3E.c&#38;rev={id}\">src/&#60;b&#62;.c</a>"
        ),
        format!("href=\"/diff?package=project&#38;from={before}&#38;to={id}&#38;path=src/old.c\""),
        format!("href=\"/log?repo=project&#38;rev={id}&#38;path=src/file.c\""),
        "<td>removed</td>".to_owned(),
    ] {
        assert!(page.contains(&part), "{part} in {page}");
    }
}

#[test]
fn the_history_of_a_file_has_every_commit_with_the_file_as_it_was() {
    let (site, _fake) = site(130);
    let page = site.get("/log?repo=project&path=src/file.c").text();
    assert_eq!(page.matches("as it was").count(), 100, "{page}");
    let newest = commit_id(129);
    for part in [
        format!("href=\"/commit?repo=project&#38;rev={newest}\">project: change 129</a>"),
        format!("href=\"/show?package=project&#38;path=src/file.c&#38;rev={newest}\""),
        "of <a href=\"/show?package=project&#38;path=src/file.c\">src/file.c</a>".to_owned(),
    ] {
        assert!(page.contains(&part), "{part} in {page}");
    }
    let next = page.split("rel=\"next\" href=\"").nth(1).unwrap();
    let next = next.split_once('"').unwrap().0.replace("&#38;", "&");
    let rest = site.get(&next).text();
    assert_eq!(rest.matches("as it was").count(), 30, "{rest}");
    assert!(rest.contains("project: change 0<") && !rest.contains("rel=\"next\""));
}
