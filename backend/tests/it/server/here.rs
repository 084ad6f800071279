//! Searches on a client's thread: frames as on a connection, or none.

use super::admission::start_heavy;
use super::client::{Client, PATIENCE, Served};
use super::{large, small};
use schema::frame::{Decoder, Kind};
use schema::message::{
    End, Excluded, Expr, Failure, FailureKind, Pattern, Phases, Search, Syntax, Want,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Answers on this thread; `None` if the search needs a connection.
fn here(served: &Served, search: &Search) -> Option<Vec<(Kind, Vec<u8>)>> {
    let mut answer = Vec::new();
    let mut take = |frames: &[u8]| {
        answer.extend_from_slice(frames);
        true
    };
    let is_answered = served
        .backend
        .answer_here(search, &Arc::default(), &mut take);
    let frames = decoded(&answer);
    assert!(is_answered || frames.is_empty());
    is_answered.then_some(frames)
}

fn decoded(mut bytes: &[u8]) -> Vec<(Kind, Vec<u8>)> {
    let (mut decoder, mut frames) = (Decoder::new(), Vec::new());
    while !bytes.is_empty() {
        bytes = decoder.take_from(bytes);
        while let Some(frame) = decoder.decode().unwrap() {
            frames.push((frame.kind, frame.payload.to_vec()));
        }
    }
    decoder.finish().unwrap();
    frames
}

/// Without HELLO.
async fn on_connection(client: &mut Client, search: &Search) -> Vec<(Kind, Vec<u8>)> {
    client.ask_for(search).await;
    let mut frames = Vec::new();
    loop {
        let (kind, payload) = client.next().await.unwrap();
        if kind == Kind::Hello {
            continue;
        }
        frames.push((kind, payload));
        if let Kind::End | Kind::Error = kind {
            return frames;
        }
    }
}

/// Removes durations, and all PROGRESS but the last before END.
fn without_time(mut frames: Vec<(Kind, Vec<u8>)>) -> Vec<(Kind, Vec<u8>)> {
    let is_progress = |(kind, _): &(Kind, Vec<u8>)| *kind == Kind::Progress;
    let ended = frames.last().is_some_and(|(kind, _)| *kind == Kind::End);
    let last = frames.iter().rposition(is_progress).filter(|_| ended);
    let mut at = 0..;
    frames.retain(|frame| {
        let is_last = at.next() == last;
        !is_progress(frame) || is_last
    });
    for (kind, payload) in &mut frames {
        if *kind == Kind::End {
            let end = End {
                phases: Phases::default(),
                ..End::decode(payload).unwrap()
            };
            payload.clear();
            end.encode(payload).unwrap();
        }
    }
    frames
}

fn literal(client: &Client, text: &str) -> Search {
    Search {
        expr: Expr::Pattern(Pattern {
            text: text.to_owned(),
            syntax: Syntax::Literal,
            ignore_case: true,
            ..Pattern::default()
        }),
        heavy: false,
        ..client.regexp("")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_are_those_of_a_connection() {
    let served = Served::start(&small(), 4);
    let (mut client, _serving) = served.connect().await;
    let task = literal(&client, "task");
    let of_regexp = |text| Search {
        heavy: false,
        ..client.regexp(text)
    };
    let both = Expr::all([task.expr.clone(), client.regexp("^int").expr]);
    let excluded = |package| Excluded {
        shard: 0,
        packages: vec![package],
    };
    #[rustfmt::skip]
    let searches = [
        task.clone(),
        literal(&client, "nowhere"),
        Search { heavy: true, ..task.clone() },
        Search { want: Want::Documents, ..task.clone() },
        Search { want: Want::Count, ..task.clone() },
        Search { limit: 1, ..task.clone() },
        Search { context_lines: 0, ..task.clone() },
        Search { first_range: true, ..task.clone() },
        Search { expr: both, ..task.clone() },
        Search { excluded: vec![excluded(0)], ..task.clone() },
        of_regexp("t.?s"),
        of_regexp("^$"),
        // Failures.
        of_regexp("task("),
        Search { shards: vec![[7; 32]], ..task.clone() },
        Search { excluded: vec![excluded(9)], ..task.clone() },
    ];
    for search in searches {
        let expected = without_time(on_connection(&mut client, &search).await);
        let found = here(&served, &search).expect("an answer");
        assert_eq!(without_time(found), expected, "{search:?}");
    }
    let estimate = Search {
        want: Want::Estimate,
        ..task.clone()
    };
    assert_eq!(here(&served, &estimate), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_searches_are_answered_too() {
    let served = Served::in_blocks(16, &large(), 4);
    let (mut client, _serving) = served.connect().await;
    let heavy = Search {
        heavy: true,
        ..literal(&client, "task")
    };
    let searches = [
        heavy.clone(),
        client.regexp("number 7;$"),
        // Refused.
        Search {
            heavy: false,
            ..heavy
        },
    ];
    for search in searches {
        let expected = without_time(on_connection(&mut client, &search).await);
        let found = here(&served, &search).map(without_time);
        assert!(found == Some(expected), "{search:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_searches_wait_for_a_permit_until_they_are_stopped() {
    let served = Arc::new(Served::in_blocks(16, &large(), 4));
    let (mut busy, serving) = served.connect().await;
    start_heavy(&mut busy).await;
    let heavy = Arc::new(busy.regexp("task"));
    let ask = |stop: &Arc<AtomicBool>| {
        let (served, heavy, stop) = (Arc::clone(&served), Arc::clone(&heavy), Arc::clone(stop));
        let (sender, mut frames) = mpsc::unbounded_channel();
        let waiting = tokio::task::spawn_blocking(move || {
            let mut take = |frames: &[u8]| sender.send(frames.to_vec()).is_ok();
            assert!(served.backend.answer_here(&heavy, &stop, &mut take));
        });
        async move {
            let first = frames.recv().await.unwrap();
            assert_eq!(kinds(&first), [Kind::Progress]);
            (waiting, frames)
        }
    };
    let (stop, go_on) = (Arc::default(), Arc::default());
    let (stopped, mut left) = ask(&stop).await;
    let (waiting, mut frames) = ask(&go_on).await;
    stop.store(true, Relaxed);
    timeout(PATIENCE, stopped).await.unwrap().unwrap();
    assert_eq!(kinds(&left.recv().await.unwrap()), [Kind::Error]);
    assert!(!waiting.is_finished() && frames.is_empty());
    drop(busy);
    serving.await.unwrap();
    timeout(PATIENCE, waiting).await.unwrap().unwrap();
    let mut last = None;
    while let Some(frames) = frames.recv().await {
        last = kinds(&frames).pop();
    }
    assert_eq!(last, Some(Kind::End));
}

fn kinds(frames: &[u8]) -> Vec<Kind> {
    decoded(frames).iter().map(|(kind, _)| *kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn large_answers_come_in_chunks() {
    let served = Served::start(&large(), 4);
    let (mut client, _serving) = served.connect().await;
    let many = Search {
        expr: client.regexp("number 1.?.?1").expr,
        context_lines: 9,
        heavy: false,
        ..client.regexp("")
    };
    let expected = without_time(on_connection(&mut client, &many).await);
    let bytes: usize = expected.iter().map(|(_, payload)| payload.len()).sum();
    assert!(bytes > 200_000, "{bytes}");
    let found = here(&served, &many).expect("an answer");
    assert!(without_time(found) == expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_when_nobody_wants_more() {
    let served = Served::start(&large(), 4);
    let (client, _serving) = served.connect().await;
    let many = Search {
        expr: client.regexp("number 1.?.?1").expr,
        context_lines: 9,
        heavy: false,
        ..client.regexp("")
    };
    let failure = |frames: &[u8]| {
        let (kind, payload) = decoded(frames).remove(0);
        assert_eq!(kind, Kind::Error);
        Failure::decode(&payload).unwrap().kind
    };
    let mut calls = Vec::new();
    let mut take = |frames: &[u8]| {
        calls.push(frames.to_vec());
        false
    };
    assert!(
        served
            .backend
            .answer_here(&many, &Arc::default(), &mut take)
    );
    let [first, last] = &calls[..] else {
        panic!("{} calls", calls.len())
    };
    assert!(first.len() > 1000);
    assert_eq!(failure(last), FailureKind::Unavailable);

    let mut calls = Vec::new();
    let mut take = |frames: &[u8]| {
        calls.push(frames.to_vec());
        true
    };
    let stop = Arc::new(AtomicBool::new(true));
    assert!(served.backend.answer_here(&many, &stop, &mut take));
    assert_eq!(calls.len(), 1);
    assert_eq!(failure(&calls[0]), FailureKind::Unavailable);
    assert!(stop.load(Relaxed));
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_that_would_wait_are_left_to_a_connection() {
    let served = Served::start(&large(), 1);
    let (mut busy, _serving) = served.connect().await;
    let light = Search {
        heavy: false,
        ..busy.regexp("task")
    };
    // Its answer is not read, so it keeps the only permit.
    busy.ask_for(&light).await;
    timeout(PATIENCE, busy.server_blocked()).await.unwrap();
    assert_eq!(here(&served, &light), None);
}
