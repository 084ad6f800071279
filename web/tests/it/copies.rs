//! Documents with the same text, all or folded.

use crate::site::{AsBackend, Site};
use frontend::{Backend, Config};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::{Document, Fake};

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }
}

fn documents(numbers: &mut Numbers) -> Vec<Document> {
    let count = 1 + numbers.below(40);
    let texts = 1 + numbers.below(count);
    let text = |text: u64| -> Vec<Vec<u8>> {
        let line = |line: u64| match (text * 7 + line) % 3 {
            0 => format!("{} arse {text}", "x".repeat((text * line % 5) as usize)),
            _ => format!("line {line} of {text}"),
        };
        (0..1 + text % 6)
            .map(|number| line(number).into_bytes())
            .collect()
    };
    (0..count)
        .map(|number| Document {
            package: format!("p{}_1.{}", number % 5, numbers.below(3)).into_bytes(),
            path: format!("src/{number}.c").into_bytes(),
            lines: text(numbers.below(texts)),
            split: numbers.below(2) == 0,
        })
        .collect()
}

fn backends(numbers: &mut Numbers, count: u64, documents: &[Document]) -> Vec<Backend> {
    let mut shards = vec![BTreeMap::new(); count as usize];
    for document in documents {
        let backend = numbers.below(count);
        let shard = 10 * backend + numbers.below(3);
        let of: &mut BTreeMap<u64, Vec<Document>> = &mut shards[backend as usize];
        of.entry(shard).or_default().push(document.clone());
    }
    let fake = |(number, shards): (usize, BTreeMap<u64, Vec<Document>>)| {
        let shards = shards
            .into_iter()
            .map(|(id, documents)| (id as u8, documents));
        Fake::new(&format!("backend {number}"), shards.collect()).backend()
    };
    shards.into_iter().enumerate().map(fake).collect()
}

fn matches(page: &Value) -> &[Value] {
    page["matches"].as_array().unwrap()
}

fn document(found: &Value) -> (&str, &str) {
    (
        found["package"].as_str().unwrap(),
        found["path"].as_str().unwrap(),
    )
}

/// By number and by cursor.
fn all_pages(site: &Site, copies: &str) -> (Value, Vec<Value>) {
    let path = format!("/api/v2/search?q=arse&context=0&per_page=7&copies={copies}");
    let first = site.get(&path).json();
    let mut by_number = Vec::new();
    for page in 0..first["pages"].as_u64().unwrap() {
        let page = site.get(&format!("{path}&page={page}")).json();
        by_number.extend_from_slice(matches(&page));
    }
    let mut by_cursor = matches(&first).to_vec();
    let mut next = first["next"].clone();
    while let Some(cursor) = next.as_str() {
        let page = site
            .get(&format!("/api/v2/search?per_page=7&cursor={cursor}"))
            .json();
        by_cursor.extend_from_slice(matches(&page));
        next = page["next"].clone();
    }
    assert_eq!(by_cursor, by_number);
    (first, by_number)
}

/// Hash, and matching lines.
type Text = (String, Vec<u64>);

fn texts(all: &[Value]) -> BTreeMap<Text, Vec<(&str, &str)>> {
    let mut lines: BTreeMap<_, Text> = BTreeMap::new();
    let mut order = Vec::new();
    for found in all {
        let hash = found["hash"].as_str().unwrap().to_owned();
        let of = lines.entry(document(found)).or_insert_with(|| {
            order.push(document(found));
            (hash, Vec::new())
        });
        of.1.push(found["line"].as_u64().unwrap());
    }
    let mut texts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for name in order {
        let (hash, mut lines) = lines[&name].clone();
        lines.sort_unstable();
        texts.entry((hash, lines)).or_default().push(name);
    }
    texts
}

#[test]
fn each_text_is_shown_once_wherever_its_copies_are() {
    for seed in 0..12 {
        let mut numbers = Numbers(seed);
        let documents = documents(&mut numbers);
        let mut shown = None;
        for count in [1, 2, 3, 5] {
            let site = Site::new(backends(&mut numbers, count, &documents));
            let (page, all) = all_pages(&site, "all");
            let texts = texts(&all);
            let best: BTreeSet<_> = texts.values().map(|names| names[0]).collect();
            let expected = all.iter().filter(|found| best.contains(&document(found)));
            let (first, folded) = all_pages(&site, "folded");
            assert!(folded.iter().eq(expected), "seed {seed}, {count} backends");
            for page in [page, first] {
                assert_eq!(page["total"], json!(all.len()));
                assert_eq!(page["unique"], json!(folded.len()));
            }
            let others: BTreeMap<_, u64> = texts
                .values()
                .flat_map(|names| names.iter().map(|name| (*name, names.len() as u64 - 1)))
                .collect();
            for (position, found) in all.iter().enumerate() {
                let copies = match others[&document(found)] {
                    0 => Value::Null,
                    count => json!({"count": count, "position": position}),
                };
                assert_eq!(found["copies"], copies);
            }
            let same = shown.get_or_insert_with(|| (all.clone(), folded.clone()));
            assert_eq!(*same, (all, folded), "seed {seed}, {count} backends");
        }
    }
}

/// Four documents of one text with two matches each, and one of another text.
fn copied() -> Vec<Document> {
    let copy = |package: &str, path: &str| Document {
        package: package.into(),
        path: path.into(),
        lines: [&b"int arse;"[..], b"", b"\tarse();"]
            .map(<[u8]>::to_vec)
            .to_vec(),
        split: false,
    };
    let mut all = vec![
        copy("foo_1.0", "a.c"),
        copy("foo_1.1", "a.c"),
        copy("bar_2", "lib/foo/a.c"),
        copy("bar_2", "<b>.c"),
    ];
    let mut other = copy("other_1", "b.c");
    other.lines.push(b"arse of another text".to_vec());
    all.push(other);
    all
}

fn site() -> Site {
    let mut documents = copied();
    let rest = documents.split_off(2);
    let one = Fake::new("one", vec![(1, documents)]);
    let other = Fake::new("other", vec![(2, rest)]);
    Site::new(vec![one.backend(), other.backend()])
}

#[test]
fn the_copies_of_a_match_are_listed_in_pages() {
    let site = site();
    let page = site.get("/api/v2/search?q=arse&copies=folded").json();
    assert_eq!((&page["total"], &page["unique"]), (&json!(11), &json!(5)));
    let found = matches(&page)
        .iter()
        .find(|found| !found["copies"].is_null())
        .unwrap();
    assert_eq!(found["copies"]["count"], json!(3));
    let position = &found["copies"]["position"];
    let id = page["id"].as_str().unwrap();
    let list = site
        .get(&format!("/api/v2/search/{id}/copies?position={position}"))
        .json();
    let by_query = site
        .get(&format!("/api/v2/copies?q=arse&position={position}"))
        .json();
    assert_eq!(by_query["documents"], list["documents"]);
    assert_eq!(
        (&list["total"], &list["complete"]),
        (&json!(4), &json!(true))
    );
    let names: Vec<_> = list["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(document)
        .collect();
    assert_eq!(
        names[0],
        document(found),
        "the one that is shown is the first"
    );
    let wanted = [
        ("foo_1.0", "a.c"),
        ("foo_1.1", "a.c"),
        ("bar_2", "lib/foo/a.c"),
        ("bar_2", "<b>.c"),
    ];
    assert_eq!(BTreeSet::from_iter(names.clone()), BTreeSet::from(wanted));
    let last = site
        .get(&format!(
            "/api/v2/copies?q=arse&position={position}&per_page=3&page=1"
        ))
        .json();
    assert_eq!(document(&last["documents"][0]), names[3]);
    assert_eq!(
        (&last["pages"], last["documents"].as_array().unwrap().len()),
        (&json!(2), 1)
    );
    for (query, status, says) in [
        ("q=arse", 400, "position is missing"),
        ("q=arse&position=x", 400, "position=x is not a number"),
        (
            "q=arse&position=11",
            404,
            "position=11: number of matches in the answer, counted from 0: 11",
        ),
        (
            "q=arse&position=0&page=9",
            404,
            "there is no page=9: pages count from 0, and the last one is page=0",
        ),
        (
            "q=arse&position=0&per_page=0",
            400,
            "per_page=0: expected 1 to 1000",
        ),
    ] {
        let answer = site.get(&format!("/api/v2/copies?{query}"));
        assert_eq!(
            (answer.status, &answer.json()["detail"]),
            (status, &json!(says))
        );
    }
}

#[test]
fn pages_fold_copies_and_say_so() {
    let site = site();
    let folded = site.get("/search?q=arse&group=none").text();
    let says =
        "title=\"5 in different texts are shown, each in its best file\"><b>6</b> in copies</span>";
    assert!(folded.contains(says), "{folded}");
    assert!(
        folded.contains("<summary>and 3 copies</summary>"),
        "{folded}"
    );
    assert!(
        folded.contains("&#60;b&#62;.c") && !folded.contains("<b>.c"),
        "{folded}"
    );
    assert_eq!(folded.matches("<article class=").count(), 5);
    assert!(
        folded.contains("<b>11</b> matches"),
        "the count stays what it is: {folded}"
    );
    let switch = "/search?q=arse&#38;group=none&#38;copies=all";
    assert!(folded.contains(switch), "{folded}");
    let all = site.get("/search?q=arse&group=none&copies=all").text();
    assert!(all.contains(">fold copies</a>"), "{all}");
    assert!(
        all.contains(r#"<input type="hidden" name="copies" value="all">"#),
        "{all}"
    );
    let last = site
        .get("/search?q=arse&group=none&copies=all&page=1")
        .text();
    assert_eq!(
        all.matches("<article class=").count() + last.matches("<article class=").count(),
        11
    );
    let copies = |page: &str| page.matches("<summary>and 3 copies</summary>").count();
    let by_file = site.get("/search?q=arse").text();
    assert_eq!(copies(&by_file), 1, "{by_file}");
    assert!(by_file.contains("show all copies"), "{by_file}");
    let all = site.get("/search?q=arse&copies=all").text();
    assert_eq!(copies(&all), 4, "{all}");
    let files = |page: &str| page.matches("<article class=").count();
    assert_eq!(files(&all), files(&by_file) + 3);
    let none = site.get("/search?q=another").text();
    assert!(!none.contains("cop"), "{none}");
}

#[test]
fn what_cannot_be_folded_is_refused_or_shown_as_it_is() {
    let site = site();
    for (query, says) in [
        ("q=arse&copies=some", "copies=some: expected all or folded"),
        (
            "q=arse&copies=folded&limit=3",
            "copies=folded needs all matches, and limits reduce those",
        ),
        (
            "q=arse&copies=folded&want=count",
            "copies=folded needs all matches, and limits reduce those",
        ),
    ] {
        let answer = site.get(&format!("/api/v2/search?{query}"));
        assert_eq!(
            (answer.status, &answer.json()["detail"]),
            (400, &json!(says))
        );
    }
    let next = site
        .get("/api/v2/search?q=arse&copies=folded&per_page=2")
        .json()["next"]
        .clone();
    let next = next.as_str().unwrap();
    let other = site.get(&format!("/api/v2/search?cursor={next}&copies=all"));
    let says = json!("the cursor belongs to an answer with other copies");
    assert_eq!((other.status, &other.json()["detail"]), (400, &says));
    let limited = site.get("/api/v2/search?q=arse&limit=3").json();
    assert_eq!(
        (&limited["unique"], matches(&limited).len()),
        (&Value::Null, 3)
    );
    let page = site.get("/search?q=arse&limit=3&group=none");
    assert_eq!(
        (page.status, page.text().matches("<article class=").count()),
        (200, 3)
    );
}

#[test]
fn clients_that_say_nothing_get_every_match() {
    let site = site();
    let page = site.search("arse");
    assert_eq!(matches(&page).len(), 10, "the first of two pages");
    let exported = site.get("/api/v2/export?q=arse").text();
    assert_eq!(exported.lines().count(), 11);
    assert!(!exported.contains("copies"));
    let facets = site.get("/api/v2/facets?q=arse").json();
    assert_eq!(facets["total"], json!(11));
}

#[test]
fn folded_pages_survive_a_restart_of_the_frontend() {
    let one = Fake::new("one", vec![(1, copied())]);
    let start = |config: &mut Config| {
        config.result_memory_bytes = 0;
        config.query_memory_bytes = 0;
    };
    let site = Site::with(vec![one.backend()], start);
    let path = "/api/v2/search?q=arse&copies=folded";
    let before = site.get(path).json();
    let spool = site.stop();
    let again = Site::with(vec![one.backend()], |config| {
        start(config);
        config.spool = spool.path().to_owned();
    });
    let after = again.get(path).json();
    for field in ["total", "unique", "matches"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(
        one.searches.load(SeqCst),
        1,
        "the second frontend did not search"
    );
    let position = &matches(&after)
        .iter()
        .find(|found| !found["copies"].is_null())
        .unwrap()["copies"]["position"];
    let list = again
        .get(&format!("/api/v2/copies?q=arse&position={position}"))
        .json();
    assert_eq!(list["total"], json!(4));
}
