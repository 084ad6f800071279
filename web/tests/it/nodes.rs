//! Backends that join and leave a running frontend.

use crate::shards;
use crate::site::{AsBackend, PATIENCE, Site, eventually};
use frontend::{Backend, Config, Scope};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::{Fake, Fault};

fn site(backends: Vec<Backend>) -> Site {
    Site::with(backends, |config: &mut Config| {
        config.changes_backends = true;
        // Searches are counted.
        config.hedges_max = 0;
        config.silence_max = PATIENCE;
    })
}

fn two() -> [Arc<Fake>; 2] {
    let mut parts = shards(1, 2);
    let second = Fake::new("second", parts.split_off(1));
    [Fake::new("first", parts), second]
}

fn set(site: &Site, backends: Vec<Backend>) {
    let count = backends.len();
    site.frontend.set_backends(backends).unwrap();
    let known = || site.frontend.backends(&Scope::everything());
    eventually("all are connected", || {
        known().iter().filter(|it| it.connected).count() == count
    });
}

fn total(answer: &Value) -> u64 {
    assert_eq!(answer["complete"], json!(true), "{answer}");
    answer["total"].as_u64().unwrap()
}

#[test]
fn a_backend_that_joins_is_searched_and_one_that_left_is_not() {
    let [first, second] = two();
    let site = site(vec![first.backend()]);
    let before = total(&site.search("arse"));
    let both = vec![first.backend(), second.backend()];
    set(&site, both);
    let all = total(&site.search("arse"));
    assert!(all > before);
    let connections = first.connections.load(SeqCst);
    site.frontend.set_backends(vec![second.backend()]).unwrap();
    assert_eq!(total(&site.search("arse")), all - before);
    eventually("it is closed", || first.open.load(SeqCst) == 0);
    assert_eq!(
        first.connections.load(SeqCst),
        connections,
        "it stayed connected"
    );
    let health: Value = site.get("/readyz").json();
    assert_eq!(health["backends"].as_array().unwrap().len(), 1, "{health}");
    let both = vec![second.backend(), first.backend()];
    set(&site, both);
    assert_eq!(total(&site.search("arse")), all);
}

#[test]
fn a_running_search_keeps_a_backend_that_leaves() {
    let [first, second] = two();
    let whole = site(vec![first.backend(), second.backend()]);
    let expected = whole.search("arse");
    let site = site(vec![first.backend(), second.backend()]);
    first.set(Fault::Gate);
    let searches = first.searches.load(SeqCst);
    let id = site.get("/api/v2/search?q=arse&wait=false").json()["id"].clone();
    eventually("it searches", || first.searches.load(SeqCst) > searches);
    site.frontend.set_backends(vec![second.backend()]).unwrap();
    first.open_gate();
    let page = site
        .get(&format!("/api/v2/search/{}", id.as_str().unwrap()))
        .json();
    assert_eq!(total(&page), total(&expected));
    assert_eq!(page["generation"], expected["generation"]);
    assert_eq!(page["files"], expected["files"]);
    eventually("it is closed after the search", || {
        first.open.load(SeqCst) == 1
    });
}

#[test]
fn a_draining_backend_gets_no_new_searches_of_what_another_serves() {
    let first = Fake::new("first", shards(1, 2));
    let second = Fake::new("second", shards(1, 2));
    let site = site(vec![first.backend(), second.backend()]);
    let before = site.search("arse");
    let searches = first.searches.load(SeqCst);
    let drained = vec![first.backend().draining(true), second.backend()];
    site.frontend.set_backends(drained).unwrap();
    for word in ["parse", "sparse", "a", "r", "s", "e", "rs", "ar"] {
        let other = site.search(word);
        assert_eq!(before["generation"], other["generation"]);
    }
    assert_eq!(first.searches.load(SeqCst), searches);
    assert!(second.searches.load(SeqCst) >= 8);
    let alone = vec![first.backend().draining(true)];
    site.frontend.set_backends(alone).unwrap();
    total(&site.search("nothing"));
    assert_eq!(first.searches.load(SeqCst), searches + 1);
}

/// A listed but unreachable node removes nothing.
#[test]
fn a_newcomer_counts_once_it_is_connected() {
    let [first, second] = two();
    let site = site(vec![first.backend()]);
    let before = total(&site.search("arse"));
    second.set_down(true);
    let both = vec![first.backend(), second.backend()];
    site.frontend.set_backends(both).unwrap();
    assert_eq!(total(&site.search("arse")), before);
    assert_eq!(site.get("/readyz").json()["status"], json!("ok"));
    second.set_down(false);
    eventually("it is searched", || total(&site.search("arse")) > before);
    // Now it counts, even while it is away.
    second.set_down(true);
    second.drop_idle.store(true, SeqCst);
    second.set(Fault::NoEnd);
    assert_eq!(site.search("parse")["complete"], json!(false));
}

#[test]
fn an_answer_without_any_backend_is_incomplete() {
    let [first, _] = two();
    let site = site(Vec::new());
    let answer = site.search("arse");
    assert_eq!(answer["complete"], json!(false), "{answer}");
    assert_eq!(
        answer["missing"][0]["reason"],
        json!("no node is known yet")
    );
    assert_eq!(site.get("/readyz").status, 503);
    site.frontend.set_backends(vec![first.backend()]).unwrap();
    assert!(total(&site.search("arse")) > 0);
}

#[test]
fn what_a_backend_alone_has_would_be_lost_without_it() {
    let first = Fake::new("first", shards(1, 2));
    let second = Fake::new("second", shards(1, 1));
    let site = site(vec![first.backend(), second.backend()]);
    total(&site.search("arse"));
    let loses = |names: &[&str]| site.frontend.would_lose(&names.iter().copied().collect());
    assert!(!loses(&["second"]) && loses(&["first"]) && loses(&["first", "second"]));
    assert!(!loses(&[]) && !loses(&["other"]));
}

/// Complete answers must not lose its own shards.
#[test]
fn a_node_that_moved_is_missing_until_it_is_connected_if_others_lack_its_shards() {
    let first = Fake::new("first", shards(1, 2));
    let second = Fake::new("second", shards(1, 2).split_off(1));
    let site = site(vec![first.backend(), second.backend()]);
    // Cached answers would be complete.
    let queries = ["arse", "arse+-path:no.such.1", "arse+-path:no.such.2"];
    let before = total(&site.search(queries[0]));
    let nowhere = |name| Backend::tcp("127.0.0.1:1").named(name);
    site.frontend
        .set_backends(vec![nowhere("first"), second.backend()])
        .unwrap();
    let answer = site.search(queries[1]);
    assert_eq!(answer["complete"], json!(false), "{answer}");
    assert_eq!(answer["missing"][0]["backend"], json!("first"));
    set(&site, vec![first.backend(), second.backend()]);
    site.frontend
        .set_backends(vec![first.backend(), nowhere("second")])
        .unwrap();
    assert_eq!(total(&site.search(queries[2])), before);
}
