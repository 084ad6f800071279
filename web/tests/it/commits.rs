//! Commits, histories and references of repositories.

use crate::shards;
use crate::site::{AsBackend, PATIENCE, Site, eventually};
use frontend::Scope;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::{Fake, FakeRepository, Fault, commit_id};
use web::model::{Commit, CommitLog, Commits, RefKind, Refs};

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

fn backend(name: &str, shard: u8, repositories: &[(&str, usize)]) -> Arc<Fake> {
    let fake = Fake::new(name, shards(shard, 1));
    let repositories = repositories.iter();
    *fake.repositories.lock().unwrap() = repositories
        .map(|(name, commits)| FakeRepository::new(name, *commits))
        .collect();
    fake
}

fn one() -> (Site, Arc<Fake>) {
    let fake = backend("one", 1, &[("project", 30), ("tools/x", 2)]);
    (Site::new(vec![fake.backend()]), fake)
}

/// A backend without repositories, and two that both have `both`.
fn three() -> (Site, [Arc<Fake>; 3]) {
    let fakes = [
        backend("none", 1, &[]),
        backend("one", 2, &[("both", 3), ("first", 2)]),
        backend("two", 3, &[("both", 9), ("second", 4)]),
    ];
    let site = Site::new(fakes.iter().map(AsBackend::backend).collect());
    (site, fakes)
}

fn subject(site: &Site, repo: &str) -> String {
    let commit: Commit = site.read(&format!("/api/v2/commit?repo={repo}"));
    commit.subject
}

#[test]
fn a_revision_names_a_commit() {
    let (site, _fake) = one();
    let newest = commit_id(29);
    for (rev, number) in [
        ("", 29),
        ("&rev=", 29),
        ("&rev=HEAD", 29),
        ("&rev=main", 29),
        ("&rev=refs/heads/main", 29),
        ("&rev=HEAD~25", 4),
        (&format!("&rev={newest}"), 29),
    ] {
        let commit: Commit = site.read(&format!("/api/v2/commit?repo=project{rev}"));
        assert_eq!(commit.id, commit_id(number), "{rev}");
        assert_eq!(commit.rev, rev.strip_prefix("&rev=").unwrap_or_default());
        assert_eq!(commit.subject, format!("project: change {number}"));
    }
    let oldest = site.get("/api/v2/commit?repo=project&rev=HEAD~29").json();
    let person = json!({
        "name": "A <script> \u{fffd}", "name_base64": "QSA8c2NyaXB0PiD/", "email": "a@example.org",
        "date": "2023-11-14T23:43:20+01:30", "seconds": 1_700_000_000,
    });
    assert_eq!(
        oldest,
        json!({
            "repo": "project", "rev": "HEAD~29", "id": commit_id(0), "tree": "ee".repeat(20),
            "parents": [], "author": person, "committer": person, "subject": "project: change 0",
            "body": "Why.\n", "tags": ["v0"],
        })
    );
}

#[test]
fn names_that_lead_to_no_commit_have_a_reason_and_candidates() {
    let (site, fake) = one();
    for (query, status, kind, says, candidates) in [
        (
            "repo=projec",
            404,
            "unknown-revision",
            "no repository projec",
            json!(["project", "tools/x"]),
        ),
        (
            "repo=project&rev=mian",
            404,
            "unknown-revision",
            "no revision mian",
            json!(["main"]),
        ),
        (
            "repo=project&rev=HEAD~30",
            404,
            "unknown-revision",
            "HEAD~30",
            json!(["main"]),
        ),
        (
            "repo=project&rev=c0de",
            404,
            "ambiguous-revision",
            "several commits",
            json!([commit_id(0), commit_id(1)]),
        ),
        (
            "repo=project&rev=main@{1}",
            400,
            "bad-request",
            "it reads a reflog",
            Value::Null,
        ),
        ("", 400, "bad-request", "repo is missing", Value::Null),
        (
            "repo=&rev=x",
            400,
            "bad-request",
            "repo is missing",
            Value::Null,
        ),
        (
            "repo=project&rev=%ff",
            400,
            "bad-request",
            "rev is not UTF-8",
            Value::Null,
        ),
        (
            "repo=project&ref=x",
            400,
            "bad-request",
            "unknown parameter ref",
            Value::Null,
        ),
    ] {
        let answer = site.get(&format!("/api/v2/commit?{query}"));
        let problem = answer.json();
        assert_eq!(answer.status, status, "{query}: {problem}");
        assert_eq!(
            problem["type"],
            json!(format!("/problems/{kind}")),
            "{query}"
        );
        assert!(answer.text().contains(says), "{query}: {problem}");
        assert_eq!(problem["candidates"], candidates, "{query}");
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    let long = "x".repeat(1025);
    assert_eq!(site.get(&format!("/api/v2/commit?repo={long}")).status, 400);
    assert_eq!(
        site.get(&format!("/api/v2/log?repo=project&rev={long}"))
            .status,
        400
    );
    fake.repositories.lock().unwrap()[1].damage = "pack 12 is truncated".to_owned();
    let answer = site.get("/api/v2/commit?repo=tools/x");
    assert_eq!(answer.status, 502);
    assert!(
        answer.text().contains("pack 12 is truncated"),
        "{}",
        answer.text()
    );
    assert_eq!(
        site.get("/api/v2/commit?repo=project").status,
        200,
        "it alone"
    );
}

#[test]
fn without_repositories_the_answer_says_how_to_give_them() {
    let fake = backend("one", 1, &[]);
    let site = Site::new(vec![fake.backend()]);
    for path in ["commit?repo=a", "log?repo=a", "refs?repo=a"] {
        let answer = site.get(&format!("/api/v2/{path}"));
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.json()["type"], json!("/problems/no-repositories"));
        assert!(answer.text().contains("--repos DIR"), "{}", answer.text());
    }
    assert_eq!(fake.lookups.load(SeqCst), 0);
}

#[test]
fn a_thousand_commits_are_one_request_and_keep_their_order() {
    let (site, fake) = one();
    let mut asked: Vec<Value> = (0..997)
        .map(|number| json!({"repo": "project", "rev": format!("HEAD~{}", number % 30)}))
        .collect();
    asked.insert(5, json!({"repo": "nowhere", "rev": "main"}));
    asked.insert(6, json!({"repo": "project", "rev": "main@{1}"}));
    asked.insert(7, json!({"repo": "project"}));
    let body = json!({"revisions": asked}).to_string();
    let answer = site.post("/api/v2/commits", &JSON, body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let found: Commits = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(found.commits.len(), 1000);
    for (entry, asked) in found.commits.iter().zip(&asked) {
        assert_eq!(json!(entry.repo), asked["repo"]);
        assert_eq!(entry.rev, asked["rev"].as_str().unwrap_or_default());
        assert_ne!(entry.commit.is_some(), entry.problem.is_some());
        if let Some(commit) = &entry.commit {
            let back: usize = entry.rev.trim_start_matches("HEAD~").parse().unwrap_or(0);
            assert_eq!(commit.id, commit_id(29 - back), "{}", entry.rev);
        }
    }
    let status = |index: usize| found.commits[index].problem.as_ref().unwrap().status;
    assert_eq!((status(5), status(6)), (404, 400));
    assert!(found.commits[7].commit.is_some());
    assert_eq!(fake.lookups.load(SeqCst), 33, "each is looked up once");
}

#[test]
fn malformed_lists_of_commits_are_refused() {
    let (site, fake) = one();
    let too_many = json!({"revisions": vec![json!({"repo": "r"}); 1001]}).to_string();
    let long = json!({"revisions": [{"repo": "r", "rev": "x".repeat(1025)}]}).to_string();
    for (body, says) in [
        ("", "malformed body"),
        ("[]", "malformed body"),
        (
            r#"{"revisions": [{"rev": "main"}]}"#,
            "missing field `repo`",
        ),
        (
            r#"{"revisions": [{"repo": "r", "ref": "main"}]}"#,
            "unknown field `ref`",
        ),
        (r#"{"revisions": [{"repo": ""}]}"#, "repo is missing"),
        (&too_many, "at most 1000"),
        (&long, "rev has more than 1024 bytes"),
    ] {
        let answer = site.post("/api/v2/commits", &JSON, body.as_bytes());
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(answer.text().contains(says), "{says}: {}", answer.text());
    }
    let large = vec![b' '; (1 << 20) + 1];
    assert_eq!(site.post("/api/v2/commits", &JSON, &large).status, 413);
    assert_eq!(site.post("/api/v2/commits", &[], b"{}").status, 415);
    assert_eq!(site.post("/api/v2/commits?a=b", &JSON, b"{}").status, 400);
    let none = site.post("/api/v2/commits", &JSON, br#"{"revisions": []}"#);
    assert_eq!(none.json(), json!({"commits": []}));
    assert_eq!(fake.lookups.load(SeqCst), 0);
}

#[test]
fn a_history_comes_in_parts() {
    let (site, _fake) = one();
    let (mut ids, mut cursor) = (Vec::new(), Some(String::new()));
    while let Some(at) = cursor {
        let path = format!("/api/v2/log?repo=project&rev=HEAD~5&count=10&cursor={at}");
        let part: CommitLog = site.read(&path);
        assert!(part.commits.len() <= 10);
        ids.extend(part.commits.into_iter().map(|commit| commit.id));
        cursor = part.next;
    }
    let expected: Vec<String> = (0..25).rev().map(commit_id).collect();
    assert_eq!(ids, expected);
    for (query, says) in [
        ("count=0", "count=0"),
        ("count=1001", "count=1001"),
        ("cursor=%2B", "cursor is malformed"),
        ("after=x", "unknown parameter after"),
    ] {
        let answer = site.get(&format!("/api/v2/log?repo=project&{query}"));
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.text().contains(says), "{query}: {}", answer.text());
    }
    assert_eq!(site.get("/api/v2/log?repo=project&rev=x").status, 404);
}

#[test]
fn references_come_by_name_in_parts() {
    let (site, _fake) = one();
    let (mut names, mut after) = (Vec::new(), Some(String::new()));
    while let Some(name) = after {
        let part: Refs = site.read(&format!("/api/v2/refs?repo=project&count=2&after={name}"));
        assert!(part.refs.iter().all(|each| !each.indexed));
        names.extend(part.refs.into_iter().map(|each| (each.name, each.kind)));
        after = part.next;
    }
    let expected = [
        ("refs/heads/main", RefKind::Branch),
        ("refs/notes/x", RefKind::Other),
        ("refs/tags/v0", RefKind::Tag),
    ];
    assert_eq!(names, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(site.get("/api/v2/refs?repo=nowhere").status, 404);
    assert_eq!(site.get("/api/v2/refs?repo=project&rev=main").status, 400);
}

#[test]
fn an_answer_is_kept_and_a_problem_is_not() {
    let (site, fake) = one();
    // The cache needs the generation of a connected backend.
    assert_eq!(site.get("/api/v2/search?q=arse").status, 200);
    for _ in 0..5 {
        site.read::<Commit>("/api/v2/commit?repo=project&rev=main");
    }
    assert_eq!(fake.lookups.load(SeqCst), 1);
    assert_eq!(site.get("/api/v2/commit?repo=new").status, 404);
    fake.repositories
        .lock()
        .unwrap()
        .push(FakeRepository::new("new", 1));
    assert_eq!(
        subject(&site, "new"),
        "new: change 0",
        "found once it is there"
    );
    let hits = r#"trawl_frontend_lookups_total{operation="commit",how="hit"}"#;
    assert!(site.counter(hits) >= 4, "{}", site.get("/metrics").text());
}

#[test]
fn identical_requests_at_once_are_one_look_up() {
    let fake = backend("one", 1, &[("project", 30)]);
    let site = Site::with(vec![fake.backend()], |config| config.silence_max = PATIENCE);
    subject(&site, "project");
    fake.set(Fault::Gate);
    let attached = r#"trawl_frontend_lookups_total{operation="commit",how="attach"}"#;
    let before = site.counter(attached);
    std::thread::scope(|scope| {
        let ask = || {
            site.read::<Commit>("/api/v2/commit?repo=project&rev=HEAD~1")
                .id
        };
        let clients: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        eventually("all but one wait", || site.counter(attached) >= before + 7);
        fake.open_gate();
        for client in clients {
            assert_eq!(client.join().unwrap(), commit_id(28));
        }
    });
    assert_eq!(fake.lookups.load(SeqCst), 2);
}

#[test]
fn the_first_backend_with_the_repository_answers() {
    let (site, fakes) = three();
    assert_eq!(subject(&site, "both"), "both: change 2");
    assert_eq!(subject(&site, "second"), "second: change 3");
    assert_eq!(fakes[0].lookups.load(SeqCst), 0, "it has none");
    let unknown = site.get("/api/v2/commit?repo=nowhere").json();
    assert_eq!(unknown["candidates"], json!(["both", "first", "second"]));
}

#[test]
fn a_damaged_repository_is_read_from_another_backend() {
    let (site, fakes) = three();
    fakes[1].repositories.lock().unwrap()[0].damage = "bad pack".to_owned();
    assert_eq!(subject(&site, "both"), "both: change 8");
    fakes[2].repositories.lock().unwrap()[0].damage = "worse pack".to_owned();
    let answer = site.get("/api/v2/commit?repo=both&rev=HEAD~1");
    assert_eq!(answer.status, 502);
    assert!(answer.text().contains("bad pack"), "{}", answer.text());
}

#[test]
fn a_lost_backend_is_passed_over_and_named_if_it_may_have_the_repository() {
    let (site, fakes) = three();
    assert_eq!(subject(&site, "first"), "first: change 1");
    fakes[1].set_down(true);
    eventually("the loss of a backend", || {
        !site.frontend.backends(&Scope::everything())[1].connected
    });
    assert_eq!(subject(&site, "both"), "both: change 8");
    let answer = site.get("/api/v2/commit?repo=first&rev=HEAD~1");
    assert_eq!((answer.status, answer.header("retry-after")), (503, "5"));
    assert!(
        answer.text().contains("no answer from one"),
        "{}",
        answer.text()
    );
    fakes[2].set_down(true);
    eventually("the loss of the other", || {
        !site.frontend.backends(&Scope::everything())[2].connected
    });
    let answer = site.get("/api/v2/commit?repo=both&rev=HEAD~1");
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("two"), "{}", answer.text());
    fakes[1].set_down(false);
    eventually("its return", || {
        site.get("/api/v2/commit?repo=first&rev=HEAD~1").status == 200
    });
}
