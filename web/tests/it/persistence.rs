//! Answers on disk: they survive a restart, damage is noticed, and evicted ones are searched again.

use crate::site::{PATIENCE, Site};
use fake_backend::{Document, Fake};
use frontend::Config;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

/// Two backends with `documents` documents of three matches each.
fn fakes(documents: usize) -> Vec<Arc<Fake>> {
    let document = |number: usize| Document {
        package: format!("p{}", number % 7).into_bytes(),
        path: format!("d{}/{number}.c", number % 3).into_bytes(),
        lines: vec![
            b"arse".to_vec(),
            b"none".to_vec(),
            b"  parse arse".to_vec(),
            b"arsenal".to_vec(),
        ],
        split: number.is_multiple_of(2),
    };
    let shard = |backend: usize| {
        let all = (0..documents).filter(|n| n % 2 == backend).map(document);
        vec![(backend as u8 + 1, all.collect())]
    };
    vec![Fake::new("one", shard(0)), Fake::new("two", shard(1))]
}

/// Writes everything to the disk, and spills pointers.
fn little_memory(config: &mut Config) {
    config.result_memory_bytes = 0;
    config.query_memory_bytes = 0;
}

fn site(fakes: &[Arc<Fake>], change: impl FnOnce(&mut Config)) -> Site {
    Site::with(fakes.iter().map(Fake::backend).collect(), change)
}

/// Returns a page without what may differ between two executions.
fn page(site: &Site, path: &str) -> Value {
    let mut page = site.get(path).json();
    (page["timings"], page["id"]) = (Value::Null, Value::Null);
    page
}

/// Returns pages of all kinds.
fn pages(site: &Site) -> Vec<Value> {
    let base = "/api/v2/search?q=arse&context=1";
    [
        "",
        "&page=3",
        "&per_page=7&page=5",
        "&group=package&per_package=10",
        "&per_page=1000",
    ]
    .iter()
    .map(|view| page(site, &format!("{base}{view}")))
    .collect()
}

#[test]
fn answers_do_not_depend_on_memory() {
    let fakes = fakes(300);
    let expected = pages(&site(&fakes, |_| ()));
    assert_eq!(expected[0]["total"], json!(900));
    assert_eq!(expected[0]["complete"], json!(true));
    assert_eq!(pages(&site(&fakes, little_memory)), expected);
}

#[test]
fn answers_survive_a_restart() {
    let fakes = fakes(300);
    let first = site(&fakes, little_memory);
    let expected = pages(&first);
    let next = expected[0]["next"].as_str().unwrap().to_owned();
    let next = format!("/api/v2/search?cursor={next}&per_page=30");
    let by_cursor = page(&first, &next);
    let before = std::fs::read_dir(first.spool.path()).unwrap().count();
    let spool = first.stop();
    let searches = fakes[0].searches.load(SeqCst);
    let again = site(&fakes, |config| config.spool = spool.path().to_owned());
    assert_eq!(pages(&again), expected);
    assert_eq!(page(&again, &next), by_cursor);
    assert_eq!(fakes[0].searches.load(SeqCst), searches, "nobody was asked");
    assert_eq!(std::fs::read_dir(spool.path()).unwrap().count(), before);
}

#[test]
fn searches_again_after_damage() {
    let fakes = fakes(300);
    let site = site(&fakes, little_memory);
    let expected = pages(&site);
    let run = std::fs::read_dir(site.spool.path()).unwrap();
    let run = run
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir());
    let order = run.unwrap().join("order-0");
    let mut bytes = std::fs::read(&order).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&order, bytes).unwrap();
    assert_eq!(site.get("/api/v2/search?q=arse&context=1").status, 500);
    assert_eq!(pages(&site), expected);
}

#[test]
fn searches_again_after_eviction() {
    let fakes = fakes(300);
    let site = site(&fakes, |config| {
        little_memory(config);
        config.silence_max = PATIENCE;
        config.spool_bytes_max = 400_000;
    });
    let expected = pages(&site);
    let first = site.get("/api/v2/search?q=arse&context=1").json();
    let (id, next) = (
        first["id"].as_str().unwrap(),
        first["next"].as_str().unwrap(),
    );
    let second = page(&site, &format!("/api/v2/search?cursor={next}"));
    for other in ["ars", "rse", "parse", "none", "a", "s", "e"] {
        assert_eq!(site.search(other)["complete"], json!(true), "{other}");
    }
    let searches = fakes[0].searches.load(SeqCst);
    let by_id = page(&site, &format!("/api/v2/search/{id}?page=3"));
    assert_eq!(by_id, expected[1]);
    assert_eq!(fakes[0].searches.load(SeqCst), searches + 1, "asked again");
    assert_eq!(
        page(&site, &format!("/api/v2/search?cursor={next}")),
        second
    );
}

#[test]
fn limit_keeps_the_best_matches_when_spilled() {
    let fakes = fakes(300);
    let site = site(&fakes, little_memory);
    let all = site.get("/api/v2/search?q=arse&per_page=20").json();
    let best = site
        .get("/api/v2/search?q=arse&per_page=20&limit=20")
        .json();
    // Copies are known only of all matches.
    let mut expected = all["matches"].clone();
    for found in expected.as_array_mut().unwrap() {
        found.as_object_mut().unwrap().remove("copies");
    }
    assert_eq!(best["matches"], expected);
    assert_eq!((&best["total"], &best["found"]), (&json!(20), &json!(900)));
}
