//! Compressed answers have the same content and end.

use crate::shards;
use crate::site::{Answer, AsBackend, Site};
use testkit::backend::{Document, Fake};
use ureq::http::Method;

const PLAIN: (&str, &str) = ("accept-encoding", "identity");

fn numbered(count: usize) -> Document {
    let line = |number: usize| format!("text {number}").into_bytes();
    Document {
        package: b"p_1".to_vec(),
        path: format!("{count}.c").into_bytes(),
        lines: (1..=count).map(line).collect(),
        split: false,
    }
}

fn both(site: &Site, method: &Method, path: &str, headers: &[(&str, &str)]) -> [Answer; 2] {
    let plain = [&[PLAIN], headers].concat();
    [headers, &plain].map(|headers| site.send(method.clone(), path, headers))
}

/// Times and ids differ, and consist of digits.
fn without_digits(answer: &Answer) -> String {
    let text = answer.text();
    text.chars().filter(|it| !it.is_ascii_hexdigit()).collect()
}

#[test]
fn a_file_of_5000_to_16500_lines_is_whole_when_compressed() {
    let counts = [200, 4999, 5000, 5001, 9000, 16_500, 20_000, 20_001];
    let documents = counts.map(numbered).to_vec();
    let site = Site::new(vec![Fake::new("one", vec![(1, documents)]).backend()]);
    for count in counts {
        let path = format!("/show?package=p_1&path={count}.c");
        let [page, plain] = both(&site, &Method::GET, &path, &[]);
        assert_eq!(page.header("content-encoding"), "gzip", "{count}");
        assert_eq!(plain.header("content-encoding"), "", "{count}");
        assert!(page.body == plain.body, "{count}");
        let shown = if count > 20_000 { 5000 } else { count };
        assert_eq!(page.text().matches(" id=\"L").count(), shown, "{count}");
        assert!(page.text().trim_end().ends_with("</html>"), "{count}");
    }
}

#[test]
fn every_answer_is_the_same_when_compressed() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let id = site.search("arse")["id"].as_str().unwrap().to_owned();
    for path in [
        "/",
        "/help",
        "/api",
        "/status",
        "/packages",
        "/problems",
        "/nowhere",
        "/skipped",
        "/search?q=arse",
        "/search?q=arse&group=package",
        "/search?q=%28&mode=regexp",
        "/search/facets?q=arse",
        "/show?package=package2_1.2&path=src/file2.c",
        "/p/package2_1.2/",
        "/raw/p/package2_1.2/src/file2.c",
        "/opensearch.xml",
        "/api/openapi.json",
        "/api/v2/search?q=arse",
        "/api/v2/search?q=%28&mode=regexp",
        &format!("/api/v2/search/{id}/packages"),
        "/api/v2/export?q=arse",
        "/api/v2/export?q=arse&format=csv",
        "/api/v2/export?q=arse&format=text&order=found",
        "/api/v2/file?package=package2_1.2&path=src/file2.c",
        "/api/v2/complete?q=pack&at=4",
        "/api/v1/search?query=arse",
        "/metrics",
    ] {
        let [browser, plain] = both(&site, &Method::GET, path, &[]);
        assert_eq!(browser.status, plain.status, "{path}");
        let is_compressed = browser.header("content-encoding") == "gzip";
        assert!(
            is_compressed || plain.body.len() < 32 || path.starts_with("/raw"),
            "{path}"
        );
        let vary = |(name, value): &(String, String)| {
            name == "vary" && value.eq_ignore_ascii_case("accept-encoding")
        };
        assert_eq!(browser.headers.iter().any(vary), is_compressed, "{path}");
        if path != "/metrics" && path != "/status" {
            assert_eq!(without_digits(&browser), without_digits(&plain), "{path}");
        }
        for head in both(&site, &Method::HEAD, path, &[]) {
            assert_eq!(
                (head.status, head.body.len()),
                (browser.status, 0),
                "{path}"
            );
        }
    }
}

#[test]
fn conditional_and_partial_answers_are_not_compressed() {
    let site = Site::new(vec![
        Fake::new("one", vec![(1, vec![numbered(300)])]).backend(),
    ]);
    let raw = "/raw/p/p_1/300.c";
    let [whole, plain] = both(&site, &Method::GET, raw, &[]);
    assert_eq!(whole.body, plain.body);
    let tag = whole.header("etag");
    assert!(
        tag.starts_with('"'),
        "the tag of the bytes as they are: {tag}"
    );
    for known in both(&site, &Method::GET, raw, &[("if-none-match", tag)]) {
        assert_eq!((known.status, known.body.len()), (304, 0));
    }
    for range in ["bytes=5-99", "bytes=0-", "bytes=0-9,100-109"] {
        let [part, plain] = both(&site, &Method::GET, raw, &[("range", range)]);
        assert_eq!((part.status, part.header("content-encoding")), (206, ""));
        assert_eq!(part.body, plain.body, "{range}");
    }
    let search = "/api/v2/search?q=text";
    let tag = site.get(search).header("etag").to_owned();
    for known in both(&site, &Method::GET, search, &[("if-none-match", &tag)]) {
        assert_eq!((known.status, known.body.len()), (304, 0));
    }
}
