//! Answers on disk survive a restart; damaged and evicted ones are searched again.

use crate::site::{AsBackend, PATIENCE, Site};
use frontend::Config;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::{Document, Fake};

fn fakes(documents: usize) -> Vec<Arc<Fake>> {
    let document = |number: usize| Document {
        package: format!("p{}", number % 7).into_bytes(),
        path: format!("d{}/{number}.c", number % 3).into_bytes(),
        lines: vec![
            b"arse".to_vec(),
            b"none".to_vec(),
            b"  parse arse".to_vec(),
            b"arsenal".to_vec(),
        ],
        split: number.is_multiple_of(2),
    };
    let shard = |backend: usize| {
        let all = (0..documents).filter(|n| n % 2 == backend).map(document);
        vec![(backend as u8 + 1, all.collect())]
    };
    vec![Fake::new("one", shard(0)), Fake::new("two", shard(1))]
}

/// Spills everything to the disk.
fn little_memory(config: &mut Config) {
    config.result_memory_bytes = 0;
    config.query_memory_bytes = 0;
}

fn site(fakes: &[Arc<Fake>], change: impl FnOnce(&mut Config)) -> Site {
    Site::with(fakes.iter().map(AsBackend::backend).collect(), change)
}

fn page(site: &Site, path: &str) -> Value {
    let mut page = site.get(path).json();
    (page["timings"], page["id"]) = (Value::Null, Value::Null);
    page
}

fn pages(site: &Site) -> Vec<Value> {
    let base = "/api/v2/search?q=arse&context=1";
    [
        "",
        "&page=3",
        "&per_page=7&page=5",
        "&group=package&per_package=10",
        "&per_page=1000",
    ]
    .iter()
    .map(|view| page(site, &format!("{base}{view}")))
    .collect()
}

#[test]
fn answers_do_not_depend_on_memory() {
    let fakes = fakes(300);
    let expected = pages(&site(&fakes, |_| ()));
    assert_eq!(expected[0]["total"], json!(900));
    assert_eq!(expected[0]["complete"], json!(true));
    assert_eq!(pages(&site(&fakes, little_memory)), expected);
}

#[test]
fn answers_survive_a_restart() {
    let fakes = fakes(300);
    let first = site(&fakes, little_memory);
    let expected = pages(&first);
    let next = expected[0]["next"].as_str().unwrap().to_owned();
    let next = format!("/api/v2/search?cursor={next}&per_page=30");
    let by_cursor = page(&first, &next);
    let before = std::fs::read_dir(first.spool.path()).unwrap().count();
    let spool = first.stop();
    let searches = fakes[0].searches.load(SeqCst);
    let again = site(&fakes, |config| config.spool = spool.path().to_owned());
    assert_eq!(pages(&again), expected);
    assert_eq!(page(&again, &next), by_cursor);
    assert_eq!(fakes[0].searches.load(SeqCst), searches, "nobody was asked");
    assert_eq!(std::fs::read_dir(spool.path()).unwrap().count(), before);
}

const DAMAGES: [fn(&Path) -> io::Result<()>; 4] = [
    |file| std::fs::remove_file(file),
    |file| std::fs::write(file, b""),
    |file| {
        let bytes = std::fs::read(file)?;
        std::fs::write(file, &bytes[..bytes.len() / 3])
    },
    |file| {
        let bytes = std::fs::read(file)?;
        std::fs::write(file, bytes.iter().map(|byte| !byte).collect::<Vec<_>>())
    },
];

/// The server removes files of unusable results.
fn if_there<T>(result: io::Result<T>) -> Option<T> {
    match result {
        Ok(there) => Some(there),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => panic!("{error}"),
    }
}

fn result_files(spool: &Path) -> Vec<PathBuf> {
    let paths = |directory: &Path| -> Vec<PathBuf> {
        let entries = if_there(std::fs::read_dir(directory)).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let results = paths(spool).into_iter().filter(|path| path.is_dir());
    let files = results.flat_map(|result| paths(&result));
    let mut files: Vec<_> = files
        .filter(|file| if_there(file.metadata()).is_some_and(|known| known.len() > 0))
        .collect();
    files.sort();
    files
}

#[test]
fn searches_again_if_files_are_cut_removed_or_overwritten() {
    let fakes = fakes(300);
    let expected = pages(&site(&fakes, little_memory));
    for damage in DAMAGES {
        let site = site(&fakes, little_memory);
        let first = site.get("/api/v2/search?q=arse&context=1").json();
        let searches = fakes[0].searches.load(SeqCst);
        let damage_all = || {
            result_files(site.spool.path())
                .iter()
                .for_each(|file| _ = if_there(damage(file)))
        };
        damage_all();
        let id = first["id"].as_str().unwrap();
        for path in [
            // All documents have the same text.
            "/search?q=arse&context=1&copies=all&page=2".to_owned(),
            format!("/api/v2/search/{id}?page=3"),
            "/api/v2/export?q=arse&context=1".to_owned(),
            "/api/v2/search?q=arse&context=1&page=3".to_owned(),
            format!("/api/v2/search?cursor={}", first["next"].as_str().unwrap()),
            "/api/v2/facets?q=arse&context=1".to_owned(),
            "/api/v2/search?q=arse&context=1&group=package".to_owned(),
        ] {
            damage_all();
            let answer = site.get(&path);
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        }
        assert!(fakes[0].searches.load(SeqCst) > searches, "asked again");
        assert_eq!(pages(&site), expected);
    }
}

#[test]
fn each_damaged_file_is_noticed() {
    let fakes = fakes(300);
    let count = {
        let site = site(&fakes, little_memory);
        pages(&site);
        result_files(site.spool.path()).len()
    };
    let expected = pages(&site(&fakes, little_memory));
    for number in 0..count {
        let site = site(&fakes, little_memory);
        pages(&site);
        let file = &result_files(site.spool.path())[number];
        let mut bytes = std::fs::read(file).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        std::fs::write(file, bytes).unwrap();
        assert_eq!(pages(&site), expected, "{}", file.display());
    }
}

#[test]
fn searches_again_after_eviction() {
    let fakes = fakes(300);
    let site = site(&fakes, |config| {
        little_memory(config);
        config.silence_max = PATIENCE;
        config.spool_bytes_max = 400_000;
    });
    let expected = pages(&site);
    let first = site.get("/api/v2/search?q=arse&context=1").json();
    let (id, next) = (
        first["id"].as_str().unwrap(),
        first["next"].as_str().unwrap(),
    );
    let second = page(&site, &format!("/api/v2/search?cursor={next}"));
    for other in ["ars", "rse", "parse", "none", "a", "s", "e"] {
        assert_eq!(site.search(other)["complete"], json!(true), "{other}");
    }
    let searches = fakes[0].searches.load(SeqCst);
    let by_id = page(&site, &format!("/api/v2/search/{id}?page=3"));
    assert_eq!(by_id, expected[1]);
    assert_eq!(fakes[0].searches.load(SeqCst), searches + 1, "asked again");
    assert_eq!(
        page(&site, &format!("/api/v2/search?cursor={next}")),
        second
    );
}

#[test]
fn limit_keeps_the_best_matches_when_spilled() {
    let fakes = fakes(300);
    let site = site(&fakes, little_memory);
    let all = site.get("/api/v2/search?q=arse&per_page=20").json();
    let best = site
        .get("/api/v2/search?q=arse&per_page=20&limit=20")
        .json();
    // Copies are known only with all matches.
    let mut expected = all["matches"].clone();
    for found in expected.as_array_mut().unwrap() {
        found.as_object_mut().unwrap().remove("copies");
    }
    assert_eq!(best["matches"], expected);
    assert_eq!((&best["total"], &best["found"]), (&json!(20), &json!(900)));
}
