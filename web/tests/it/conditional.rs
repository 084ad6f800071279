//! Headers of answers: tags, caching, timing.

use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use frontend::Scope;
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::{Fake, Fault};
use ureq::http::Method;

fn again(site: &Site, path: &str) -> u16 {
    let tag = site.get(path).header("etag").to_owned();
    assert!(tag.starts_with("W/\""), "{path}: {tag}");
    let again = site.send(Method::GET, path, &[("if-none-match", &tag)]);
    if again.status == 304 {
        assert_eq!(
            (again.header("etag"), &again.body[..]),
            (&tag[..], &b""[..])
        );
    }
    again.status
}

#[test]
fn answers_304_for_a_known_tag() {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    let id = site.search("arse")["id"].as_str().unwrap().to_owned();
    for path in [
        "/api/v2/search?q=arse",
        "/api/v2/search?q=arse&page=2&explain=true",
        "/search?q=arse&group=package",
        &format!("/api/v2/search/{id}?per_page=3"),
    ] {
        let page = site.get(path);
        assert_eq!(page.header("cache-control"), "private, no-cache", "{path}");
        assert_eq!(again(&site, path), 304, "{path}");
    }
    let tags: std::collections::HashSet<_> = ["", "&page=1", "&per_page=9", "&context=1", "x"]
        .map(|more| {
            let page = site.get(&format!("/api/v2/search?q=arse{more}"));
            page.header("etag").to_owned()
        })
        .into();
    assert_eq!(tags.len(), 5);
}

#[test]
fn checks_tags_without_a_search() {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    let tag = site.get("/api/v2/search?q=arse").header("etag").to_owned();
    let ask = |site: &Site| {
        let tags = [("if-none-match", &tag[..])];
        site.send(Method::GET, "/api/v2/search?q=arse", &tags)
    };
    // The same shards need no search.
    let other = Site::new(vec![fake.backend()]);
    eventually("a connection", || {
        other.frontend.backends(&Scope::everything())[0].shards == 2
    });
    let searches = fake.searches.load(SeqCst);
    assert_eq!(ask(&other).status, 304);
    assert_eq!(fake.searches.load(SeqCst), searches);
    fake.set_shards(shards(5, 2));
    eventually("another answer", || ask(&site).status == 200);
}

#[test]
fn incomplete_answers_are_not_cached() {
    let fake = Fake::with("one", shards(1, 2), Fault::ShardFailure);
    let site = Site::new(vec![fake.backend()]);
    for path in [
        "/api/v2/search?q=arse",
        "/search?q=arse",
        "/api/v2/search?q=arse&page=99",
    ] {
        let page = site.get(path);
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
        assert_eq!(page.header("etag"), "", "{path}");
    }
    fake.set(Fault::Gate);
    let running = site.get("/api/v2/search?q=arse&wait=false");
    assert_eq!(running.header("cache-control"), "no-store");
    assert_eq!(
        site.get("/search?q=arse").header("cache-control"),
        "no-store"
    );
}

#[test]
fn reports_server_timing() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let first = site.get("/api/v2/search?q=arse");
    let names = |timing: &str| -> Vec<String> {
        let name = |each: &str| each.trim().split(';').next().unwrap().to_owned();
        timing.split(',').map(name).collect()
    };
    let phases = [
        "queue",
        "plan",
        "candidates",
        "verify",
        "stream",
        "rank",
        "render",
    ];
    assert_eq!(names(first.header("server-timing")), phases);
    for phase in phases {
        let time = &first.json()["timings"][format!("{phase}_ms")];
        assert!(time.as_f64().is_some_and(|ms| ms >= 0.0), "{phase}: {time}");
    }
    let second = site.get("/search?q=arse");
    assert_eq!(names(second.header("server-timing")), ["cache", "render"]);
}
