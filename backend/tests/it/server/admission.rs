//! What a search may cost, whose turn it is, and until when: what is wanted of it, too.

use super::client::{Client, Served, check_end, keys};
use super::{SOON, large, released, small};
use backend::search::HEAVY_BLOCKS;
use schema::frame::{Kind, encode};
use schema::message::{FailureKind, Progress, Search, Want};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// In blocks of a line or two more than a light search may have, and more than buffers hold.
fn served() -> Served {
    Served::in_blocks(16, &large(), 2)
}

/// A document that takes seconds to search: the pattern has no literal to look for, and is asked of
/// every line by itself for its `\z`.
fn slow() -> (Vec<(&'static str, Vec<u8>)>, &'static str) {
    let text = "yy\u{e9}\n".repeat(2_000_000);
    (vec![("slow.c", text.into())], r"\b[^y\x{e9}].*\z")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_wanted_is_not_sent() {
    let served = Served::start(&small(), 4);
    let (mut client, _serving) = served.connect().await;
    let any = client.any("task");
    for (want, limit, sent, found) in [
        (Want::Matches, 0, &[(0, 1), (0, 4), (1, 1)][..], 3),
        (Want::Matches, 1, &[(1, 1)], 3),
        (Want::Matches, 2, &[(0, 1), (1, 1)], 3),
        (Want::Documents, 0, &[(0, 1), (1, 1)], 2),
        (Want::Documents, 1, &[(1, 1)], 2),
        (Want::Count, 0, &[], 3),
        (Want::Count, 1, &[], 3),
    ] {
        let search = Search {
            want,
            limit,
            ..any.clone()
        };
        client.ask_for(&search).await;
        let answer = client.answer().await;
        assert_eq!(keys(&answer.batches), sent, "{want:?} {limit}");
        let end = check_end(&answer);
        assert_eq!((end.found, end.matched_documents), (found, 2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heavy_search_that_was_not_asked_for_as_one_is_refused() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    let light = Search {
        heavy: false,
        ..client.any("task")
    };
    client.ask_for(&light).await;
    let answer = client.answer().await;
    let failure = answer.end.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Heavy);
    assert!(failure.cost > HEAVY_BLOCKS && answer.batches.is_empty());
    let expr = client.any("number 7;").expr;
    client.ask_for(&Search { expr, ..light }).await;
    assert_eq!(check_end(&client.answer().await).matches, 1);
    let count = Search {
        want: Want::Count,
        ..client.any("task")
    };
    client.ask_for(&count).await;
    let answer = client.answer().await;
    assert_eq!(check_end(&answer).found, super::LARGE_LINES as u64);
    let phases = answer.end.as_ref().unwrap().phases;
    assert!(phases.plan_us > 0 && phases.candidates_us > 0 && phases.verify_us > 0);
    let first = answer.progress[0];
    assert!(first.blocks_total > HEAVY_BLOCKS && first.blocks_done == 0);
    assert!(first.bound.is_finite(), "what is to come is known to be");
}

/// Begins a heavy search that stops for want of a reader.
async fn heavy(client: &mut Client) {
    client.ask("task", client.shards()).await;
    while client.next().await.unwrap().0 != Kind::Batch {}
}

/// Reads PROGRESS, which must come often, for half a second.
async fn waits(client: &mut Client) {
    let started = Instant::now();
    while started.elapsed() < SOON / 2 {
        let (kind, payload) = timeout(SOON / 2, client.next()).await.unwrap().unwrap();
        assert_eq!(kind, Kind::Progress);
        let said = Progress::decode(&payload).unwrap();
        assert_eq!((said.blocks_done, said.matches), (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_searches_wait_for_each_other_and_light_ones_do_not() {
    let served = served();
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    let (mut first, _first) = served.connect().await;
    heavy(&mut first).await;
    let (mut second, serving) = served.connect().await;
    second.ask("task", second.shards()).await;
    waits(&mut second).await;
    let (mut third, _third) = served.connect().await;
    let answer = timeout(SOON, third.search("number 7;", third.shards())).await;
    assert_eq!(check_end(&answer.unwrap()).matches, 1);
    third.greeted().await;
    third.ask("task", third.shards()).await;
    // Who waits can be told to stop, and holds up nobody behind it.
    let mut cancel = Vec::new();
    encode(Kind::Cancel, &[], &mut cancel).unwrap();
    second.send(&cancel).await;
    assert!(!timeout(SOON, serving).await.unwrap().unwrap());
    waits(&mut third).await;
    drop(first);
    let end = check_end(&third.answer().await);
    assert_eq!(end.matches, super::LARGE_LINES as u64);
    drop((second, third));
    released(&shard, idle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_time_is_over_the_workers_stop_and_it_is_said() {
    let (files, pattern) = slow();
    let served = Served::in_blocks(64, &files, 1);
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    let (mut client, _serving) = served.connect().await;
    // The second waits for its turn, which the first has.
    let (mut waiting, _waiting) = served.connect().await;
    for want in [Want::Matches, Want::Count] {
        let started = Instant::now();
        let search = Search {
            deadline_ms: 150,
            want,
            ..client.any(pattern)
        };
        client.ask_for(&search).await;
        waiting.ask_for(&search).await;
        for client in [&mut client, &mut waiting] {
            let failure = client.answer().await.end.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Deadline);
            assert!(failure.message.contains("within 150 ms"), "{failure:?}");
            let took = started.elapsed();
            assert!(
                took >= Duration::from_millis(150) && took < SOON / 2,
                "{took:?}"
            );
        }
        timeout(SOON / 4, released(&shard, idle)).await.unwrap();
    }
    let search = Search {
        deadline_ms: 60_000,
        ..client.any(r"\Ano line\z")
    };
    client.ask_for(&search).await;
    assert_eq!(check_end(&client.answer().await).matches, 0);
}

/// Whole frames, and then ERROR, come to a reader that comes late.
#[tokio::test(flavor = "multi_thread")]
async fn the_time_is_over_for_who_does_not_read_too() {
    let served = served();
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    let (mut client, _serving) = served.connect().await;
    let search = Search {
        deadline_ms: 200,
        ..client.any("task")
    };
    client.ask_for(&search).await;
    sleep(Duration::from_millis(400)).await;
    let answer = client.answer().await;
    assert_eq!(answer.end.unwrap_err().kind, FailureKind::Deadline);
    assert!(!answer.batches.is_empty(), "what there was in time");
    released(&shard, idle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_stops_workers_in_the_midst_of_a_document() {
    let (files, pattern) = slow();
    let served = Served::start(&files, 1);
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    for want in [Want::Matches, Want::Documents, Want::Count] {
        let (mut client, serving) = served.connect().await;
        let search = Search {
            want,
            ..client.any(pattern)
        };
        client.ask_for(&search).await;
        sleep(Duration::from_millis(100)).await;
        assert!(Arc::strong_count(&shard) > idle, "it searches");
        drop(client);
        let stopped = async {
            let _ = serving.await.unwrap();
            released(&shard, idle).await;
        };
        timeout(SOON / 4, stopped).await.expect("it stops at once");
    }
}
