//! A long search shows its best matches and files before it ends.

use crate::site::{AsBackend, Site, eventually};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::{Document, Fake, Fault};

/// Fifteen distinct files with four matches, and copies.
fn files() -> Vec<Document> {
    let file = |number: u32, path: String| Document {
        package: b"p_1".to_vec(),
        path: path.into_bytes(),
        lines: (0..4)
            .map(|line| format!("arse {number} {line}").into_bytes())
            .collect(),
        split: false,
    };
    let files = (0..15).flat_map(|number| {
        let copy = format!("copies/{number}.c");
        [file(number, format!("{number}.c")), file(number, copy)]
    });
    files.collect()
}

/// The backend waits after one file, unless the best ones suffice.
fn slow() -> (Arc<Fake>, Site) {
    let fake = Fake::with("one", vec![(1, files())], Fault::Gate);
    fake.more_documents.store(100_000, SeqCst);
    let site = Site::new(vec![fake.backend()]);
    (fake, site)
}

fn boxes(html: &str) -> Vec<&str> {
    let boxes = html.split("data-box=\"").skip(1);
    boxes.filter_map(|rest| rest.split('"').next()).collect()
}

/// Waits for `"final":true`. If a busy machine delays it, the second search times out, and is
/// repeated.
fn final_event(site: &Site, path: &str) -> String {
    let mut found = None;
    eventually("the final event", || {
        let lines = site.lines(path).take(20).map(Result::unwrap);
        found = lines
            .into_iter()
            .find(|line| line.contains(r#""final":true"#));
        found.is_some()
    });
    let event = found.expect("it was found");
    event
        .strip_prefix("data: ")
        .expect("the data of an event")
        .to_owned()
}

#[test]
fn the_best_matches_are_final_while_the_search_waits() {
    let (fake, site) = slow();
    let event = final_event(&site, "/api/v2/events?q=arse");
    fake.open_gate();
    let event: serde_json::Value = serde_json::from_str(&event).unwrap();
    let mut page = site.search("arse");
    for found in page["matches"].as_array_mut().unwrap() {
        // Unknown before all matches have arrived.
        found
            .as_object_mut()
            .unwrap()
            .remove("copies")
            .expect("each text has a copy");
    }
    assert_eq!(event["matches"], page["matches"]);
}

#[test]
fn a_page_shows_the_best_files_with_their_lines_while_the_search_waits() {
    let (fake, site) = slow();
    let event = final_event(&site, "/search/events?q=arse");
    let event: serde_json::Value = serde_json::from_str(&event).unwrap();
    let live = event["html"].as_str().unwrap();
    // Already proven, so a page has it from the beginning.
    let mut running = String::new();
    eventually("a page with the best files", || {
        running = site.get("/search?q=arse").text();
        assert!(running.contains("data-events-href"), "the search has ended");
        boxes(&running).len() == 10
    });
    fake.open_gate();
    let mut finished = String::new();
    eventually("the answer", || {
        finished = site.get("/search?q=arse").text();
        !finished.contains("data-events-href")
    });
    assert_eq!(boxes(live), boxes(&finished));
    assert_eq!(boxes(&running), boxes(&finished));
    let lines = |html: &str| html.matches("class=\"number\"").count();
    assert_eq!(
        (lines(live), lines(&running)),
        (lines(&finished), lines(&finished))
    );
}

#[test]
fn a_stream_of_sourcegraph_has_matches_while_the_search_waits() {
    let (fake, site) = slow();
    let stream = "/.api/search/stream?q=arse&cm=t";
    eventually("matches before the end", || {
        let mut lines = site.lines(stream).take(20).map(Result::unwrap);
        lines.any(|line| line == "event: matches")
    });
    let mut items: Vec<serde_json::Value> = Vec::new();
    let mut name = String::new();
    for (number, line) in site.lines(stream).map(Result::unwrap).enumerate() {
        if line == "event: matches" || number == 20 {
            fake.open_gate();
        }
        if let Some(data) = line
            .strip_prefix("data: ")
            .filter(|_| name == "event: matches")
        {
            items.extend(serde_json::from_str::<Vec<_>>(data).unwrap());
        }
        name = line;
    }
    let mut lines = Vec::new();
    for item in &items {
        let place = |range: &serde_json::Value| format!("{} {}", item["path"], range["start"]);
        let chunks = item["chunkMatches"].as_array().unwrap().iter();
        let ranges = chunks.flat_map(|chunk| chunk["ranges"].as_array().unwrap());
        lines.extend(ranges.map(place));
    }
    assert_eq!(lines.len(), 120, "each line once");
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 120, "each line once");
}
