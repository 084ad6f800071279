//! The server on a connection: its frames, their times, and its end.
//!
//! Time is real, because workers are threads. Limits are those of the other side, with an allowance
//! for busy machines.

mod admission;
mod client;
mod here;
mod hostile;
mod list;
mod lookup;
mod revisions;
mod visible;

use crate::found::Batch;
use client::{Client, Served, build, check_end};
use index::shard::Shard;
use schema::frame::{Kind, encode};
use schema::message::{
    End, Expr, Failure, FailureKind, Field, FileRange, FileReply, Filter, PROTOCOL, Progress,
    Reading,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Reaction time, also on a busy machine. Events not waited for take longer.
const SOON: Duration = Duration::from_secs(10);

/// Lines of the large document. Their matches overflow the buffers.
const LARGE_LINES: usize = 200_000;

fn small() -> Vec<(&'static str, Vec<u8>)> {
    let text = "int task;\nint b;\r\n\nreturn task;\n";
    vec![
        ("a.c", text.into()),
        ("b.c", "task".into()),
        ("c.c", "".into()),
    ]
}

fn large() -> Vec<(&'static str, Vec<u8>)> {
    let lines = (0..LARGE_LINES).map(|line| format!("int task number {line};\n"));
    vec![("large.c", lines.collect::<String>().into_bytes())]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_drains_refuses_searches_and_ends_those_that_run() {
    let served = Served::start(&large(), 4);
    let (mut running, serving) = served.connect().await;
    running.ask("task", running.shards()).await;
    running.server_blocked().await;
    let backend = served.backend.clone();
    let mut draining = tokio::spawn(async move { backend.drain().await });
    let (mut other, _serving) = served.connect().await;
    let failure = loop {
        let answer = other.search("number 1;", other.shards()).await;
        if let Err(failure) = answer.end {
            break failure;
        }
    };
    assert_eq!(failure.kind, FailureKind::StaleShards, "{failure:?}");
    assert!(failure.message.contains("about to stop"));
    assert!(served.backend.is_draining() && !draining.is_finished());
    let answer = running.answer().await;
    assert_eq!(check_end(&answer).matches, LARGE_LINES as u64);
    timeout(client::PATIENCE, &mut draining)
        .await
        .unwrap()
        .unwrap();
    drop(running);
    assert!(serving.await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_is_greeted_and_answers_several_searches() {
    let served = Served::start(&small(), 4);
    let (mut client, serving) = served.connect().await;
    let hello = client.hello.clone().unwrap();
    assert_eq!((hello.protocol, hello.shards.len()), (PROTOCOL, 1));
    assert_eq!(hello.shards[0].id, served.shard().id());
    assert_eq!(
        (hello.shards[0].packages, hello.shards[0].documents),
        (1, 3)
    );
    for (pattern, expected) in [("task", 3), ("nowhere", 0), ("^$", 1), ("t", 4)] {
        let answer = client.search(pattern, client.shards()).await;
        let end = check_end(&answer);
        assert_eq!(end.matches, expected, "{pattern}");
        client.greeted().await;
    }
    let answer = client.search("b;", client.shards()).await;
    let lines = &answer.batches[0].lines;
    let texts: Vec<_> = lines
        .iter()
        .map(|line| (line.number, &line.text[..]))
        .collect();
    assert_eq!(texts, [(1, &b"int task;"[..]), (2, b"int b;\r"), (3, b"")]);
    // Closing is no error if nothing is unread.
    client.greeted().await;
    drop(client);
    assert!(timeout(SOON, serving).await.unwrap().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_search_is_an_error_and_the_connection_continues() {
    let served = Served::start(&small(), 4);
    let (mut client, _serving) = served.connect().await;
    for (pattern, offset) in [("task(", Some(4)), (r"a\rb", Some(1)), ("", None)] {
        let failure = client
            .search(pattern, client.shards())
            .await
            .end
            .unwrap_err();
        assert_eq!(
            (failure.kind, failure.offset),
            (FailureKind::BadQuery, offset)
        );
        assert!(!failure.message.is_empty());
    }
    let unknown = [client.shards(), vec![[7; 32]]].concat();
    let failure = client.search("task", unknown).await.end.unwrap_err();
    assert_eq!(
        (failure.kind, failure.offset),
        (FailureKind::StaleShards, None)
    );
    assert_eq!(
        check_end(&client.search("task", client.shards()).await).matches,
        3
    );
    let none = client.search("task", Vec::new()).await.end.unwrap();
    assert!(none.shards.is_empty(), "no shards, no results");
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_reduce_candidates_or_are_refused() {
    let served = Served::start(&small(), 4);
    let (mut client, _serving) = served.connect().await;
    let filter = |field, reading, text: &str| {
        Expr::Filter(Filter {
            field,
            reading,
            text: text.to_owned(),
        })
    };
    let package = filter(Field::Package, Reading::Exact, "p");
    let not_b = filter(Field::Path, Reading::Regexp, "^b").negated();
    let c = filter(Field::Language, Reading::Exact, "c");
    for (filters, candidates) in [
        (vec![], 2),
        (vec![package.clone()], 2),
        (vec![package.clone(), not_b.clone(), c.clone()], 1),
        (vec![filter(Field::Package, Reading::Regexp, "q")], 0),
    ] {
        client.ask_filtered("task", filters, client.shards()).await;
        let end = check_end(&client.answer().await);
        assert_eq!((end.candidates, end.blocks), (candidates, 2));
    }
    let bad = filter(Field::Path, Reading::Regexp, "a[");
    let filters = vec![package, bad];
    client.ask_filtered("task", filters, client.shards()).await;
    let failure = client.answer().await.end.unwrap_err();
    assert_eq!(failure.kind, FailureKind::BadQuery);
    assert_eq!((failure.atom, failure.offset), (Some(2), Some(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn file_is_read_in_ranges() {
    let long = [
        b"first\n".to_vec(),
        b"x".repeat(2 << 20),
        b"\nlast\n".to_vec(),
    ]
    .concat();
    let files = [small(), vec![("long.js", long.clone())]].concat();
    let served = Served::start(&files, 4);
    let (mut client, _serving) = served.connect().await;
    let lines = |first, count| FileRange::Lines { first, count };
    let bytes = |offset, count| FileRange::Bytes { offset, count };
    for (path, range, offset, first_line, text) in [
        ("a.c", lines(2, 2), 10, 2, "int b;\r\n\n"),
        ("a.c", lines(0, 1), 0, 1, "int task;\n"),
        ("a.c", lines(4, 100), 19, 4, "return task;\n"),
        ("a.c", lines(5, 1), 32, 5, ""),
        ("a.c", lines(u32::MAX, u32::MAX), 32, 5, ""),
        ("a.c", lines(1, 0), 0, 1, ""),
        ("a.c", bytes(4, 8), 4, 1, "task;\nin"),
        ("a.c", bytes(10, 3), 10, 2, "int"),
        ("a.c", bytes(32, 1), 32, 5, ""),
        ("a.c", bytes(u64::MAX, u64::MAX), 32, 5, ""),
        ("c.c", lines(1, 10), 0, 1, ""),
        ("c.c", bytes(0, 10), 0, 1, ""),
        ("long.js", lines(3, 1), (2 << 20) + 7, 3, "last\n"),
        ("long.js", bytes(2 << 20, 8), 2 << 20, 2, "xxxxxx\nl"),
    ] {
        let reply = client.file(path, range).await;
        assert!(reply.found);
        assert_eq!(
            (reply.offset, reply.first_line),
            (offset, first_line),
            "{path} {range:?}"
        );
        assert_eq!(str::from_utf8(&reply.text), Ok(text), "{path} {range:?}");
    }
    let reply = client.file("a.c", lines(1, 1)).await;
    assert_eq!((reply.total_lines, reply.total_bytes), (4, 32));
    assert_eq!(reply.hash, blake3::hash(&files[0].1).as_bytes());
    for range in [lines(2, 1), bytes(6, u64::MAX)] {
        let mut text = client.file("long.js", range).await.text;
        assert!(
            !text.is_empty() && text.len() < 1 << 20,
            "a reply fits into a frame"
        );
        while let more = client
            .file("long.js", bytes(6 + text.len() as u64, u64::MAX))
            .await
            .text
            && !more.is_empty()
        {
            text.extend(more);
        }
        assert!(text == long[6..], "further requests return the rest");
    }
    for (path, range) in [("nowhere.c", lines(1, 1)), ("", bytes(0, 1))] {
        assert_eq!(client.file(path, range).await, FileReply::default());
    }
}

/// A damaged shard reports neither presence nor absence of matches and documents.
#[tokio::test(flavor = "multi_thread")]
async fn truncated_shard_fails_with_its_path_until_it_is_whole() {
    let served = Served::start(&small(), 4);
    let (mut client, _serving) = served.connect().await;
    assert_eq!(
        check_end(&client.search("task", client.shards()).await).matches,
        3
    );
    let path = served.shard().path().to_owned();
    let bytes = std::fs::read(&path).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(4096).unwrap();
    let damaged = format!("{}: damaged at byte 4096", path.display());
    for pattern in ["task", "nowhere", "^$"] {
        let answer = client.search(pattern, client.shards()).await;
        let end = answer.end.unwrap();
        assert!(answer.batches.is_empty());
        assert!(end.shards[0].failure.starts_with(&damaged), "{end:?}");
    }
    let range = FileRange::Lines { first: 1, count: 1 };
    for path in ["a.c", "nowhere.c"] {
        let failure = client.try_file(path, range).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unavailable);
        assert!(failure.message.starts_with(&damaged), "{failure:?}");
    }
    std::fs::write(&path, bytes).unwrap();
    let whole_again = async {
        while client.try_file("a.c", range).await.is_err() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(2 * SOON, whole_again).await.unwrap();
    client.greeted().await;
    assert_eq!(
        check_end(&client.search("task", client.shards()).await).matches,
        3
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_are_no_request_end_the_connection() {
    let served = Served::start(&small(), 4);
    let huge = [
        &u32::MAX.to_le_bytes()[..],
        &[Kind::Search as u8, 0, 0, 0],
        &[0; 8],
    ]
    .concat();
    let mut flipped = Vec::new();
    encode(Kind::Search, &[0; 64], &mut flipped).unwrap();
    flipped[40] ^= 1;
    let mut empty = Vec::new();
    encode(Kind::Search, &[], &mut empty).unwrap();
    let mut reply = Vec::new();
    End::default().encode(&mut reply).unwrap();
    for (name, bytes) in [
        (
            "garbage",
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        ),
        ("4 GiB", huge),
        ("a flipped bit", flipped),
        ("an empty SEARCH", empty),
        ("a reply", reply),
    ] {
        let (mut client, serving) = served.connect().await;
        client.send(&bytes).await;
        while let Some((kind, payload)) = client.next().await {
            if kind == Kind::Error {
                let failure = Failure::decode(&payload).unwrap();
                assert_eq!(failure.kind, FailureKind::Protocol, "{name}");
            } else {
                assert_eq!(kind, Kind::Hello, "{name}");
            }
        }
        assert!(!timeout(SOON, serving).await.unwrap().unwrap(), "{name}");
    }
    let (mut client, _serving) = served.connect().await;
    assert_eq!(
        check_end(&client.search("task", client.shards()).await).matches,
        3
    );
}

/// Reads one batch of a search, and waits until the server is blocked.
async fn start_unread_search(client: &mut Client) {
    client.ask("task", client.shards()).await;
    while client.next().await.unwrap().0 != Kind::Batch {}
    client.server_blocked().await;
}

/// Waits for at most `count` references to the shard.
async fn released(shard: &Arc<Shard>, count: usize) {
    let released = async {
        while Arc::strong_count(shard) > count {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, released)
        .await
        .expect("the workers have stopped");
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_stops_an_unread_search() {
    let served = Served::start(&large(), 4);
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    let (mut client, serving) = served.connect().await;
    start_unread_search(&mut client).await;
    assert!(
        !serving.is_finished() && Arc::strong_count(&shard) > idle,
        "the search waits for its reader"
    );
    drop(client);
    timeout(SOON, serving)
        .await
        .expect("the connection has ended")
        .unwrap();
    released(&shard, idle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_stops_an_unread_search() {
    let served = Served::start(&large(), 4);
    let shard = served.shard();
    let idle = Arc::strong_count(&shard);
    let (mut client, serving) = served.connect().await;
    start_unread_search(&mut client).await;
    let mut cancel = Vec::new();
    encode(Kind::Cancel, &[], &mut cancel).unwrap();
    client.send(&cancel).await;
    timeout(SOON, serving)
        .await
        .expect("the connection has ended")
        .unwrap();
    released(&shard, idle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_search_sends_progress() {
    let served = Served::start(&large(), 1);
    let (mut first, serving) = served.connect().await;
    start_unread_search(&mut first).await;
    let (mut second, _serving) = served.connect().await;
    second.ask("number 7;", second.shards()).await;
    let started = Instant::now();
    for _ in 0..6 {
        let (kind, payload) = second.next().await.unwrap();
        assert_eq!(kind, Kind::Progress);
        let progress = Progress::decode(&payload).unwrap();
        assert_eq!((progress.blocks_done, progress.matches), (0, 0));
        assert!(progress.bound >= 1.0, "the bound is not known yet");
    }
    assert!(
        started.elapsed() < Duration::from_millis(6 * 250),
        "{:?}",
        started.elapsed()
    );
    drop(first);
    assert_eq!(check_end(&second.answer().await).matches, 1);
    assert!(!serving.await.unwrap());
}

/// The reader is slow, so a batch is always ready before the next PROGRESS.
#[tokio::test(flavor = "multi_thread")]
async fn streaming_search_sends_progress_among_batches() {
    let served = Served::start(&large(), 1);
    let (mut client, _serving) = served.connect().await;
    client.ask("task", client.shards().repeat(8)).await;
    let started = Instant::now();
    let (mut matches, mut progress) = (0, 0);
    while progress < 4 {
        let (kind, payload) = client.next().await.unwrap();
        match kind {
            Kind::Batch => matches += Batch::decode(&payload).matches().count() as u64,
            Kind::Progress => {
                progress += 1;
                let said = Progress::decode(&payload).unwrap();
                assert_eq!(
                    said.matches, matches,
                    "PROGRESS counts the batches before it"
                );
            }
            other => panic!("{other:?} after {matches} matches"),
        }
        sleep(Duration::from_millis(1)).await;
    }
    let took = started.elapsed();
    assert!(
        took < Duration::from_secs(4),
        "four PROGRESS frames in {took:?}"
    );
}

/// Matches are not held back until more are found.
#[tokio::test(flavor = "multi_thread")]
async fn matches_are_sent_while_the_search_goes_on() {
    // Different units. Without a literal, and with \z for each line alone, the search is slow.
    let lines = (0..2_000_000).map(|line| match line {
        1 | 90_000 => "x \u{e9}\n",
        _ => "yy\u{e9}\n",
    });
    let served = Served::start(&[("a.c", lines.collect::<String>().into())], 1);
    let (mut client, _serving) = served.connect().await;
    client.ask(r"\b[^y\x{e9}].*\z", client.shards()).await;
    let started = Instant::now();
    let (mut matches, mut found) = (0, Duration::ZERO);
    loop {
        let (kind, payload) = client.next().await.unwrap();
        match kind {
            Kind::Batch => {
                matches += Batch::decode(&payload).matches().count();
                found = started.elapsed();
            }
            Kind::Progress => {
                let said = Progress::decode(&payload).unwrap();
                assert_eq!(
                    said.matches, matches as u64,
                    "matches that are not sent are not counted"
                );
            }
            Kind::End => break,
            other => panic!("{other:?} in an answer"),
        }
    }
    assert_eq!(matches, 2);
    let took = started.elapsed();
    assert!(
        found < took / 2,
        "the last match came after {found:?} of {took:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connection_gets_hello_every_second() {
    let served = Served::start(&small(), 1);
    let (mut client, _serving) = served.connect().await;
    let started = Instant::now();
    for _ in 0..2 {
        client.greeted().await;
    }
    let took = started.elapsed();
    let expected = Duration::from_millis(1800)..SOON;
    assert!(expected.contains(&took), "two HELLO frames in {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_manifest_is_opened_and_old_shards_are_still_searched() {
    let served = Served::start(&small(), 4);
    let (mut client, _serving) = served.connect().await;
    let old = client.shards();
    build(
        &served.directory,
        &[("a.c", b"int other;\nint task;\n".to_vec())],
        4096,
    );
    let built = Instant::now();
    while client.shards() == old {
        client.greeted().await;
    }
    assert!(built.elapsed() < SOON, "{:?}", built.elapsed());
    let new = client.shards();
    assert_eq!(new, [served.shard().id()]);
    for (shards, pattern, expected) in [
        (&old, "task", 3),
        (&new, "task", 1),
        (&old, "other", 0),
        (&new, "other", 1),
    ] {
        let answer = client.search(pattern, shards.clone()).await;
        assert_eq!(check_end(&answer).matches, expected, "{pattern}");
    }
    let both = [old, new].concat();
    let end = client.search("task", both).await.end.unwrap();
    let matches: Vec<_> = end
        .shards
        .iter()
        .map(|end| (end.shard, end.matches))
        .collect();
    assert_eq!(matches, [(0, 3), (1, 1)]);
}
