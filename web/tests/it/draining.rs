//! A draining frontend starts no search; running ones end, or move to another frontend.

use crate::shards;
use crate::site::{Answer, AsBackend, PATIENCE, Site, eventually};
use frontend::{Scope, Serving};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use testkit::backend::{Fake, Fault};
use ureq::http::Method;

fn site() -> (Site, Arc<Fake>) {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::with(vec![fake.backend()], |config| config.silence_max = PATIENCE);
    assert_eq!(site.search("parse")["complete"], json!(true));
    fake.set(Fault::Gate);
    (site, fake)
}

/// Draining closes idle connections.
fn fresh(site: &Site, path: &str) -> Answer {
    site.get_without_following(path)
}

/// Lines after the first event's name.
fn followed(site: &Site, path: &str) -> impl Iterator<Item = String> + use<> {
    let mut lines = site.lines(path).map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("event: ")), "{path}");
    lines
}

fn last_event(lines: impl Iterator<Item = String>) -> (String, Value) {
    let (mut name, mut data) = (String::new(), Value::Null);
    for line in lines {
        if let Some(event) = line.strip_prefix("event: ") {
            name = event.to_owned();
        } else if let Some(json) = line.strip_prefix("data: ") {
            data = serde_json::from_str(json).unwrap();
        }
    }
    (name, data)
}

fn check_refused(refused: &Answer) {
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(refused.json()["type"], json!("/problems/draining"));
}

fn check_ended(site: Site) {
    let Site {
        runtime, served, ..
    } = site;
    let ended = async { tokio::time::timeout(PATIENCE, served).await };
    let ended = runtime.block_on(ended).expect("no connection is left");
    ended.unwrap();
}

#[test]
fn no_search_starts_while_a_frontend_drains() {
    let (site, fake) = site();
    assert_eq!(fresh(&site, "/readyz").status, 200);
    // The frontend stays until this has ended.
    let events = followed(&site, "/api/v2/events?q=arse");
    site.frontend.drain(Serving::Draining);
    let ready = fresh(&site, "/readyz");
    let draining = json!("draining");
    assert_eq!((ready.status, &ready.json()["status"]), (503, &draining));
    assert_eq!(fresh(&site, "/healthz").status, 200);
    check_refused(&fresh(&site, "/api/v2/search?q=arsenal"));
    check_refused(&fresh(&site, "/api/v2/events?q=arsenal"));
    let page = fresh(&site, "/search?q=arsenal");
    assert_eq!(page.status, 503);
    assert!(page.text().contains("about to stop"), "{}", page.text());
    // Finished answers come on connections of their own.
    let known = fresh(&site, "/api/v2/search?q=parse");
    assert_eq!(
        (known.status, &known.json()["complete"]),
        (200, &json!(true))
    );
    assert_eq!(known.header("connection"), "close");
    let joined = fresh(&site, "/api/v2/search?q=arse&wait=false");
    assert_eq!(joined.json()["state"], json!("running"));
    fake.open_gate();
    let (name, done) = last_event(events);
    assert_eq!((&name[..], &done["complete"]), ("done", &json!(true)));
    check_ended(site);
}

fn while_one_waits(site: &Site, fake: &Fake, then: impl FnOnce()) -> Answer {
    let before = fake.searches.load(SeqCst);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| fresh(site, "/api/v2/search?q=arse"));
        eventually("its search begins", || fake.searches.load(SeqCst) > before);
        then();
        waiting.join().unwrap()
    })
}

#[test]
fn a_search_that_runs_ends_while_its_frontend_drains() {
    let (site, fake) = site();
    let found = while_one_waits(&site, &fake, || {
        site.frontend.drain(Serving::Draining);
        fake.open_gate();
    });
    assert_eq!(
        (found.status, &found.json()["complete"]),
        (200, &json!(true))
    );
    check_ended(site);
}

#[test]
fn clients_are_handed_over_to_another_frontend() {
    let (site, fake) = site();
    let other = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    eventually("a connection", || {
        other.frontend.backends(&Scope::everything())[0].connected
    });
    let path = "/api/v2/events?q=arse";
    let mut streams = None;
    let waited = while_one_waits(&site, &fake, || {
        let page = followed(&site, "/search/events?q=arse");
        streams = Some((followed(&site, path), page));
        site.frontend.drain(Serving::Draining);
        site.frontend.drain(Serving::HandingOver);
    });
    check_refused(&waited);
    let (events, page) = streams.unwrap();
    assert_eq!(last_event(page).0, "reconnect");
    let lines: Vec<String> = events.collect();
    let (name, data) = last_event(lines.iter().cloned());
    assert_eq!(
        (&name[..], &data["interpreted_as"]),
        ("reconnect", &json!("arse"))
    );
    let field = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name));
    assert_eq!(field("retry: "), Some("500"));
    let generation = field("id: ").unwrap();
    assert_eq!(data["generation"], json!(generation));
    // As browsers do, even if the documents have changed.
    for (id, is_same) in [(generation, true), ("0123456789abcdef", false)] {
        let again = other.send(Method::GET, path, &[("last-event-id", id)]);
        assert_eq!(again.status, 200, "{}", again.text());
        assert!(again.text().contains("event: done"), "{}", again.text());
        assert_eq!(id == other.search("arse")["generation"], is_same);
    }
    fake.open_gate();
    check_ended(site);
}
