//! Failing backends: answers keep other matches, and report the loss.

use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use expect_test::{Expect, expect};
use frontend::{Backend, Scope};
use schema::message::{FailureKind, Hello, MessageError, PROTOCOL, Progress};
use schema::order::SEMANTICS;
use serde_json::{Value, json};
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::{Fake, Fault};

fn search(fault: Fault) -> (Value, Site, std::sync::Arc<Fake>) {
    let mut parts = shards(1, 2);
    let bad = Fake::with("bad", parts.split_off(1), fault);
    let site = Site::new(vec![Fake::new("good", parts).backend(), bad.backend()]);
    (site.search("arse"), site, bad)
}

/// Expects a reason, the good backend's matches, and a complete later search.
fn check(fault: Fault, expected: Expect) {
    let good = Site::new(vec![
        Fake::new("good", shards(1, 2).drain(..1).collect()).backend(),
    ]);
    let at_least = good.search("arse")["total"].as_u64().unwrap();
    let (page, site, bad) = search(fault.clone());
    assert_eq!(page["complete"], json!(false), "{fault:?}");
    assert!(page["total"].as_u64().unwrap() >= at_least, "{fault:?}");
    let missing = page["missing"].as_array().unwrap();
    assert_eq!(missing.len(), 1, "{fault:?}");
    assert_eq!(missing[0]["backend"], json!("bad"), "{fault:?}");
    assert_eq!(missing[0]["shards"], json!(["02".repeat(32)]), "{fault:?}");
    expected.assert_eq(missing[0]["reason"].as_str().unwrap());
    let run = page["id"].as_str().unwrap();
    let generation = page["generation"].as_str().unwrap();
    let html = site.get(&format!("/search?q=arse&run={run}")).text();
    assert!(html.contains("This answer is incomplete") && html.contains("<b>bad</b>"));
    assert!(
        html.contains(&format!("generation={generation}&#38;page=1")),
        "its other pages belong to the same answer: {html}"
    );
    let searches = bad.searches.load(SeqCst);
    let second = format!("/search?q=arse&generation={generation}&page=1");
    assert!(
        site.get(&second)
            .text()
            .contains("This answer is incomplete")
    );
    assert_eq!(
        bad.searches.load(SeqCst),
        searches,
        "it is not searched again"
    );
    bad.set(Fault::None);
    assert_eq!(
        site.search("arse")["complete"],
        json!(true),
        "after {fault:?}"
    );
}

#[test]
fn reports_a_truncated_stream() {
    check(
        Fault::NoEnd,
        expect!["connection closed before the end of the answer"],
    );
}

#[test]
fn reports_malformed_frames() {
    check(
        Fault::Garbage,
        expect!["malformed frame: a frame of 4294967311 bytes exceeds the limit of 1048576"],
    );
}

#[test]
fn reports_a_flipped_bit() {
    check(
        Fault::FlippedBit,
        expect!["malformed frame: a frame with a wrong checksum"],
    );
}

#[test]
fn reports_a_silent_backend() {
    check(Fault::Silence, expect!["no data for 2.0 s"]);
}

fn framed(encode: impl FnOnce(&mut Vec<u8>) -> Result<(), MessageError>) -> Vec<u8> {
    let mut frame = Vec::new();
    encode(&mut frame).unwrap();
    frame
}

fn progress(blocks_done: u64, matches: u64) -> Vec<u8> {
    let progress = Progress {
        blocks_done,
        blocks_total: 2,
        matches,
        bound: 9.0,
        ..Progress::default()
    };
    framed(|out| progress.encode(out))
}

#[test]
fn reports_a_backend_that_sends_nothing_but_heartbeats() {
    let hello = Hello {
        protocol: PROTOCOL,
        shards: Vec::new(),
        updated: 0,
        has_repositories: false,
        indexed_repositories: 0,
        semantics: SEMANTICS,
        has_views: true,
        resumes: true,
    };
    let hello = framed(|out| hello.encode(out));
    let stuck = |frames| {
        check(
            Fault::Repeat(Vec::new(), frames),
            expect!["no progress for 2.0 s"],
        )
    };
    stuck(hello.clone());
    stuck(progress(1, 0));
    stuck([progress(2, 0), progress(1, 0)].concat());
    let late = [progress(1, 0), hello].concat();
    check(Fault::Replay(late), expect!["unexpected frame (Hello)"]);
}

#[test]
fn reports_progress_that_cannot_be() {
    check(
        Fault::Repeat(Vec::new(), progress(1, 9)),
        expect!["the backend reported progress of 9 matches, but 0 arrived"],
    );
    check(
        Fault::Repeat(Vec::new(), progress(3, 0)),
        expect!["malformed frame: a message with an invalid number of blocks"],
    );
}

#[test]
fn reports_error_frames() {
    let fault = Fault::Failure(FailureKind::Unavailable, None);
    check(fault, expect!["the backend failed: not today"]);
    let fault = Fault::Failure(FailureKind::StaleShards, None);
    check(
        fault,
        expect!["the backend no longer serves the requested shards: not today"],
    );
}

#[test]
fn reports_ends_that_contradict_the_matches() {
    check(
        Fault::Count,
        expect!["the backend reported 79 matches of a shard, but 78 arrived"],
    );
    check(
        Fault::Hash,
        expect!["the backend sent matches that differ from those it reported (hash mismatch)"],
    );
    check(
        Fault::Forgotten,
        expect!["the backend ended without a report on each of its shards"],
    );
}

#[test]
fn rejects_impossible_matches() {
    check(Fault::Order, expect!["the backend sent matches twice"]);
    check(
        Fault::UnknownShard,
        expect!["the backend sent matches of a shard that was not requested"],
    );
}

#[test]
fn only_the_failed_shard_is_missing() {
    check(Fault::ShardFailure, expect!["checksum"]);
    let (page, site, _bad) = search(Fault::ShardFailure);
    assert_eq!(page["skipped"]["count"], json!(1));
    assert_eq!(page["skipped"]["documents"][0]["path"], json!("<i>.c"));
    let html = site.get("/search?q=arse").text();
    assert!(html.contains("1 file could not be searched") && !html.contains("<i>.c"));
}

#[test]
fn reports_a_refused_connection() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = unused.local_addr().unwrap().to_string();
    drop(unused);
    let good = Fake::new("good", shards(1, 1));
    let site = Site::new(vec![good.backend(), Backend::tcp(address.clone())]);
    let page = site.search("arse");
    assert_eq!(page["complete"], json!(false));
    assert_eq!(page["missing"][0]["backend"], json!(address));
    assert_eq!(page["missing"][0]["reason"], json!("connection refused"));
    assert!(page["total"].as_u64().unwrap() > 0);
    assert_eq!(site.get("/readyz").json()["status"], json!("degraded"));
}

#[test]
fn reports_another_protocol_version() {
    let mut other = Fake::plain("other", shards(1, 1));
    other.protocol = 99;
    let site = Site::new(vec![std::sync::Arc::new(other).backend()]);
    let page = site.search("arse");
    let reason = page["missing"][0]["reason"].as_str().unwrap();
    assert_eq!(
        reason,
        "the backend speaks protocol 99, this frontend speaks 7"
    );
    assert_eq!(site.get("/readyz").status, 503);
}

#[test]
fn an_answer_has_matches_of_one_semantics_alone() {
    let all = shards(1, 2);
    let ours = Fake::new("ours", all[..1].to_vec());
    let other = Fake::new("other", all[1..].to_vec());
    other.semantics.store(SEMANTICS + 1, SeqCst);
    let site = Site::new(vec![ours.backend(), other.backend()]);
    let expected = |theirs: u32, update: &str| {
        format!("it ranks by semantics {theirs}, this frontend by {SEMANTICS}: update the {update}")
    };
    let page = site.search("arse");
    assert_eq!(page["complete"], json!(false));
    let missing = &page["missing"][0];
    let reason = expected(SEMANTICS + 1, "frontend");
    assert_eq!(missing["backend"], json!("other"));
    assert_eq!(missing["reason"], json!(reason));
    assert_eq!(missing["shards"], json!([format!("{:02x}", 2).repeat(32)]));
    let alone = Site::new(vec![Fake::new("alone", all[..1].to_vec()).backend()]);
    assert_eq!(page["matches"], alone.search("arse")["matches"]);

    let status = site.get("/api/v2/status").json();
    assert_eq!(status["complete"], json!(false));
    assert_eq!(status["backends"][1]["connected"], json!(true));
    assert_eq!(status["backends"][1]["reason"], json!(reason));
    let ready = site.get("/readyz");
    assert_eq!(
        (ready.status, &ready.json()["status"]),
        (200, &json!("degraded"))
    );
    assert_eq!(ready.json()["backends"][1]["reason"], json!(reason));

    // An older backend must be updated; then it takes part.
    other.semantics.store(SEMANTICS - 1, SeqCst);
    eventually("another reason", || {
        let status = site.get("/api/v2/status").json();
        status["backends"][1]["reason"] == json!(expected(SEMANTICS - 1, "backend"))
    });
    other.semantics.store(SEMANTICS, SeqCst);
    eventually("all is searched", || {
        site.search("arse")["complete"] == json!(true)
    });
}

#[test]
fn a_shard_is_searched_by_a_backend_of_the_same_semantics() {
    let (other, ours) = (
        Fake::new("other", shards(1, 1)),
        Fake::new("ours", shards(1, 1)),
    );
    other.semantics.store(SEMANTICS + 1, SeqCst);
    let site = Site::new(vec![other.backend(), ours.backend()]);
    assert_eq!(site.search("arse")["complete"], json!(true));
    assert_eq!(
        (other.searches.load(SeqCst), ours.searches.load(SeqCst)),
        (0, 1)
    );
}

#[test]
fn without_a_backend_of_the_same_semantics_nothing_is_searched() {
    let other = Fake::new("other", shards(1, 1));
    other.semantics.store(SEMANTICS + 1, SeqCst);
    let site = Site::new(vec![other.backend()]);
    let answer = site.get("/api/v2/search?q=arse");
    assert_eq!(
        (answer.status, &answer.json()["complete"]),
        (503, &json!(false))
    );
    let ready = site.get("/readyz");
    assert_eq!(ready.status, 503);
    let reason = ready.json()["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.starts_with("no backend is searched: it ranks by semantics"),
        "{reason}"
    );
    assert_eq!(other.searches.load(SeqCst), 0);
}

#[test]
fn locates_faults_that_backends_find() {
    let parts = shards(1, 2);
    let bad = Fake::with("bad", parts, Fault::Failure(FailureKind::BadQuery, Some(2)));
    let site = Site::new(vec![bad.backend()]);
    let answer = site.get("/api/v2/search?q=ar%5Cn&mode=regexp");
    assert_eq!((answer.status, &answer.json()["at"]), (400, &json!(2)));
    let page = site.get("/search?q=ar%5Cn&mode=regexp");
    assert_eq!(page.status, 400);
    assert!(page.text().contains("ar\\n\n  ^"), "{}", page.text());
}

#[test]
fn full_spool_ends_only_the_query_that_writes() {
    let big = Fake::new("big", shards(1, 1));
    let site = Site::with(vec![big.backend()], |config| {
        config.spool_bytes_max = 8 << 10
    });
    let page = site.search("arse");
    assert_eq!(page["complete"], json!(false));
    let reason = page["missing"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("the spool is full"), "{reason}");
    assert_eq!(
        page["missing"][0]["backend"],
        json!("spool"),
        "not a backend"
    );
    let page = site.get("/search?q=arse");
    assert!(page.text().contains("<b>spool</b>"), "{}", page.text());
    assert_eq!(site.search("nowhere")["complete"], json!(true));
}

#[test]
fn without_any_backend_the_status_is_503_and_complete_is_false() {
    let (a, b) = (Fake::new("a", shards(1, 1)), Fake::new("b", shards(2, 1)));
    let site = Site::new(vec![a.backend(), b.backend()]);
    site.search("arse");
    for fake in [&a, &b] {
        fake.set_down(true);
    }
    eventually("the loss of both", || {
        site.frontend
            .backends(&Scope::everything())
            .iter()
            .all(|backend| !backend.connected)
    });
    for path in [
        "/api/v2/search?q=parse",
        "/api/v2/facets?q=parse",
        "/api/v2/export?q=parse",
        "/api/v2/export?q=parse&order=found",
        "/api/v2/export?q=parse&order=found&format=text",
        "/api/v2/events?q=parse",
        "/api/v1/search?query=parse",
        "/search?q=parse",
    ] {
        let answer = site.get(path);
        assert_eq!(answer.status, 503, "{path}: {}", answer.text());
        assert_eq!(answer.header("retry-after"), "5", "{path}");
    }
    let page = site.get("/api/v2/search?q=parse").json();
    assert_eq!(
        (&page["complete"], &page["total"]),
        (&json!(false), &json!(0))
    );
    assert_eq!(page["missing"].as_array().unwrap().len(), 2);
    let export = site.get("/api/v2/export?q=parse&order=found").json();
    assert_eq!(export["done"]["complete"], json!(false));
    let events = site.events("/api/v2/events?q=parse", "done");
    let (_, end) = events.last().unwrap();
    assert_eq!(
        (&end["complete"], end["missing"].as_array().unwrap().len()),
        (&json!(false), 2)
    );
    assert_eq!(site.get("/api/v2/events?q=arse").status, 200);
    assert!(
        site.get("/search?q=parse")
            .text()
            .contains("This answer is incomplete")
    );
    // Known answers are still shown, and one backend is enough.
    assert_eq!(site.get("/api/v2/search?q=arse").status, 200);
    a.set_down(false);
    assert_eq!(site.get("/api/v2/search?q=parse").status, 200);
}

#[test]
fn asks_a_reconnected_backend_at_once() {
    let fake = Fake::new("one", shards(1, 1));
    let site = Site::new(vec![fake.backend()]);
    let total = site.search("arse")["total"].clone();
    fake.set_down(true);
    eventually("the loss", || {
        !site.frontend.backends(&Scope::everything())[0].connected
    });
    let page = site.search("parse");
    assert_eq!(page["complete"], json!(false));
    assert_eq!(
        page["missing"][0]["shards"],
        json!(["01".repeat(32)]),
        "its shards are known"
    );
    assert_eq!(site.get("/readyz").json()["status"], json!("down"));
    fake.set_down(false);
    let page = site.search("parse");
    assert_eq!(page["complete"], json!(true), "{page}");
    assert_eq!(site.search("arse")["total"], total);
}

#[test]
fn new_shards_make_a_new_generation() {
    let fake = Fake::new("one", shards(1, 1));
    let site = Site::new(vec![fake.backend()]);
    let before = site.search("arse");
    fake.set_shards(shards(2, 2));
    eventually("the announcement", || {
        site.frontend.backends(&Scope::everything())[0].shards == 2
    });
    let after = site.search("arse");
    assert_ne!(before["generation"], after["generation"]);
    assert_eq!(before["matches"], after["matches"]);
    assert_eq!(after["complete"], json!(true));
}

#[test]
fn reuses_connections_and_replaces_dead_ones() {
    let fake = Fake::new("one", shards(1, 1));
    let site = Site::new(vec![fake.backend()]);
    for q in ["a", "ar", "ars", "arse"] {
        assert_eq!(site.search(q)["complete"], json!(true), "{q}");
    }
    assert_eq!(
        fake.connections.load(SeqCst),
        2,
        "one for control, and one for all queries"
    );
    // Greetings precede the close.
    let greetings = fake.greetings.load(SeqCst);
    eventually("greetings", || fake.greetings.load(SeqCst) >= greetings + 6);
    fake.drop_idle.store(true, SeqCst);
    eventually("closed connection", || fake.open.load(SeqCst) == 1);
    let page = site.search("parse");
    assert_eq!(page["complete"], json!(true), "{page}");
    assert_eq!(fake.connections.load(SeqCst), 3);
    let fresh = Site::new(vec![fake.backend()]).search("parse");
    assert_eq!(
        page["matches"], fresh["matches"],
        "frames are read from their start"
    );
}

#[test]
fn readiness_takes_the_path_of_a_search() {
    // It sends HELLO, but fails searches.
    let failure = Fault::Failure(FailureKind::Unavailable, None);
    let fake = Fake::with("one", shards(1, 2), failure);
    let site = Site::new(vec![fake.backend()]);
    eventually("a connection", || {
        site.frontend.backends(&Scope::everything())[0].connected
    });
    let started = site.counter("trawl_frontend_queries_started_total");
    let down = site.get("/readyz");
    assert_eq!(down.status, 503, "{}", down.text());
    assert_eq!(down.json()["backends"][0]["connected"], json!(true));
    assert_eq!(site.get("/healthz").status, 200);
    assert!(site.counter("trawl_frontend_queries_started_total") > started);
    fake.set(Fault::None);
    eventually("readiness", || site.get("/readyz").status == 200);
    assert_eq!(site.spooled(), 0);
}
