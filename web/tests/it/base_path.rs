//! Pages below the path of a proxy, and with chosen colours.

use crate::shards;
use crate::site::{AsBackend, Site};
use std::collections::BTreeSet;
use testkit::backend::{Fake, Fault};
use ureq::http::Method;
use web::Options;

const FILE: &str = "/show?package=package0_1.0&path=src/%3Cscript%3E0.c&line=1";

fn site() -> Site {
    let mut options = Options::default();
    options.base_path = "/tools/code".parse().unwrap();
    Site::with_options(vec![Fake::new("one", shards(1, 2)).backend()], options)
}

fn addresses(page: &str) -> Vec<&str> {
    let attribute = |name| page.split(name).skip(1);
    let all = ["href=\"/", " action=\"/", " src=\"/"]
        .into_iter()
        .flat_map(attribute);
    all.map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn every_address_of_a_page_is_below_the_path() {
    let site = site();
    for path in [
        "/",
        "/search?q=arse",
        "/search?q=arse&group=package",
        FILE,
        "/nowhere",
        "/problems",
    ] {
        let page = site.get(&format!("/tools/code{path}")).text();
        let addresses = addresses(&page);
        assert!(addresses.len() > 3, "{path}: {page}");
        for address in addresses {
            assert!(address.starts_with("tools/code/"), "{path}: {address}");
            let answer = site.get(&format!("/{}", address.replace("&#38;", "&")));
            assert!(answer.status != 404, "{path}: {address}: {}", answer.status);
        }
    }
}

/// For scripts, and users of the JSON.
#[test]
fn addresses_of_the_api_in_pages_are_below_the_path() {
    let site = site();
    let mut found = BTreeSet::new();
    for path in [
        "/",
        "/search?q=arse",
        "/status",
        "/api",
        "/problems",
        "/skipped?package=package0_1.0",
    ] {
        let page = site.get(&format!("/tools/code{path}")).text();
        assert!(!page.contains("=\"/api/"), "{path}: {page}");
        for address in addresses(&page) {
            let Some(api) = address.strip_prefix("tools/code/api/") else {
                continue;
            };
            let answer = site.get(&format!("/{}", address.replace("&#38;", "&")));
            assert_eq!(answer.status, 200, "{path}: {address}");
            found.insert(api.split('?').next().unwrap().to_owned());
        }
    }
    let expected = [
        "openapi.json",
        "v2/complete",
        "v2/export",
        "v2/skipped",
        "v2/status",
    ];
    assert_eq!(Vec::from_iter(found), expected);
    let described: serde_json::Value = site.read("/tools/code/api/openapi.json");
    assert_eq!(described["servers"][0]["url"], "/tools/code");
    assert_eq!(described["info"]["title"], "Trawl");
}

#[test]
fn pages_below_the_path_are_compressed() {
    let dark = [("cookie", "trawl-theme=dark")];
    let page = site().send(Method::GET, "/tools/code/", &dark);
    assert_eq!(page.header("content-encoding"), "gzip");
    assert!(page.text().contains("data-theme=\"dark\""));
    assert!(page.text().trim_end().ends_with("</html>"));
}

#[test]
fn a_proxy_may_remove_the_path() {
    let site = site();
    let (kept, removed) = (site.get("/tools/code/problems"), site.get("/problems"));
    assert_eq!((kept.status, kept.text()), (200, removed.text()));
    assert_eq!(site.get("/healthz").status, 200);
    assert_eq!(site.get("/tools/code/api/v2/status").status, 200);
    assert_eq!(site.get("/tools/codes").status, 404);
    let itself = site.get_without_following("/tools/code?a=b");
    assert_eq!(
        (itself.status, itself.header("location")),
        (308, "/tools/code/?a=b")
    );
}

#[test]
fn the_matches_of_a_running_search_lead_below_the_path() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let mut options = Options::default();
    options.base_path = "/code".parse().unwrap();
    let site = Site::with_options(vec![fake.backend()], options);
    let page = site.get("/code/search?q=arse").text();
    assert!(page.contains("-href=\"/code/search"), "{page}");
    let start = "data-search-href=\"/code/api/v2/search/";
    assert!(page.contains(start), "{page}");
    fake.open_gate();
    let events = site.get("/code/api/v2/events?q=arse").text();
    assert!(events.contains("href=\\\"/code/show?"), "{events}");
    assert!(!events.contains("href=\\\"/show?"), "{events}");
}

#[test]
fn pages_have_the_colours_that_the_user_has_chosen() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let page = |cookie: &str| site.send(Method::GET, "/search?q=arse", &[("cookie", cookie)]);
    let dark = page("a=b; trawl-theme=dark");
    assert!(
        dark.text()
            .contains("<html lang=\"en\" data-theme=\"dark\">")
    );
    assert!(
        page("trawl-theme=light")
            .text()
            .contains("data-theme=\"light\"")
    );
    for other in ["trawl-theme=\"><script>", "trawl-theme=", "a=b"] {
        assert!(page(other).text().contains("<html lang=\"en\">"), "{other}");
    }
    assert_ne!(dark.header("etag"), page("a=b").header("etag"));
    assert_eq!(dark.header("etag"), page("trawl-theme=dark").header("etag"));
}
