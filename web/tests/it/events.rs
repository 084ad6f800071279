//! Server-sent events: matches of a running search, and its end.

use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use frontend::Scope;
use serde_json::{Value, json};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use testkit::backend::{Document, Fake, Fault};

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

fn last<'a>(events: &'a [(String, Value)], name: &str) -> &'a Value {
    let found = events.iter().rfind(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("no {name} in {events:?}")).1
}

#[test]
fn sends_events_until_the_end() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let page = site.get("/api/v2/search?q=arse&wait=false").json();
    assert_eq!(
        (&page["state"], &page["found"]),
        (&json!("running"), &Value::Null)
    );
    let path = format!("/api/v2/search/{}/events", page["id"].as_str().unwrap());
    let events = site.events(&path, "progress");
    assert_eq!(names(&events), ["matches", "progress"]);
    let best = last(&events, "matches");
    assert!(!best["matches"].as_array().unwrap().is_empty());
    assert!(!best["html"].as_str().unwrap().contains("<script"));
    assert_eq!(best["final"], json!(false));
    let progress = last(&events, "progress");
    assert_eq!(
        (&progress["id"], &progress["bound"]),
        (&page["id"], &Value::Null)
    );
    assert_eq!(progress["backends"][0]["name"], json!("one"));
    fake.open_gate();
    let events = site.events(&path, "done");
    let done = last(&events, "done");
    assert_eq!(done["complete"], json!(true));
    let page = site.search("arse");
    assert_eq!(
        (&done["total"], &done["found"]),
        (&page["total"], &page["found"])
    );
    assert_eq!(last(&events, "matches")["matches"], page["matches"]);
    assert!(done["timings"]["stream_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn sends_the_first_match_at_once() {
    let first_match_after = || {
        let fake = Fake::with("one", shards(1, 1), Fault::Gate);
        let site = Site::new(vec![fake.backend()]);
        eventually("a connection", || {
            site.frontend.backends(&Scope::everything())[0].connected
        });
        let asked = Instant::now();
        let events = site.events("/api/v2/events?q=arse", "matches");
        let took = asked.elapsed();
        assert_eq!(names(&events), ["matches"]);
        took
    };
    // Regular events come after 250 ms. A busy machine may delay some rounds.
    let mut times = (0..20).map(|_| first_match_after());
    assert!(times.any(|took| took < Duration::from_millis(150)));
}

#[test]
fn progress_comes_less_often_while_nothing_changes() {
    let fake = Fake::with("one", shards(1, 1), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let lines = site.lines("/api/v2/events?q=arse").map(Result::unwrap);
    let progress = lines.filter_map(|line| {
        let data: Value = serde_json::from_str(line.strip_prefix("data: ")?).unwrap();
        data["elapsed_ms"].as_u64()
    });
    // The first follow after 250, 500 and 1,000 ms; these have no change.
    let times: Vec<u64> = progress.take(8).collect();
    let last = times[7] - times[6];
    assert!(last > 1_500, "{times:?}");
    fake.open_gate();
}

/// Good matches before the gate, and worse ones after it.
fn good_and_bad() -> Vec<(u8, Vec<Document>)> {
    let document = |path: &[u8], line: &[u8]| Document {
        package: b"p".to_vec(),
        path: path.to_vec(),
        lines: vec![line.to_vec(); 12],
        split: false,
    };
    vec![(
        1,
        vec![document(b"a", b"arse"), document(b"b", b"    arse")],
    )]
}

#[test]
fn first_page_is_final_once_the_bound_is_lower() {
    for (bound, is_final) in [(1.05, true), (1.1, false)] {
        let fake = Fake::with("one", good_and_bad(), Fault::Gate);
        *fake.bound.lock().unwrap() = bound;
        let site = Site::new(vec![fake.backend()]);
        let _held = site.get("/api/v2/search?q=arse&wait=false");
        let listen = |last: &str| site.events("/api/v2/events?q=arse", last);
        eventually("the bound", || {
            last(&listen("progress"), "progress")["bound"]
                .as_f64()
                .is_some()
        });
        let early = listen("progress");
        assert_eq!(last(&early, "matches")["final"], json!(is_final));
        fake.open_gate();
        let events = listen("done");
        let finals = events
            .iter()
            .filter(|(_, data)| data["final"] == json!(true));
        assert_eq!(finals.count(), 1, "final once");
        let page = site.search("arse");
        assert_eq!(last(&events, "matches")["matches"], page["matches"]);
        assert_eq!(last(&events, "done")["total"], json!(24));
        if is_final {
            assert_eq!(last(&early, "matches")["matches"], page["matches"]);
        }
    }
}

#[test]
fn finished_search_sends_its_first_page_and_end() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let page = site.search("arse");
    let events = site.events("/api/v2/events?q=arse", "done");
    assert_eq!(names(&events), ["matches", "facets", "done"]);
    assert_eq!(events[0].1["final"], json!(true));
    assert_eq!(events[0].1["matches"], page["matches"]);
    assert_eq!(events[1].1["total"], page["total"]);
    assert_eq!(events[2].1["interpreted_as"], page["interpreted_as"]);
    let nothing = site.events("/api/v2/events?q=nowhere", "done");
    assert_eq!(last(&nothing, "matches")["matches"], json!([]));
    let count = site.events("/api/v2/events?q=arse&want=count", "done");
    assert_eq!(last(&count, "done")["found"], page["found"]);
    let bad = site.get("/api/v2/events?q=(&mode=regexp");
    assert_eq!((bad.status, bad.json()["at"].as_u64()), (400, Some(0)));
    assert_eq!(site.get("/api/v2/events?q=arse&page=1").status, 400);
}

#[test]
fn failed_search_ends_with_a_problem() {
    let site = Site::new(vec![Fake::new("one", shards(1, 1)).backend()]);
    let done = |path: &str| last(&site.events(path, "done"), "done").clone();
    let query = "arse%20%20l:D";
    let problem = site.search(query);
    assert_eq!(problem["at"], json!(8));
    let refused = done(&format!("/api/v2/events?q={query}"));
    for (name, value) in problem.as_object().unwrap() {
        assert_eq!(&refused[name], value, "{name}");
    }
    assert_eq!(refused["error"], json!("there is no such language"));
    assert_eq!(refused["hint"], json!("did you mean C?"));
    assert_eq!(refused["status"], json!(400));
    let id = refused["id"].clone();
    let refused = done("/api/v2/events?q=arse&lang=D");
    assert_eq!(
        (&refused["at"], &refused["filter"]),
        (&json!(0), &json!("D"))
    );
    // By id, the position is in the displayed query.
    let path = format!("/api/v2/search/{}/events", id.as_str().unwrap());
    let refused = done(&path);
    assert_eq!(
        (&refused["interpreted_as"], &refused["at"]),
        (&json!("arse lang:D"), &json!(10))
    );
    let whole = done("/api/v2/events?q=arse");
    assert_eq!((&whole["error"], whole.get("detail")), (&Value::Null, None));
}

#[test]
fn cancels_a_search_without_listeners() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    site.events("/api/v2/events?q=arse", "matches");
    eventually("the end of the search", || {
        fake.broken_off.load(SeqCst) == 1
    });
}
