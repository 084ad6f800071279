//! Streams and exports end once their caller loses a right.

use super::{BOB, FILE, Guarded};
use crate::site::eventually;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};
use testkit::backend::Fault;
use ureq::http::Method;

#[test]
fn a_stream_ends_with_the_reason_when_its_caller_loses_a_right() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(1));
    guarded.fake.set(Fault::Gate);
    let mut lines = guarded.events();
    assert!(lines.any(|line| line == "event: progress"));
    guarded.service.allow(BOB, &["package3"]);
    let revoked = Instant::now();
    assert!(lines.any(|line| line == "event: done"));
    let ended = revoked.elapsed();
    let data = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned));
    let done: Value = serde_json::from_str(&data.unwrap()).unwrap();
    assert_eq!(done["type"], "/problems/access-changed", "{done}");
    // The decision lives for a second.
    assert!(ended < Duration::from_secs(11), "{ended:?}");
    guarded.fake.open_gate();
}

#[test]
fn a_stream_keeps_the_decisions_that_it_depends_on_however_short_their_life() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(2));
    guarded.fake.set(Fault::Gate);
    let mut lines = guarded.events();
    assert!(lines.any(|line| line == "event: progress"));
    // Long enough to evict an unused decision.
    let asked = guarded.service.requests();
    eventually("the decision is asked for again", || {
        guarded.service.requests() >= asked + 3
    });
    guarded.service.allow(BOB, &["package3"]);
    let revoked = Instant::now();
    assert!(lines.any(|line| line == "event: done"));
    assert!(revoked.elapsed() < Duration::from_secs(8));
    guarded.fake.open_gate();
}

#[test]
fn a_denial_that_another_request_learns_ends_a_stream_at_once() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(2));
    guarded.fake.set(Fault::Gate);
    assert_eq!(guarded.get(FILE, BOB).status, 200);
    let mut lines = guarded.events();
    assert!(lines.any(|line| line == "event: progress"));
    guarded.service.allow(BOB, &["package3"]);
    eventually("the denial", || guarded.get(FILE, BOB).status == 404);
    let learned = Instant::now();
    assert!(lines.any(|line| line == "event: done"));
    // Without the denial, the next check is after ten seconds.
    assert!(learned.elapsed() < Duration::from_secs(3));
    guarded.fake.open_gate();
}

#[test]
fn an_export_breaks_off_with_a_last_line_when_its_caller_loses_a_right() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(1));
    guarded.fake.set(Fault::Gate);
    let mut stream = guarded.site.connect();
    let path = "/api/v2/export?q=arse&format=jsonl&order=found";
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\ncookie: {BOB}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("package") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0);
    }
    guarded.service.allow(BOB, &["package3"]);
    let revoked = Instant::now();
    let mut rest = Vec::new();
    // A broken-off transfer lacks the end of its chunks.
    let _ = reader.read_to_end(&mut rest);
    let rest = String::from_utf8_lossy(&rest).into_owned();
    assert!(rest.contains("/problems/access-changed"), "{rest}");
    assert!(
        !rest.contains("{\"done\"") && !rest.ends_with("0\r\n\r\n"),
        "{rest}"
    );
    assert!(revoked.elapsed() < Duration::from_secs(11));
    guarded.fake.open_gate();
}

#[test]
fn an_export_that_its_caller_may_see_to_its_end_ends_once_when_compressed() {
    let guarded = Guarded::new(|_| ());
    let path = "/api/v2/export?q=arse&format=text&order=found";
    let export = guarded.get(path, BOB);
    assert_eq!(export.header("content-encoding"), "gzip");
    let plain = [("cookie", BOB), ("accept-encoding", "identity")];
    let plain = guarded.site.send(Method::GET, path, &plain);
    assert!(export.body.len() > 1000 && export.body == plain.body);
}
