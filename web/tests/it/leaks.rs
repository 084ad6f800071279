//! Searches whose clients disconnect at any moment leave nothing behind and block no other search.

use crate::shards;
use crate::site::{Site, eventually};
use fake_backend::{Fake, Fault};
use frontend::{Query, SearchHandle};
use schema::message::{Expr, Field, Filter, Pattern, Reading, Syntax};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// Searches that a test abandons.
const SEARCHES: u64 = 200;

/// Returns a query that is different for every number, with the same matches for every fourth.
fn query(number: u64) -> Query {
    let pattern = Pattern {
        text: ["arse", "ars", "rse", "a"][number as usize % 4].to_owned(),
        syntax: Syntax::Literal,
        ignore_case: false,
        ..Pattern::default()
    };
    let filter = Expr::Filter(Filter {
        field: Field::Path,
        reading: Reading::Exact,
        text: format!("no{number}"),
    });
    Query::new(Expr::all([Expr::Pattern(pattern), filter.negated()]), 2).unwrap()
}

/// Returns a pseudo-random number below `below`.
fn random(seed: u64, below: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) % below
}

/// Returns two slow backends and a frontend that admits all searches.
fn stage() -> (Site, [Arc<Fake>; 2]) {
    let mut parts = shards(1, 2);
    let second = Fake::with("second", parts.split_off(1), Fault::Slow);
    let first = Fake::with("first", parts, Fault::Slow);
    let site = Site::with(vec![first.backend(), second.backend()], |config| {
        config.queued_max = SEARCHES as usize;
        config.grace = Duration::from_millis(5);
        config.result_memory_bytes = 0;
    });
    (site, [first, second])
}

/// Starts all searches within 100 ms, abandons each after a while, and returns their ids.
fn abandon_all(site: &Site) -> Vec<String> {
    let left = (0..SEARCHES).map(|number| {
        let frontend = Arc::clone(&site.frontend);
        site.runtime.spawn(async move {
            let started = Duration::from_micros(random(number, 100_000));
            tokio::time::sleep(started).await;
            let search = frontend.search(query(number)).await.unwrap();
            let stays = Duration::from_micros(random(!number >> 8, 150_000));
            let _ = tokio::time::timeout(stays, search.finished()).await;
            search.id().to_owned()
        })
    });
    let left: Vec<_> = left.collect();
    left.into_iter()
        .map(|left| site.runtime.block_on(left).unwrap())
        .collect()
}

#[test]
fn abandoned_searches_release_everything() {
    let (site, fakes) = stage();
    let ids = abandon_all(&site);
    let runs: Vec<SearchHandle> = ids.iter().filter_map(|id| site.frontend.run(id)).collect();
    eventually("the end of all runs", || {
        runs.iter().all(SearchHandle::is_finished)
    });
    let answers: Vec<_> = runs
        .iter()
        .map(|run| site.runtime.block_on(run.finished()).unwrap())
        .collect();
    let complete = answers.iter().filter(|answer| answer.is_complete()).count();
    let cut_short = answers.len() - complete;
    assert!(
        complete > 0 && cut_short > 10,
        "{complete} of {}",
        answers.len()
    );
    drop((answers, runs));
    for fake in &fakes {
        assert!(fake.broken_off.load(SeqCst) > 0, "backends are told");
    }
    // Every place was released: as many searches as may run at once run.
    fakes.iter().for_each(|fake| fake.set(Fault::Gate));
    let before = fakes[0].searches.load(SeqCst);
    let running: Vec<_> = (SEARCHES..SEARCHES + 8)
        .map(|number| {
            site.runtime
                .block_on(site.frontend.search(query(number)))
                .unwrap()
        })
        .collect();
    eventually("eight running searches", || {
        fakes[0].searches.load(SeqCst) == before + 8
    });
    drop(running);
    fakes.iter().for_each(|fake| fake.set(Fault::None));
    assert_eq!(site.search("arse")["complete"], json!(true));
    eventually("one connection to each backend", || {
        fakes.iter().all(|fake| fake.open.load(SeqCst) == 1)
    });
}

#[test]
fn an_abandoned_search_leaves_no_files() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::with(vec![fake.backend()], |config| {
        config.result_memory_bytes = 0
    });
    let search = site
        .runtime
        .block_on(site.frontend.search(query(0)))
        .unwrap();
    eventually("frames on the disk", || site.spooled() > 0);
    drop(search);
    eventually("an empty spool", || site.spooled() == 0);
}

/// All matches of one backend arrive while the stream of another waits.
#[test]
fn a_waiting_backend_blocks_no_other() {
    let mut parts = shards(1, 2);
    let slow = Fake::with("slow", parts.split_off(1), Fault::Gate);
    let quick = Fake::new("quick", parts);
    let alone = Site::new(vec![quick.backend()]);
    let all = alone.search("arse")["total"].as_u64().unwrap();
    let site = Site::new(vec![quick.backend(), slow.backend()]);
    let page = site.get("/api/v2/search?q=arse&wait=false").json();
    let search = site.frontend.run(page["id"].as_str().unwrap()).unwrap();
    eventually("matches of the other backend", || {
        let progress = search.progress();
        let quick = progress
            .backends
            .iter()
            .find(|backend| backend.name == "quick");
        quick.is_some_and(|quick| quick.matches == all)
    });
    assert!(!search.is_finished());
    let other = alone.search("parse");
    assert_eq!(other["complete"], json!(true));
    slow.open_gate();
    let answer = site.runtime.block_on(search.finished()).unwrap();
    assert!(answer.is_complete() && answer.len() as u64 > all);
}
