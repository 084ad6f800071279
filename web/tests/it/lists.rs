//! Facets, the list of packages, how much was searched, and links that hold a generation.

use crate::shards;
use crate::site::{Site, eventually};
use fake_backend::{Fake, Fault};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Matches of all pages, counted by what `name` gives.
fn count(site: &Site, name: impl Fn(&Value) -> String) -> BTreeMap<String, u64> {
    let page = site.get("/api/v2/search?q=arse&per_page=1000").json();
    let mut counts = BTreeMap::new();
    for found in page["matches"].as_array().unwrap() {
        *counts.entry(name(found)).or_insert(0) += 1;
    }
    counts
}

fn listed(facets: &Value, list: &str, name: &str) -> BTreeMap<String, u64> {
    let each = |each: &Value| {
        let name = each[name].as_str().unwrap().to_owned();
        (name, each["total"].as_u64().unwrap())
    };
    facets[list].as_array().unwrap().iter().map(each).collect()
}

#[test]
fn facets_are_exact() {
    let three = ["a", "b", "c"].iter().zip(shards(1, 3));
    let three = three.map(|(name, shard)| Fake::new(name, vec![shard]).backend());
    let site = Site::new(three.collect());
    let facets = site.get("/api/v2/facets?q=arse").json();
    let text = |name: &'static str| move |found: &Value| found[name].as_str().unwrap().to_owned();
    let directory = |found: &Value| {
        let path = found["path"].as_str().unwrap().to_owned();
        path.split_once('/')
            .map_or(String::new(), |(first, _)| first.to_owned())
    };
    assert_eq!(
        listed(&facets, "packages", "package"),
        count(&site, text("package"))
    );
    assert_eq!(
        listed(&facets, "languages", "language"),
        count(&site, text("language"))
    );
    assert_eq!(
        listed(&facets, "directories", "directory"),
        count(&site, directory)
    );
    assert_eq!(
        (&facets["total"], &facets["packages_total"]),
        (&json!(157), &json!(40))
    );
    let totals = facets["packages"].as_array().unwrap().iter();
    assert!(
        totals
            .map(|each| each["total"].as_u64())
            .is_sorted_by(|a, b| a >= b)
    );
    let path = format!("/api/v2/search/{}/facets", facets["id"].as_str().unwrap());
    let again = site.get(&path);
    assert_eq!(
        (again.json(), again.header("x-trawl-complete")),
        (facets, "true")
    );
    assert!(again.header("etag").starts_with("W/"));
    for more in ["&limit=5", "&want=count", "&page=1"] {
        assert_eq!(
            site.get(&format!("/api/v2/facets?q=arse{more}")).status,
            400,
            "{more}"
        );
    }
}

#[test]
fn packages_come_in_the_order_of_their_best_match() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let grouped = site
        .get("/api/v2/search?q=arse&group=package&per_page=1000")
        .json();
    let packages = site.get("/api/v2/packages?q=arse").json();
    let pick = |list: &Value| -> Vec<(String, u64)> {
        let each = |each: &Value| (each["package"].to_string(), each["total"].as_u64().unwrap());
        list.as_array().unwrap().iter().map(each).collect()
    };
    assert_eq!(pick(&packages["packages"]), pick(&grouped["groups"]));
    let text = site.get("/api/v2/packages?q=arse&format=text");
    assert_eq!(text.header("content-type"), "application/octet-stream");
    let lines: Vec<String> = text
        .text()
        .lines()
        .map(|line| format!("\"{line}\""))
        .collect();
    let names: Vec<String> = pick(&packages["packages"])
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(lines, names);
    let id = text.header("x-trawl-search");
    let by_id = site.get(&format!("/api/v2/search/{id}/packages?format=text"));
    assert_eq!(by_id.body, text.body);
    assert_eq!(site.get("/api/v2/packages?q=arse&format=xml").status, 400);
    assert_eq!(
        site.get("/api/v2/packages?q=nowhere").json()["packages"],
        json!([])
    );
}

#[test]
fn it_says_how_much_was_searched() {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    let all = json!({"documents": 40, "of": 40});
    assert_eq!(site.search("arse")["searched"], all);
    assert!(
        site.get("/search?q=arse")
            .text()
            .contains("all 40 files searched")
    );
    fake.set(Fault::ShardFailure);
    let part = json!({"documents": 20, "of": 40});
    assert_eq!(site.search("parse")["searched"], part);
    let page = site.get("/search?q=pars").text();
    assert!(
        page.contains("<b>20</b> of 40 known files were searched"),
        "{page}"
    );
    fake.set(Fault::NoEnd);
    let none = json!({"documents": 0, "of": 40});
    assert_eq!(site.search("ars")["searched"], none);
}

#[test]
fn a_link_over_documents_that_are_gone_says_so() {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    let generation = site.search("arse")["generation"]
        .as_str()
        .unwrap()
        .to_owned();
    let held = site.get(&format!("/search?q=arse&generation={generation}"));
    let next = format!("generation={generation}&#38;page=1");
    assert!(
        held.status == 200 && held.text().contains(&next),
        "{}",
        held.text()
    );
    fake.set_shards(shards(5, 2));
    eventually("other documents", || {
        site.search("parse")["generation"] != json!(generation)
    });
    // What is finished is there still.
    let link = |q: &str| format!("?q={q}&generation={generation}");
    assert_eq!(
        site.get(&format!("/api/v2/search{}", link("arse"))).status,
        200
    );
    for path in [
        "/api/v2/search",
        "/api/v2/facets",
        "/api/v2/events",
        "/search",
    ] {
        let gone = site.get(&format!("{path}{}", link("ars")));
        assert_eq!(gone.status, 410, "{path}");
        assert!(
            gone.text().contains("search again"),
            "{path}: {}",
            gone.text()
        );
        assert_eq!(gone.header("cache-control"), "no-store", "{path}");
    }
}
