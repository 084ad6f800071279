//! Admission, deadlines, and answers without all matches.

use super::client::{Client, PATIENCE, Served, check_end, keys};
use super::{SOON, large, released, small};
use backend::search::HEAVY_BLOCKS;
use schema::frame::{Kind, encode};
use schema::message::{FailureKind, Progress, Search, Want};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// More candidate blocks than a light search allows, and more matches than the buffers hold.
fn served() -> Served {
    Served::in_blocks(16, &large(), 2)
}

/// Document and pattern that take seconds: no literal, and `\z` for each line alone.
fn slow() -> (Vec<(&'static str, Vec<u8>)>, &'static str) {
    let text = "yy\u{e9}\n".repeat(2_000_000);
    (
        vec![("slow.c", text.into())],
        r"(?:[y\x{e9}]?){800}\b[^y\x{e9}].*\z",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn only_wanted_matches_are_sent() {
    let served = Served::start(&small(), 4);
    let (mut client, _serving) = served.connect().await;
    let all = client.regexp("task");
    for (want, limit, sent, found) in [
        (Want::Matches, 0, &[(0, 1), (0, 4), (1, 1)][..], 3),
        (Want::Matches, 1, &[(0, 1)], 3),
        (Want::Matches, 2, &[(0, 1), (0, 4)], 3),
        (Want::Documents, 0, &[(0, 1), (1, 1)], 2),
        (Want::Documents, 1, &[(0, 1)], 2),
        (Want::Count, 0, &[], 3),
        (Want::Count, 1, &[], 3),
    ] {
        let search = Search {
            want,
            limit,
            ..all.clone()
        };
        client.ask_for(&search).await;
        let answer = client.answer().await;
        assert_eq!(keys(&answer.batches), sent, "{want:?} {limit}");
        let end = check_end(&answer);
        assert_eq!((end.found, end.matched_documents), (found, 2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_search_is_refused_unless_requested_as_heavy() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    let light = Search {
        heavy: false,
        ..client.regexp("task")
    };
    client.ask_for(&light).await;
    let answer = client.answer().await;
    let failure = answer.end.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Heavy);
    assert!(failure.cost > HEAVY_BLOCKS && answer.batches.is_empty());
    let expr = client.regexp("number 7;").expr;
    client.ask_for(&Search { expr, ..light }).await;
    assert_eq!(check_end(&client.answer().await).matches, 1);
    let count = Search {
        want: Want::Count,
        ..client.regexp("task")
    };
    client.ask_for(&count).await;
    let answer = client.answer().await;
    assert_eq!(check_end(&answer).found, super::LARGE_LINES as u64);
    let phases = answer.end.as_ref().unwrap().phases;
    assert!(phases.plan_us > 0 && phases.candidates_us > 0 && phases.verify_us > 0);
    let first = answer.progress[0];
    assert!(first.blocks_total > HEAVY_BLOCKS && first.blocks_done == 0);
    assert!(first.bound.is_finite(), "the bound is known");
}

/// Starts a heavy search, and does not read it.
pub(super) async fn start_heavy(client: &mut Client) {
    client.ask("task", client.shards()).await;
    while client.next().await.unwrap().0 != Kind::Batch {}
}

/// Checks for half a second that only PROGRESS arrives, often, and finally reports waiting.
async fn check_waiting(client: &mut Client) {
    let started = Instant::now();
    let mut is_queued = false;
    while started.elapsed() < Duration::from_millis(500) || !is_queued {
        assert!(started.elapsed() < PATIENCE, "it never says that it waits");
        let (kind, payload) = timeout(SOON, client.next()).await.unwrap().unwrap();
        assert_eq!(kind, Kind::Progress);
        let said = Progress::decode(&payload).unwrap();
        assert_eq!((said.blocks_done, said.matches), (0, 0));
        is_queued = said.is_queued;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_within_a_line_is_steps() {
    let line = "yy\u{e9}".repeat(2_000_000);
    let served = Served::start(&[("slow.c", line.into())], 1);
    let (mut client, _serving) = served.connect().await;
    client.ask_for(&client.regexp(slow().1)).await;
    let mut steps = 0;
    while steps < 2 {
        let (kind, payload) = timeout(SOON, client.next()).await.unwrap().unwrap();
        assert_eq!(kind, Kind::Progress, "the search takes seconds");
        let said = Progress::decode(&payload).unwrap();
        assert_eq!(said.blocks_done, 0);
        assert!(said.steps >= steps || said.steps == 0);
        steps = steps.max(said.steps);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_searches_wait_for_each_other_and_light_ones_do_not() {
    let served = served();
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    let (mut first, _first) = served.connect().await;
    start_heavy(&mut first).await;
    let (mut second, serving) = served.connect().await;
    second.ask("task", second.shards()).await;
    check_waiting(&mut second).await;
    let (mut third, _third) = served.connect().await;
    let answer = timeout(SOON, third.search("number 7;", third.shards())).await;
    assert_eq!(check_end(&answer.unwrap()).matches, 1);
    third.greeted().await;
    third.ask("task", third.shards()).await;
    // A waiting search can be cancelled, without blocking the next.
    let mut cancel = Vec::new();
    encode(Kind::Cancel, &[], &mut cancel).unwrap();
    second.send(&cancel).await;
    assert!(!timeout(SOON, serving).await.unwrap().unwrap());
    check_waiting(&mut third).await;
    drop(first);
    let end = check_end(&third.answer().await);
    assert_eq!(end.matches, super::LARGE_LINES as u64);
    drop((second, third));
    released(&shard, idle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_that_are_costly_to_compile_need_a_heavy_permit() {
    const COSTLY: &str = r"(?i)\w{40}z\pL{28}";
    let served = served();
    let (mut client, _serving) = served.connect().await;
    for want in [Want::Matches, Want::Count, Want::Estimate] {
        let light = Search {
            heavy: false,
            want,
            ..client.regexp(COSTLY)
        };
        client.ask_for(&light).await;
        let failure = client.answer().await.end.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Heavy);
        assert!(failure.cost > HEAVY_BLOCKS, "{failure:?}");
        let heavy = Search {
            heavy: true,
            ..light
        };
        client.ask_for(&heavy).await;
        assert!(client.answer().await.end.is_ok(), "{want:?}");
    }
    // Waits for a heavy search; a light one does not wait.
    let (mut first, _first) = served.connect().await;
    start_heavy(&mut first).await;
    client.greeted().await;
    client.ask(COSTLY, client.shards()).await;
    check_waiting(&mut client).await;
    let (mut other, _other) = served.connect().await;
    let answer = timeout(SOON, other.search("number 7;", other.shards())).await;
    assert_eq!(check_end(&answer.unwrap()).matches, 1);
    drop(first);
    assert_eq!(check_end(&client.answer().await).matches, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_stop_at_the_deadline() {
    let (files, pattern) = slow();
    let served = Served::in_blocks(64, &files, 1);
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    let (mut client, _serving) = served.connect().await;
    // Waits for the permit of the first.
    let (mut waiting, _waiting) = served.connect().await;
    for want in [Want::Matches, Want::Count] {
        let started = Instant::now();
        let search = Search {
            deadline_ms: 150,
            want,
            ..client.regexp(pattern)
        };
        client.ask_for(&search).await;
        waiting.ask_for(&search).await;
        for client in [&mut client, &mut waiting] {
            let failure = client.answer().await.end.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Deadline);
            assert!(failure.message.contains("within 150 ms"), "{failure:?}");
            let took = started.elapsed();
            assert!(
                took >= Duration::from_millis(150) && took < SOON,
                "{took:?}"
            );
        }
        timeout(SOON, released(&shard, idle)).await.unwrap();
    }
    let search = Search {
        deadline_ms: 60_000,
        ..client.regexp(r"\Ano line\z")
    };
    client.ask_for(&search).await;
    assert_eq!(check_end(&client.answer().await).matches, 0);
}

/// A late reader receives whole frames, then ERROR.
#[tokio::test(flavor = "multi_thread")]
async fn deadline_applies_to_an_unread_search() {
    let served = served();
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    let (mut client, _serving) = served.connect().await;
    let search = Search {
        deadline_ms: 4000,
        ..client.regexp("task")
    };
    let started = Instant::now();
    client.ask_for(&search).await;
    client.server_blocked().await;
    // The reader starts after the deadline.
    sleep_until(started + Duration::from_millis(4500)).await;
    let answer = client.answer().await;
    assert_eq!(answer.end.unwrap_err().kind, FailureKind::Deadline);
    assert!(
        !answer.batches.is_empty(),
        "frames from before the deadline"
    );
    released(&shard, idle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_stops_workers_within_a_document() {
    let (files, pattern) = slow();
    let served = Served::start(&files, 1);
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    for want in [Want::Matches, Want::Documents, Want::Count] {
        let (mut client, serving) = served.connect().await;
        let search = Search {
            want,
            ..client.regexp(pattern)
        };
        client.ask_for(&search).await;
        // Progress follows the first unit.
        loop {
            let (kind, payload) = client.next().await.unwrap();
            if kind == Kind::Progress && Progress::decode(&payload).unwrap().blocks_done > 0 {
                break;
            }
        }
        assert!(Arc::strong_count(&shard) > idle, "the search is running");
        drop(client);
        let stopped = async {
            let _ = serving.await.unwrap();
            released(&shard, idle).await;
        };
        timeout(SOON, stopped)
            .await
            .expect("the workers stop at once");
    }
}
