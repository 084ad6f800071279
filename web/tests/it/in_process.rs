//! Backend that may answer on the waiting thread.

use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use schema::message::Search;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use testkit::backend::Fake;

type Send<'a> = &'a mut dyn FnMut(&[u8]) -> bool;

fn search_with(
    answer: impl Fn(Vec<Vec<u8>>, &AtomicBool, Send<'_>) -> bool + std::marker::Send + Sync + 'static,
) -> (Value, Arc<AtomicUsize>) {
    let fake = Fake::new("here", shards(1, 2));
    let calls = Arc::new(AtomicUsize::new(0));
    let (recorded, counted) = (Arc::clone(&fake), Arc::clone(&calls));
    let backend = fake.backend().answering_here(
        move |search: &Search, stop: &Arc<AtomicBool>, send: Send<'_>| {
            counted.fetch_add(1, SeqCst);
            answer(recorded.record(search), stop, send)
        },
    );
    (comparable(Site::new(vec![backend]).get(PATH).json()), calls)
}

fn comparable(mut page: Value) -> Value {
    for key in ["id", "timings"] {
        page.as_object_mut().unwrap().remove(key);
    }
    page
}

const PATH: &str = "/api/v2/search?q=arse";

fn send_all(frames: &[Vec<u8>], send: Send<'_>) {
    assert!(
        frames
            .iter()
            .enumerate()
            .all(|(at, frame)| send(frame) == (at + 1 < frames.len())),
        "more is wanted until END"
    );
}

#[test]
fn the_answer_is_that_of_a_connection() {
    let fake = Fake::new("here", shards(1, 2));
    let expected = comparable(Site::new(vec![fake.backend()]).get(PATH).json());
    assert_eq!(expected["complete"], json!(true));
    let (one_by_one, calls) = search_with(|frames, _, send| {
        send_all(&frames, send);
        true
    });
    assert_eq!((one_by_one, calls.load(SeqCst)), (expected.clone(), 1));
    let (at_once, _) = search_with(|frames, _, send| {
        send_all(&[frames.concat()], send);
        true
    });
    assert_eq!(at_once, expected);
    let (left, calls) = search_with(|_, _, _| false);
    assert_eq!((left, calls.load(SeqCst)), (expected, 1));
}

#[test]
fn an_answer_that_is_cut_or_malformed_is_incomplete() {
    let reason = |page: &Value| page["missing"][0]["reason"].as_str().unwrap().to_owned();
    let (cut, _) = search_with(|mut frames, _, send| {
        frames.pop();
        frames.iter().all(|frame| send(frame))
    });
    assert_eq!(
        reason(&cut),
        "connection closed before the end of the answer"
    );
    let (malformed, _) = search_with(|mut frames, _, send| {
        // Always zero.
        frames[1][5] = 1;
        let wanted = frames.iter().take_while(|frame| send(frame)).count();
        assert_eq!(wanted, 1, "nothing is wanted after an error");
        true
    });
    assert!(reason(&malformed).contains("malformed"), "{malformed}");
}

#[test]
fn an_answer_that_is_not_wanted_any_more_is_stopped() {
    let fake = Fake::new("here", shards(1, 2));
    let (began, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (first, last) = (Arc::clone(&began), Arc::clone(&stopped));
    let backend = fake
        .backend()
        .answering_here(move |_, stop: &Arc<AtomicBool>, _| {
            first.fetch_add(1, SeqCst);
            while !stop.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            last.fetch_add(1, SeqCst);
            true
        });
    let site = Site::new(vec![backend]);
    let running = site.get("/api/v2/search?q=arse&wait=false").json();
    eventually("the search", || began.load(SeqCst) == 1);
    let path = format!("/api/v2/search/{}", running["id"].as_str().unwrap());
    let deleted = site.send(ureq::http::Method::DELETE, &path, &[]);
    assert_eq!(deleted.status, 204);
    eventually("the end", || stopped.load(SeqCst) == 1);
    let page = site.get(&path).json();
    assert_eq!(
        page["missing"][0]["reason"],
        json!("the query was cancelled")
    );
    assert_eq!(
        (began.load(SeqCst), fake.searches.load(SeqCst)),
        (1, 0),
        "no connection is asked after it"
    );
}
