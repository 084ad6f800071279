//! Full disk: the writing query ends with the reason, others continue.

use crate::site::{AsBackend, Site};
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use testkit::backend::{Document, Fake};

const LINES: usize = 250;

const DOCUMENTS: usize = 80;

/// More matches than memory.
fn fakes() -> Vec<Arc<Fake>> {
    let document = |number: usize| Document {
        package: b"p".to_vec(),
        path: format!("{number}.c").into_bytes(),
        lines: (0..LINES)
            .map(|line| format!("x{line}").into_bytes())
            .collect(),
        split: false,
    };
    let shard = |backend: usize| {
        let documents = (0..DOCUMENTS).filter(|n| n % 2 == backend).map(document);
        vec![(backend as u8 + 1, documents.collect())]
    };
    vec![Fake::new("one", shard(0)), Fake::new("two", shard(1))]
}

fn site(fakes: &[Arc<Fake>], writes: &Arc<AtomicU64>) -> Site {
    let writes = Arc::clone(writes);
    Site::with(fakes.iter().map(AsBackend::backend).collect(), |config| {
        config.silence_max = Duration::from_secs(5);
        config.result_memory_bytes = 0;
        config.query_memory_bytes = 0;
        config.before_write = Some(Arc::new(move || {
            let one_less = |left: u64| left.checked_sub(1);
            match writes.fetch_update(SeqCst, SeqCst, one_less) {
                Ok(_) => Ok(()),
                Err(_) => Err(io::ErrorKind::StorageFull.into()),
            }
        }));
    })
}

fn lines(site: &Site, page: &Value) -> Vec<(String, u64)> {
    let id = page["id"].as_str().unwrap();
    let path = |number| format!("/api/v2/search/{id}?per_page=1000&page={number}");
    let pages = page["total"].as_u64().unwrap().div_ceil(1000);
    let pages = (0..pages).map(|number| site.get(&path(number)).json());
    let matches = pages.flat_map(|page| page["matches"].as_array().unwrap().clone());
    let line = |each: Value| {
        let path = each["path"].as_str().unwrap().to_owned();
        (path, each["line"].as_u64().unwrap())
    };
    matches.map(line).collect()
}

#[test]
fn full_disk_ends_only_the_query_that_writes() {
    let fakes = fakes();
    let writes = Arc::new(AtomicU64::new(u64::MAX));
    let expected = {
        let site = site(&fakes, &writes);
        let page = site.search("x");
        assert_eq!(page["complete"], json!(true), "{page}");
        lines(&site, &page)
    };
    let needed = u64::MAX - writes.load(SeqCst);
    assert!(needed > 10, "{needed} writes");
    assert_eq!(expected.len(), DOCUMENTS * LINES);
    for allowed in 0..needed {
        let site = site(&fakes, &writes);
        writes.store(allowed, SeqCst);
        let page = site.search("x");
        writes.store(u64::MAX, SeqCst);
        let found = lines(&site, &page);
        assert_eq!(page["total"], json!(found.len()), "{allowed} writes");
        let mut rest = expected.iter();
        let is_part = found.iter().all(|line| rest.any(|each| each == line));
        assert!(is_part, "{allowed} writes: in order, and nothing else");
        if page["complete"] == json!(true) {
            assert_eq!(found, expected);
            // A later write failed: the answer will not survive a restart.
            continue;
        }
        let reason = page["missing"][0]["reason"].as_str().unwrap();
        assert!(reason.contains("no storage space"), "{reason}");
        let backends = page["missing"].as_array().unwrap().iter();
        let backends: Vec<_> = backends.map(|missing| &missing["backend"]).collect();
        assert_eq!(backends, ["spool"], "the disk, not a backend");
        let spool = site.spool.path().to_str().unwrap();
        assert!(!reason.contains(spool), "clients learn no paths: {reason}");
        let again = site.search("x");
        assert_eq!(again["complete"], json!(true), "{allowed} writes");
        assert_eq!(again["total"], json!(expected.len()));
    }
}
