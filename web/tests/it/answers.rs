//! Complete answers: counts, order, pages, exports. Pages are compared field by field.

use crate::shards;
use crate::site::{AsBackend, Site};
use frontend::Scope;
use serde_json::{Value, json};
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::Fake;

fn stripped(mut page: Value) -> String {
    for name in ["id", "link", "generation", "searched", "timings", "next"] {
        page.as_object_mut().unwrap().remove(name);
    }
    page.to_string()
}

fn all_pages(site: &Site, more: &str) -> Vec<String> {
    let pages = site.get(&format!("/api/v2/search?q=arse{more}")).json()["pages"]
        .as_u64()
        .unwrap();
    let page = |page| {
        site.get(&format!("/api/v2/search?q=arse{more}&page={page}"))
            .json()
    };
    (0..pages).map(|number| stripped(page(number))).collect()
}

#[test]
fn pages_do_not_depend_on_the_number_of_backends() {
    let one = Site::new(vec![Fake::new("one", shards(1, 1)).backend()]);
    let three = shards(10, 3);
    let three = ["a", "b", "c"].iter().zip(three);
    let three = three.map(|(name, shard)| Fake::new(name, vec![shard]).backend());
    let three = Site::new(three.collect());
    for more in [
        "",
        "&per_page=7",
        "&per_page=1000",
        "&group=package",
        "&group=document&per_document=5",
        "&context=0",
    ] {
        let expected = all_pages(&one, more);
        assert_eq!(all_pages(&three, more), expected, "{more}");
        assert_eq!(all_pages(&three, more), expected, "{more}, again");
    }
}

#[test]
fn describes_the_answer() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let page = site
        .get("/api/v2/search?q=arse&explain=true&per_page=1")
        .json();
    let lines = crate::corpus()
        .into_iter()
        .flat_map(|document| document.lines);
    let expected = lines.filter(|line| line.windows(4).any(|part| part == b"arse"));
    assert_eq!(page["total"], json!(expected.count()));
    assert_eq!(
        (&page["complete"], &page["state"]),
        (&json!(true), &json!("done"))
    );
    assert_eq!(page["interpreted_as"], json!("arse"));
    assert_eq!(
        (&page["documents"], &page["packages"]),
        (&json!(40), &json!(40))
    );
    assert_eq!(page["explain"]["blocks"], json!(40));
    let names: Vec<_> = page
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert!(names.contains(&"matches") && !names.contains(&"groups"));
    let found = &page["matches"][0];
    assert_eq!(found["ranges"].as_array().unwrap().len(), 1);
    assert!(found["context"]["before"].is_array());
    assert_eq!(found["hash"].as_str().unwrap().len(), 64);
}

#[test]
fn counts_without_matches() {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    let all = site.search("arse");
    assert_eq!(all["found"], all["total"]);
    let count = site.get("/api/v2/search?q=arse&want=count").json();
    assert_eq!(count["found"], all["found"]);
    assert_eq!(
        (&count["total"], &count["matches"], &count["pages"]),
        (&json!(0), &json!([]), &json!(1))
    );
    assert_eq!(count["interpreted_as"], json!("arse"));
    let again = site.search("arse&want=count&context=9");
    assert_eq!(again["found"], count["found"]);
    assert_eq!(fake.searches.load(SeqCst), 2, "a count has no context");
    assert_eq!(
        site.get("/search?q=arse&want=count")
            .text()
            .matches("157</b> matches")
            .count(),
        1
    );
}

#[test]
fn returns_the_first_match_of_each_document() {
    let three = ["a", "b", "c"].iter().zip(shards(1, 3));
    let three = three.map(|(name, shard)| Fake::new(name, vec![shard]).backend());
    let site = Site::new(three.collect());
    let page = site
        .get("/api/v2/search?q=arse&want=documents&per_page=1000")
        .json();
    assert_eq!((&page["found"], &page["total"]), (&json!(40), &json!(40)));
    let path = |found: &Value| (found["package"].to_string(), found["path"].to_string());
    let matches = page["matches"].as_array().unwrap();
    let paths: std::collections::HashSet<_> = matches.iter().map(path).collect();
    assert_eq!(paths.len(), 40);
    let shown = site.get("/search?q=arse&want=documents").text();
    assert!(shown.contains("40</b> files with a match"), "{shown}");
    assert!(shown.contains("want=documents&#38;page="), "{shown}");
}

#[test]
fn limit_keeps_the_best_matches() {
    let one = Site::new(vec![Fake::new("one", shards(1, 1)).backend()]);
    let three = ["a", "b", "c"].iter().zip(shards(1, 3));
    let three = three.map(|(name, shard)| Fake::new(name, vec![shard]).backend());
    let three = Site::new(three.collect());
    let all = one.get("/api/v2/search?q=arse&per_page=15").json();
    for site in [&one, &three] {
        let best = site
            .get("/api/v2/search?q=arse&limit=15&per_page=1000")
            .json();
        assert_eq!(best["matches"], all["matches"]);
        assert_eq!(
            (&best["total"], &best["found"]),
            (&json!(15), &all["found"])
        );
        let export = site.get("/api/v2/export?q=arse&limit=15&format=jsonl");
        assert_eq!(export.text().lines().count(), 15);
    }
    let page = one.get("/search?q=arse&limit=15").text();
    assert!(
        page.contains("The best <b>15</b> of <b>157</b> matches"),
        "{page}"
    );
}

#[test]
fn groups_by_package_with_exact_counts() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let page = site
        .get("/api/v2/search?q=arse&group=package&per_page=1000")
        .json();
    let groups = page["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 40);
    let sum: u64 = groups
        .iter()
        .map(|group| group["total"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, page["total"].as_u64().unwrap());
    assert!(
        groups
            .iter()
            .all(|group| group["matches"].as_array().unwrap().len() <= 2)
    );
}

#[test]
fn groups_by_document_in_order_of_the_best_match() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let all = site.get("/api/v2/search?q=arse&per_page=1000").json();
    let name = |found: &Value| (found["package"].to_string(), found["path"].to_string());
    let mut expected: Vec<((String, String), Vec<Value>)> = Vec::new();
    for found in all["matches"].as_array().unwrap() {
        match expected.iter_mut().find(|(known, _)| *known == name(found)) {
            Some((_, matches)) => matches.push(found.clone()),
            None => expected.push((name(found), vec![found.clone()])),
        }
    }
    let mut page = site
        .get("/api/v2/search?q=arse&group=document&per_page=7&per_document=4")
        .json();
    assert_eq!(
        (&page["pages"], &page["documents"]),
        (&json!(6), &json!(40))
    );
    let mut groups = Vec::new();
    loop {
        groups.extend(page["groups"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        let next = format!("/api/v2/search?cursor={next}&per_page=7&per_document=4");
        page = site.get(&next).json();
    }
    assert_eq!(groups.len(), expected.len());
    for (group, (known, matches)) in groups.iter().zip(expected) {
        assert_eq!(name(group), known);
        assert_eq!(group["total"], json!(matches.len()));
        let mut best = matches[..matches.len().min(4)].to_vec();
        best.sort_by_key(|found| found["line"].as_u64());
        let matches = group["matches"].as_array().unwrap();
        let texts = |matches: &[Value]| -> Vec<Value> {
            let text = |found: &Value| json!([found["line"], found["text"], found["rank"]]);
            matches.iter().map(text).collect()
        };
        assert_eq!(texts(matches), texts(&best), "the best, by line");
        let context = |found: &Value, side: &str| -> Vec<u64> {
            let lines = found["context"][side].as_array().unwrap().iter();
            lines.map(|line| line["line"].as_u64().unwrap()).collect()
        };
        let lines = matches.iter().flat_map(|found| {
            let line = vec![found["line"].as_u64().unwrap()];
            [context(found, "before"), line, context(found, "after")].concat()
        });
        let lines: Vec<u64> = lines.collect();
        assert!(
            lines.is_sorted_by(|a, b| a < b),
            "each line once: {lines:?}"
        );
        assert_eq!(group["language"], json!("C"));
    }
    let shown = site.get("/search?q=arse&group=document").text();
    assert!(
        shown.contains("page 1 of 4") && shown.contains("more in this file"),
        "{shown}"
    );
}

#[test]
fn exports_the_matches_of_all_pages() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let page = site.get("/api/v2/search?q=arse&per_page=1000").json();
    let id = page["id"].as_str().unwrap();
    let lines = site.get(&format!("/api/v2/search/{id}/export?format=jsonl"));
    assert_eq!(lines.header("x-trawl-complete"), "true");
    let lines: Vec<Value> = lines
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(Value::from(lines), page["matches"]);
    let text = site.get(&format!("/api/v2/search/{id}/export?format=text"));
    let escape = b"arse</b> \xe2\x80\xae &amp; ";
    assert!(
        text.body.windows(escape.len()).any(|part| part == escape),
        "bytes are exact"
    );
    let at_once = site.get("/api/v2/export?q=arse&format=text");
    assert_eq!(at_once.body, text.body);
    assert_eq!(at_once.header("x-trawl-search").len(), id.len());
    let filtered = site.get("/api/v2/export?q=arse&lang=C&package=no+package&path=-x");
    assert_eq!(filtered.status, 200);
    let nothing = site.get("/api/v2/export?q=nothing+has+this&mode=literal");
    assert_eq!((nothing.status, &nothing.body[..]), (200, &b""[..]));
    assert_eq!(
        site.get("/api/v2/search/0000000000000000/export").status,
        404
    );
}

#[test]
fn finds_a_search_by_its_id() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let page = site.get("/api/v2/search?q=arse&page=3").json();
    let again = site.get(&format!(
        "/api/v2/search/{}?page=3",
        page["id"].as_str().unwrap()
    ));
    assert_eq!(stripped(again.json()), stripped(page));
    assert_eq!(site.get("/api/v2/search/nonsense").status, 404);
}

#[test]
fn search_without_matches_is_complete() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let page = site.search("nowhere");
    assert_eq!(
        (&page["total"], &page["complete"]),
        (&json!(0), &json!(true))
    );
    assert_eq!((&page["pages"], &page["matches"]), (&json!(1), &json!([])));
}

#[test]
fn searches_a_replicated_shard_once() {
    let (a, b) = (Fake::new("a", shards(1, 2)), Fake::new("b", shards(1, 2)));
    let both = Site::new(vec![a.backend(), b.backend()]);
    let one = Site::new(vec![a.backend()]);
    assert_eq!(stripped(both.search("arse")), stripped(one.search("arse")));
    // The other backend has the same shards.
    a.set_down(true);
    crate::site::eventually("the loss of a", || {
        both.frontend
            .backends(&Scope::everything())
            .iter()
            .any(|backend| !backend.connected)
    });
    assert_eq!(both.search("parse")["complete"], json!(true));
    assert!(b.searches.load(std::sync::atomic::Ordering::SeqCst) > 0);
}
