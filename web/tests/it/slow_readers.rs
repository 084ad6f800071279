//! Clients that do not read their exports hold no thread and little memory, and their number is
//! limited.

use crate::site::{AsBackend, BLOCKING_THREADS, PATIENCE, Site, eventually};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use testkit::backend::{Document, Fake};
use web::{ConnectionLimits, Options};

/// 10,000 matches exceed sockets and pieces.
pub(crate) fn large() -> Vec<(u8, Vec<Document>)> {
    documents(100)
}

/// 100 matches of 1,000 bytes per document.
fn documents(count: u32) -> Vec<(u8, Vec<Document>)> {
    let document = |number: u32| Document {
        package: b"p".to_vec(),
        path: format!("{number}.c").into_bytes(),
        lines: vec![b"arse ".repeat(200); 100],
        split: false,
    };
    vec![(1, (0..count).map(document).collect())]
}

fn site(exports_max: usize, memory_bytes: u64) -> Site {
    site_of(large(), exports_max, memory_bytes)
}

fn site_of(corpus: Vec<(u8, Vec<Document>)>, exports_max: usize, memory_bytes: u64) -> Site {
    let mut options = Options::default();
    options.exports_max = exports_max;
    let backends = vec![Fake::new("one", corpus).backend()];
    Site::start(backends, options, ConnectionLimits::default(), |config| {
        config.memory_bytes = memory_bytes;
        config.silence_max = PATIENCE;
    })
}

const FORMATS: [&str; 4] = [
    "/api/v2/export?q=arse&context=0&format=text",
    "/api/v2/export?q=arse&context=0&format=jsonl",
    "/api/v2/export?q=arse&context=0&format=jsonl&order=found",
    "/api/v1/search?query=arse",
];

/// HTTP/1.0 has no chunks, which would depend on the pieces.
fn begin(site: &Site, path: &str) -> TcpStream {
    let mut stream = site.connect();
    let request = format!("GET {path} HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    if &head[9..] != b"200" {
        let mut rest = String::new();
        _ = stream.read_to_string(&mut rest);
        panic!("{path}: {}{rest}", String::from_utf8_lossy(&head));
    }
    stream
}

#[test]
fn slow_readers_hold_no_thread() {
    // On a busy machine all of them read ahead at once.
    let site = site(64, 2 << 30);
    let readers: Vec<_> = (0..BLOCKING_THREADS + 16)
        .map(|number| begin(&site, FORMATS[number % FORMATS.len()]))
        .collect();
    // Rendered from the disk, on a blocking thread.
    assert_eq!(site.search("arse")["total"], json!(10_000));
    assert_eq!(site.get("/search?q=arse&group=none&page=7").status, 200);
    drop(readers);
}

#[test]
fn exports_past_the_limit_are_refused() {
    for (exports_max, memory_bytes) in [(2, 256 << 20), (64, 6 << 20)] {
        for path in FORMATS {
            let site = site(exports_max, memory_bytes);
            let readers = [begin(&site, path), begin(&site, path)];
            let refused = site.get("/api/v2/export?q=arse");
            assert_eq!(refused.status, 503, "{path}");
            assert_eq!(refused.json()["type"], "/problems/busy");
            assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
            assert_eq!(site.search("arse")["total"], json!(10_000));
            drop(readers);
            eventually("an export after the others", || {
                site.get("/api/v2/export?q=nowhere").status == 200
            });
        }
    }
}

/// A slow client gets read-ahead data again, a fast one windows rendered during transfer.
#[test]
fn slow_and_fast_readers_get_the_same_bytes() {
    let (small, windows) = (site(64, 256 << 20), site_of(documents(200), 64, 256 << 20));
    let body = |stream: &mut TcpStream| {
        let mut response = Vec::new();
        stream.read_to_end(&mut response).unwrap();
        let head = response.windows(4).position(|part| part == b"\r\n\r\n");
        response[head.unwrap()..].to_vec()
    };
    for (site, path, len_min) in [
        (&small, FORMATS[0], 8 << 20),
        (&small, FORMATS[1], 8 << 20),
        (&small, FORMATS[3], 8 << 20),
        (&windows, FORMATS[0], 16 << 20),
    ] {
        let mut slow = begin(site, path);
        std::thread::sleep(Duration::from_millis(600));
        let (slow, fast) = (body(&mut slow), body(&mut begin(site, path)));
        assert!(slow == fast, "{path}");
        assert!(slow.len() > len_min, "{path}: {} bytes", slow.len());
    }
}
