//! Facets, list of packages, progress, and links with a generation.

use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use serde_json::json;
use std::collections::BTreeMap;
use testkit::backend::{Fake, Fault};
use web::model::{Facets, Match, Packages, Page, Results};

fn count(site: &Site, name: impl Fn(&Match<'_>) -> String) -> BTreeMap<String, u64> {
    let page: Page<'_> = site.read("/api/v2/search?q=arse&per_page=1000");
    let Results::Matches(matches) = page.results else {
        panic!("groups")
    };
    let mut counts = BTreeMap::new();
    for found in matches {
        *counts.entry(name(&found)).or_insert(0) += 1;
    }
    counts
}

#[test]
fn facets_are_exact() {
    let three = ["a", "b", "c"].iter().zip(shards(1, 3));
    let three = three.map(|(name, shard)| Fake::new(name, vec![shard]).backend());
    let site = Site::new(three.collect());
    let path = "/api/v2/facets?q=arse";
    let facets: Facets = site.read(path);
    let directory = |found: &Match<'_>| {
        let first = found.path.split_once('/');
        first.map_or(String::new(), |(first, _)| first.to_owned())
    };
    let packages = facets.packages.iter();
    let packages: BTreeMap<_, _> = packages
        .map(|each| (each.package.clone(), each.total))
        .collect();
    assert_eq!(packages, count(&site, |found| found.package.to_string()));
    let languages = facets.languages.iter();
    let languages: BTreeMap<_, _> = languages
        .map(|each| (each.language.clone(), each.total))
        .collect();
    assert_eq!(languages, count(&site, |found| found.language.to_string()));
    let directories = facets.directories.iter();
    let directories: BTreeMap<_, _> = directories
        .map(|each| (each.directory.clone(), each.total))
        .collect();
    assert_eq!(directories, count(&site, directory));
    let kinds = facets.kinds.iter();
    let kinds: Vec<_> = kinds.map(|each| (&*each.kind, each.total)).collect();
    assert_eq!(kinds, [("source", 157)]);
    assert_eq!((facets.total, facets.packages_total), (157, 40));
    let totals = facets.packages.iter().map(|each| each.total);
    assert!(totals.is_sorted_by(|a, b| a >= b));
    let again = site.get(&format!("/api/v2/search/{}/facets", facets.head.id));
    let without_id = |mut facets: serde_json::Value| {
        facets["id"] = serde_json::Value::Null;
        facets
    };
    let expected = without_id(site.get(path).json());
    assert_eq!(without_id(again.json()), expected);
    assert_eq!(again.header("x-trawl-complete"), "true");
    assert!(again.header("etag").starts_with("W/"));
    for more in ["&limit=5", "&want=count", "&page=1"] {
        assert_eq!(site.get(&format!("{path}{more}")).status, 400, "{more}");
    }
}

#[test]
fn lists_packages_in_order_of_their_best_match() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let page: Page<'_> = site.read("/api/v2/search?q=arse&group=package&per_page=1000");
    let Results::Groups(groups) = page.results else {
        panic!("no groups")
    };
    let grouped = groups
        .iter()
        .map(|group| (&*group.package, group.total.unwrap()));
    let list: Packages = site.read("/api/v2/packages?q=arse");
    let listed = list
        .packages
        .iter()
        .map(|each| (&*each.package, each.total));
    assert!(listed.clone().eq(grouped));
    let text = site.get("/api/v2/packages?q=arse&format=text");
    assert_eq!(text.header("content-type"), "application/octet-stream");
    assert!(text.text().lines().eq(listed.map(|(name, _)| name)));
    let id = text.header("x-trawl-search");
    let by_id = site.get(&format!("/api/v2/search/{id}/packages?format=text"));
    assert_eq!(by_id.body, text.body);
    assert_eq!(site.get("/api/v2/packages?q=arse&format=xml").status, 400);
    let none: Packages = site.read("/api/v2/packages?q=nowhere");
    assert!(none.packages.is_empty());
}

#[test]
fn reports_how_much_was_searched() {
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
fn an_incomplete_answer_says_how_far_the_search_came() {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    assert!(site.search("arse").get("reached").is_none(), "complete");
    // One block of four is done, without an end.
    fake.set(Fault::Gate);
    let page = site.get("/api/v2/search?q=parse&timeout=1").json();
    let reached = json!({"blocks_done": 1, "blocks_total": 4, "documents": 0});
    assert_eq!(page["reached"], reached, "{page}");
    let id = page["id"].as_str().unwrap();
    let page = site
        .get(&format!("/search?q=parse&timeout=1&run={id}"))
        .text();
    assert!(page.contains("came through <b>1</b> of 4 blocks"), "{page}");
    fake.open_gate();
}

#[test]
fn reports_that_a_generation_is_gone() {
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
    // A finished answer is still cached.
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
