//! An answer breaks at every place, and a second backend has the same shards: the page equals that
//! of an undisturbed search.

use crate::damaged_answers::document;
use crate::site::{AsBackend, SILENCE_MAX, Site, eventually};
use schema::message::{Expr, FailureKind, Pattern, Progress, Search};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use testkit::backend::{Document, Fake, Fault, NextFault};

/// Longer than the connection timeout.
const NEVER: Duration = Duration::from_secs(60);

const PATH: &str = "/api/v2/search?q=arse&per_page=1000&context=1";

fn shard(shard: u8) -> (u8, Vec<Document>) {
    let documents = (0..3).map(|number| document(shard * 10 + number, number == 1));
    (shard, documents.collect())
}

struct Stage {
    site: Site,
    fakes: Vec<Arc<Fake>>,
    next: NextFault,
    frames: Vec<Vec<u8>>,
    whole: Value,
    queries: AtomicUsize,
}

impl Stage {
    fn new(backends: &[&[u8]]) -> Stage {
        Stage::with(backends, SILENCE_MAX)
    }

    fn with(backends: &[&[u8]], silence_max: Duration) -> Stage {
        let next = NextFault::default();
        let named = "abc".chars().zip(backends);
        let fakes: Vec<Arc<Fake>> = named
            .map(|(name, shards)| {
                let shards = shards.iter().map(|&it| shard(it)).collect();
                let fake = Fake::new(&name.to_string(), shards);
                *fake.next_fault.lock().unwrap() = Arc::clone(&next);
                fake
            })
            .collect();
        let frames = fakes[0].record(&Search {
            expr: Expr::Pattern(Pattern {
                text: "arse".to_owned(),
                ..Pattern::default()
            }),
            context_lines: 1,
            shards: backends[0].iter().map(|&it| [it; 32]).collect(),
            ..Search::default()
        });
        let backends = fakes.iter().map(AsBackend::backend).collect();
        let stage = Stage {
            whole: Value::Null,
            site: Site::with(backends, |config| config.silence_max = silence_max),
            fakes,
            next,
            frames,
            queries: AtomicUsize::new(0),
        };
        let whole = stage.page();
        assert_eq!(whole["complete"], json!(true));
        Stage { whole, ..stage }
    }

    /// Drops varying fields. Each page has another query, since answers are cached.
    fn page(&self) -> Value {
        let query = self.queries.fetch_add(1, Relaxed);
        let page = self.site.get(&format!("{PATH}&path=-no{query}")).json();
        let kept = [
            "complete", "missing", "total", "matches", "packages", "files",
        ];
        let kept = kept.iter().map(|&key| (key.to_owned(), page[key].clone()));
        Value::Object(kept.collect())
    }

    fn check(&self, fault: Fault) {
        let what = format!("{fault:?}");
        *self.next.lock().unwrap() = Some(fault);
        assert_eq!(self.page(), self.whole, "{what}");
        assert!(self.next.lock().unwrap().is_none(), "nothing was broken");
    }
}

#[test]
fn an_answer_that_is_cut_at_any_byte_goes_on() {
    let stage = Stage::new(&[&[1, 2], &[1, 2]]);
    assert_eq!(stage.whole["total"], json!(18));
    let all = stage.frames.concat();
    for length in 0..all.len() {
        stage.check(Fault::Replay(all[..length].to_vec()));
    }
}

#[test]
fn an_answer_that_stops_growing_goes_on() {
    let stage = Stage::new(&[&[1, 2], &[1, 2]]);
    let mut progress = Vec::new();
    let said = Progress {
        blocks_done: 1,
        blocks_total: 2,
        ..Progress::default()
    };
    said.encode(&mut progress).unwrap();
    for frames in [0, 1, stage.frames.len() - 1] {
        let first = stage.frames[..frames].concat();
        stage.check(Fault::Repeat(first, progress.clone()));
    }
}

#[test]
fn an_answer_with_a_flipped_bit_or_a_repeated_frame_goes_on() {
    let stage = Stage::new(&[&[1, 2], &[2, 1]]);
    let all = stage.frames.concat();
    for at in (0..all.len()).step_by(3) {
        let mut bytes = all.clone();
        bytes[at] ^= 1 << (at % 8);
        stage.check(Fault::Replay(bytes));
    }
    for at in 0..stage.frames.len() - 1 {
        let mut twice = stage.frames.clone();
        twice.insert(at, stage.frames[at].clone());
        stage.check(Fault::Replay(twice.concat()));
    }
    stage.check(Fault::Failure(FailureKind::Unavailable, None));
    stage.check(Fault::Failure(FailureKind::StaleShards, None));
    stage.check(Fault::Garbage);
    stage.check(Fault::Silence);
}

/// Only a hedge ends the silence before the query's timeout.
#[test]
fn another_backend_goes_on_with_an_answer_that_stops_coming() {
    let stage = Stage::with(&[&[1, 2], &[1, 2]], Duration::from_secs(3600));
    let won = "trawl_frontend_streams_hedged_total{result=\"won\"}";
    let before = stage.site.counter(won);
    for frames in 0..stage.frames.len() {
        let whole = stage.frames[..frames].concat();
        stage.check(Fault::Stall(whole.clone()));
        let part = &stage.frames[frames][..20];
        stage.check(Fault::Stall([&whole[..], part].concat()));
        if stage.site.counter(won) >= before + 3 {
            break;
        }
    }
    assert!(stage.site.counter(won) >= before + 3);
}

/// One backend has all shards, the others one each.
#[test]
fn several_backends_go_on_with_their_parts() {
    let stage = Stage::new(&[&[1, 2], &[2], &[1]]);
    for _ in 0..10 {
        stage.check(Fault::NoEnd);
        stage.check(Fault::Garbage);
        stage.check(Fault::FlippedBit);
        stage.check(Fault::Failure(FailureKind::Unavailable, None));
    }
}

/// Packets vanish, so the connection attempt does not fail.
#[test]
fn a_backend_that_is_slow_to_connect_is_not_waited_for_if_another_one_serves_its_shards() {
    let stage = Stage::new(&[&[1, 2], &[1, 2]]);
    for fake in &stage.fakes {
        fake.drop_idle.store(true, Relaxed);
    }
    *stage.fakes[0].connecting.lock().unwrap() = NEVER;
    let began = Instant::now();
    for _ in 0..10 {
        assert_eq!(stage.page(), stage.whole);
    }
    assert!(began.elapsed() < NEVER);
}

/// First packets are lost, and sent again after a second.
#[test]
fn backends_that_are_slow_to_connect_get_more_time_if_there_is_no_other_one() {
    let stage = Stage::new(&[&[1, 2], &[1, 2]]);
    for fake in &stage.fakes {
        fake.drop_idle.store(true, Relaxed);
        *fake.connecting.lock().unwrap() = Duration::from_secs(1);
    }
    assert_eq!(stage.page(), stage.whole);
}

#[test]
fn a_lost_backend_is_not_waited_for_if_another_one_serves_its_shards() {
    let stage = Stage::new(&[&[1, 2], &[1, 2]]);
    let victim = &stage.fakes[0];
    let connected = |count: usize| {
        eventually("as many backends are connected", || {
            let status = stage.site.get("/readyz").json();
            let backends = status["backends"].as_array().unwrap();
            let connected = backends.iter().filter(|it| it["connected"] == json!(true));
            connected.count() == count
        });
    };
    // A connection attempt takes a second. Other work may delay some rounds.
    let is_soon = (0..5).any(|_| {
        *victim.connecting.lock().unwrap() = NEVER;
        victim.set_down(true);
        connected(1);
        let began = Instant::now();
        assert_eq!(stage.page(), stage.whole);
        let took = began.elapsed();
        *victim.connecting.lock().unwrap() = Duration::ZERO;
        victim.set_down(false);
        took < Duration::from_millis(500)
    });
    assert!(is_soon, "each of five searches waited");
}
