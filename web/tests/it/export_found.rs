//! Exports in the order of finding, and the completeness that they report at their end.

use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use crate::slow_readers::large;
use serde_json::json;
use std::io::{Read, Write};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use testkit::backend::{Fake, Fault};
use web::model::{ExportDone, ExportEnd, Page};

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn done(line: &str) -> ExportDone {
    serde_json::from_str::<ExportEnd>(line).unwrap().done
}

#[test]
fn sends_all_matches_and_then_the_end() {
    let site = Site::new(vec![
        Fake::new("one", shards(1, 2)).backend(),
        Fake::new("two", shards(3, 1)).backend(),
    ]);
    // The first export runs with the search.
    for round in 0..3 {
        let found = site.get("/api/v2/export?q=arse&order=found").text();
        let (all, end) = found.trim_end().rsplit_once('\n').unwrap();
        let ranked = site.get("/api/v2/export?q=arse&order=rank").text();
        assert_eq!(sorted(all), sorted(&ranked), "{round}");
        let end = done(end);
        let page: Page<'_> = site.read("/api/v2/search?q=arse");
        assert!(end.complete);
        assert_eq!(end.generation, page.generation);
        assert_ne!(end.id, page.id, "each client has an id of its own");
        assert_eq!((Some(end.found), end.total), (page.found, page.total));
        assert_eq!(
            (end.documents, end.packages),
            (page.documents, page.packages)
        );
        let text = site.get("/api/v2/export?q=arse&format=text&order=found");
        let ranked = site.get("/api/v2/export?q=arse&format=text");
        assert_eq!(sorted(&text.text()), sorted(&ranked.text()), "{round}");
        assert_eq!(text.header("x-trawl-search").len(), page.id.len());
        assert_eq!(text.header("x-trawl-complete"), "");
        let ended = site
            .get("/api/v2/export?q=arse&format=text&order=found&end=true")
            .text();
        let (all, end) = ended.trim_end().rsplit_once('\n').unwrap();
        assert_eq!(sorted(all), sorted(&ranked.text()), "{round}");
        assert!(done(end).complete);
        assert_eq!(done(end).total, all.lines().count() as u64);
        let ended = site
            .get("/api/v2/export?q=arse&format=text&end=true")
            .text();
        let (all, end) = ended.trim_end().rsplit_once('\n').unwrap();
        assert_eq!(format!("{all}\n"), ranked.text(), "{round}");
        assert_eq!(done(end).total, all.lines().count() as u64);
    }
    let nothing = site.get("/api/v2/export?q=nowhere&order=found").text();
    assert_eq!(done(&nothing).total, 0);
    let count = site
        .get("/api/v2/export?q=arse&want=count&order=found")
        .text();
    let count = done(&count);
    assert_eq!(count.total, 0);
    assert_eq!(json!(count.found), site.search("arse")["found"]);
    let nothing = site.get("/api/v2/export?q=nowhere&order=found&format=text");
    assert_eq!((nothing.status, nothing.text().as_str()), (200, ""));
}

#[test]
fn sends_the_first_line_before_the_end() {
    for format in ["jsonl", "text"] {
        let fake = Fake::with("one", shards(1, 2), Fault::Gate);
        let site = Site::new(vec![fake.backend()]);
        let path = format!("/api/v2/export?q=arse&order=found&format={format}");
        let mut lines = site.lines(&path);
        let first = lines.next().unwrap().unwrap();
        assert!(first.contains("package0_1.0"), "{first}");
        fake.open_gate();
        let rest: Vec<_> = lines.map(Result::unwrap).collect();
        assert!(
            rest.iter().any(|line| line.contains("package4")),
            "{rest:?}"
        );
        if format == "jsonl" {
            assert_eq!(json!(rest.len()), site.search("arse")["total"]);
        }
    }
}

#[test]
fn sends_compressed_lines_before_the_end() {
    let fake = Fake::with("one", shards(1, 1), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let mut stream = site.connect();
    let request = "GET /api/v2/export?q=arse&order=found HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut came = Vec::new();
    let (mut part, asked) = ([0; 4096], Instant::now());
    // More than a gzip header.
    let body = |came: &[u8]| {
        let head = came.windows(4).position(|part| part == b"\r\n\r\n");
        head.map_or(0, |head| came.len() - head - 4)
    };
    while body(&came) < 100 {
        let bytes = stream.read(&mut part).unwrap();
        assert!(bytes > 0, "an end before the gate was opened");
        came.extend_from_slice(&part[..bytes]);
    }
    assert!(String::from_utf8_lossy(&came).contains("content-encoding: gzip"));
    assert!(
        asked.elapsed() < Duration::from_secs(10),
        "{:?}",
        asked.elapsed()
    );
}

#[test]
fn incomplete_export_says_so_or_breaks_off() {
    let whole = Fake::new("whole", shards(1, 1));
    let lost = Fake::with("lost", shards(2, 1), Fault::NoEnd);
    let site = Site::new(vec![whole.backend(), lost.backend()]);
    let lines = site.get("/api/v2/export?q=arse&order=found").text();
    let end = done(lines.lines().last().unwrap());
    assert!(!end.complete);
    assert_eq!(end.missing[0].backend, "lost");
    assert_eq!(end.total, lines.lines().count() as u64 - 1);
    // A broken-off body lacks uncompressed data.
    let plain = [("accept-encoding", "identity")];
    let text: Vec<_> = site
        .lines_with("/api/v2/export?q=arse&order=found&format=text", &plain)
        .collect();
    assert!(text[0].is_ok() && text.last().unwrap().is_err(), "{text:?}");
    let ended = site
        .get("/api/v2/export?q=arse&order=found&format=text&end=true")
        .text();
    assert_eq!(ended.lines().count(), text.len());
    assert!(!done(ended.lines().last().unwrap()).complete);
    whole.set_down(true);
    let nobody = Site::new(vec![whole.backend()]);
    let nothing = nobody.get("/api/v2/export?q=arse&order=found&format=text");
    assert_eq!(nothing.status, 503);
    assert!(nothing.text().contains("whole ("), "{}", nothing.text());
}

#[test]
fn failed_export_is_a_problem() {
    let site = Site::new(vec![Fake::new("one", shards(1, 1)).backend()]);
    let check = |query: &str, status: u16, says: &str| {
        let answer = site.get(&format!("/api/v2/export?{query}&order=found"));
        assert_eq!(answer.status, status, "{query}: {}", answer.text());
        assert!(answer.text().contains(says), "{query}: {}", answer.text());
    };
    check("q=arse&format=csv", 400, "format=jsonl or format=text");
    check("q=arse&format=paths", 400, "format=jsonl or format=text");
    check("q=arse&end=true", 400, "end needs format=text");
    check("q=arse&limit=3", 400, "leave out the limit");
    check("q=arse+count:3", 400, "leave out the limit");
    check("q=/(/", 400, "\"at\"");
    check("q=arse&lang=klingon", 400, "\"filter\":\"klingon\"");
    let bad = site.get("/api/v2/export?q=arse&order=size");
    assert_eq!(bad.status, 400);
    let limited = site.get("/api/v2/search?q=arse&limit=3").json();
    let id = limited["id"].as_str().unwrap();
    let limited = site.get(&format!("/api/v2/search/{id}/export?order=found"));
    assert_eq!(limited.status, 400);
}

#[test]
fn slow_reader_gets_all_and_delays_no_one() {
    let fake = Fake::new("one", large());
    let site = Site::new(vec![fake.backend()]);
    let mut slow = site.lines("/api/v2/export?q=arse&context=0&order=found");
    slow.next().unwrap().unwrap();
    let asked = Instant::now();
    assert_eq!(site.search("arse&context=0")["total"], json!(10_000));
    assert!(
        asked.elapsed() < Duration::from_secs(20),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(fake.searches.load(SeqCst), 1, "one execution for both");
    let rest: Vec<_> = slow.map(Result::unwrap).collect();
    assert_eq!(rest.len(), 10_000, "the first is read, and the end");
    assert_eq!(done(rest.last().unwrap()).total, 10_000);
}

#[test]
fn cancels_a_search_whose_reader_has_gone() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let mut lines = site.lines("/api/v2/export?q=arse&order=found");
    lines.next().unwrap().unwrap();
    drop(lines);
    eventually("the end of the search", || {
        fake.broken_off.load(SeqCst) == 1
    });
}
