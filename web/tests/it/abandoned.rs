//! Clients that disconnect at any moment leave nothing behind, and delay no others.

use crate::shards;
use crate::site::{AsBackend, PATIENCE, Site, eventually, eventually_within};
use frontend::{Query, Scope, SearchRequest};
use schema::message::{Expr, Field, Filter, Pattern, Reading, Syntax};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use testkit::backend::{Fake, Fault};

const SEARCHES: u64 = 200;

/// The frontend's limit, and its heartbeat.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// Distinct queries, with four sets of matches.
fn request(number: u64) -> SearchRequest {
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
    let query = Query::new(Expr::all([Expr::Pattern(pattern), filter.negated()]), 2);
    SearchRequest::new(&Scope::everything(), query.unwrap())
}

fn random(seed: u64, below: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) % below
}

fn stage() -> (Site, [Arc<Fake>; 2]) {
    let mut parts = shards(1, 2);
    let second = Fake::with("second", parts.split_off(1), Fault::Slow);
    let first = Fake::with("first", parts, Fault::Slow);
    let site = Site::with(vec![first.backend(), second.backend()], |config| {
        config.queued_max = SEARCHES as usize;
        config.grace = Duration::from_millis(5);
        config.result_memory_bytes = 0;
        config.silence_max = PATIENCE;
    });
    (site, [first, second])
}

/// Starts all searches, and abandons most. A few clients wait for complete answers.
fn leave_all(site: &Site) -> Vec<String> {
    let left = (0..SEARCHES).map(|number| {
        let frontend = Arc::clone(&site.frontend);
        site.runtime.spawn(async move {
            let started = Duration::from_micros(random(number, 100_000));
            tokio::time::sleep(started).await;
            let search = frontend.search(request(number)).await.unwrap();
            if number % 20 == 0 {
                assert!(search.finished().await.unwrap().is_complete());
            } else {
                let stays = Duration::from_micros(random(!number >> 8, 150_000));
                let _ = tokio::time::timeout(stays, search.finished()).await;
            }
            search.id().to_owned()
        })
    });
    let left: Vec<_> = left.collect();
    left.into_iter()
        .map(|left| site.runtime.block_on(left).unwrap())
        .collect()
}

#[test]
fn abandoned_searches_leave_nothing() {
    let (site, fakes) = stage();
    let ids = leave_all(&site);
    let is_over = |id| {
        site.frontend
            .get(&Scope::everything(), id)
            .is_none_or(|run| run.is_finished())
    };
    eventually("the end of all executions", || {
        ids.iter().all(|id| is_over(id))
    });
    for fake in &fakes {
        assert!(fake.broken_off.load(SeqCst) > 0, "backends are told");
    }
    // Every slot is free again.
    fakes.iter().for_each(|fake| fake.set(Fault::Gate));
    let before = fakes[0].searches.load(SeqCst);
    let running: Vec<_> = (SEARCHES..SEARCHES + 8)
        .map(|number| {
            site.runtime
                .block_on(site.frontend.search(request(number)))
                .unwrap()
        })
        .collect();
    eventually("eight searches", || {
        fakes[0].searches.load(SeqCst) == before + 8
    });
    drop(running);
    fakes.iter().for_each(|fake| fake.set(Fault::None));
    assert_eq!(site.search("arse")["complete"], json!(true));
    eventually_within(2 * IDLE_MAX, "one connection to each backend", || {
        fakes.iter().all(|fake| fake.open.load(SeqCst) == 1)
    });
}

#[test]
fn abandoned_execution_leaves_no_files() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::with(vec![fake.backend()], |config| {
        config.result_memory_bytes = 0
    });
    let search = site
        .runtime
        .block_on(site.frontend.search(request(0)))
        .unwrap();
    eventually("frames on the disk", || site.spooled() > 0);
    drop(search);
    eventually("an empty spool", || site.spooled() == 0);
}

#[test]
fn a_slow_backend_delays_no_other_query() {
    let mut parts = shards(1, 2);
    let slow = Fake::with("slow", parts.split_off(1), Fault::Gate);
    let quick = Fake::new("quick", parts);
    let alone = Site::new(vec![quick.backend()]);
    let all = alone.search("arse")["total"].as_u64().unwrap();
    let site = Site::new(vec![quick.backend(), slow.backend()]);
    let page = site.get("/api/v2/search?q=arse&wait=false").json();
    let search = site
        .frontend
        .get(&Scope::everything(), page["id"].as_str().unwrap())
        .unwrap();
    eventually("all matches of the other", || {
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
