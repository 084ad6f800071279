//! Large exports: the bytes do not depend on memory and threads.

use crate::site::{AsBackend, Site};
use serde_json::{Value, json};
use testkit::backend::{Document, Fake};
use web::{ConnectionLimits, Options};

/// Matches of different lengths, for several threads.
fn corpus() -> Vec<(u8, Vec<Document>)> {
    let line = |number: u32| match number % 5 {
        0 => b"nothing".to_vec(),
        4 => [b"arse \x01\xff".to_vec(), b"x".repeat(number as usize % 90)].concat(),
        _ => format!("arse {number}").into_bytes(),
    };
    let document = |number: u32| Document {
        package: format!("package{}_1", number % 7).into_bytes(),
        path: format!("{number}.c").into_bytes(),
        lines: (number..number + 500).map(line).collect(),
        split: number.is_multiple_of(3),
    };
    vec![
        (1, (0..50).map(document).collect()),
        (2, (50..100).map(document).collect()),
    ]
}

fn site(memory_bytes: u64) -> Site {
    let backends = vec![Fake::new("one", corpus()).backend()];
    let (options, limits) = (Options::default(), ConnectionLimits::default());
    Site::start(backends, options, limits, |config| {
        config.memory_bytes = memory_bytes;
    })
}

#[test]
fn exports_are_the_same_with_much_and_with_little_memory() {
    // With little memory nothing is read ahead.
    let (much, little) = (site(256 << 20), site(6 << 20));
    for format in [
        "api/v2/export?q=arse&format=text",
        "api/v2/export?q=arse&format=jsonl",
        "api/v2/export?q=arse&format=csv&context=0",
        "api/v1/search?query=arse",
    ] {
        let [expected, body] = [&much, &little].map(|site| {
            let answer = site.get(&format!("/{format}"));
            assert_eq!(answer.status, 200, "{format}: {}", answer.text());
            answer.body
        });
        assert!(expected.len() > 400_000, "{format}: {}", expected.len());
        assert!(
            body == expected,
            "{format}: {} of {} bytes",
            body.len(),
            expected.len()
        );
    }
}

#[test]
fn an_export_has_all_matches_in_the_order_of_the_pages() {
    let site = site(256 << 20);
    let exported = site
        .get("/api/v2/export?q=arse&context=1&format=jsonl")
        .text();
    let mut exported = exported.lines();
    let mut next = "/api/v2/search?q=arse&context=1&per_page=1000".to_owned();
    loop {
        let page = site.get(&next).json();
        assert_eq!(page["total"], json!(40_000));
        for found in page["matches"].as_array().unwrap() {
            let line: Value = serde_json::from_str(exported.next().unwrap()).unwrap();
            assert_eq!(line, *found);
        }
        let Some(cursor) = page["next"].as_str() else {
            break;
        };
        next = format!("/api/v2/search?cursor={cursor}&per_page=1000");
    }
    assert_eq!(exported.next(), None);
}
