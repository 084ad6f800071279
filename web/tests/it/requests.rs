//! Requests of programs.

use crate::shards;
use crate::site::{Answer, AsBackend, Site};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::{Value, json};
use testkit::backend::Fake;
use ureq::http::Method;
use web::Options;

const JSON: (&str, &str) = ("content-type", "application/json");

fn site() -> Site {
    Site::new(vec![Fake::new("one", shards(1, 2)).backend()])
}

fn check(answer: &Answer, status: u16, kind: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/problem+json");
    assert_eq!(answer.json()["type"], json!(format!("/problems/{kind}")));
    assert_eq!(answer.json()["status"], json!(status));
}

/// Changes a number in a cursor, and signs it without secrets.
fn forged(cursor: &str, at: usize, number: u64) -> String {
    let (route, rest) = cursor.split_at(8);
    let mut bytes = u32::from_str_radix(route, 16)
        .unwrap()
        .to_be_bytes()
        .to_vec();
    bytes.extend(BASE64.decode(rest).unwrap());
    bytes.truncate(bytes.len() - 16);
    bytes[4 + at..4 + at + 8].copy_from_slice(&number.to_le_bytes());
    let key = blake3::derive_key("trawl 2026-11 signed links", b"");
    bytes.extend(&blake3::keyed_hash(&key, &bytes).as_bytes()[..16]);
    format!("{route}{}", BASE64.encode(&bytes[4..]))
}

#[test]
fn forged_cursors_do_no_harm() {
    let site = site();
    for group in ["none", "package", "document"] {
        let page = site.search(&format!("arse&group={group}&per_page=2"));
        let next = page["next"].as_str().unwrap();
        let look = |at, number| {
            let cursor = forged(next, at, number);
            site.get(&format!("/api/v2/search?cursor={cursor}"))
        };
        let (generation, answer, offset) = (2, 10, 18);
        for at in [generation, answer] {
            check(&look(at, u64::MAX), 410, "gone");
        }
        for number in [u64::MAX, u64::MAX / 2, 1 << 32] {
            let page = look(offset, number);
            assert_eq!(page.status, 200, "{group} from {number}");
            let list = if group == "none" { "matches" } else { "groups" };
            assert_eq!(page.json()[list], json!([]), "{group} from {number}");
            assert_eq!(page.json()["next"], json!(null));
        }
    }
}

#[test]
fn cursors_page_through_one_answer() {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    let whole = site.get("/api/v2/search?q=arse&per_page=1000").json();
    let (mut page, mut found) = (
        site.get("/api/v2/search?q=arse&per_page=50").json(),
        Vec::new(),
    );
    loop {
        found.extend(page["matches"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        let query = if found.len() % 2 == 0 { "q=arse&" } else { "" };
        page = site
            .get(&format!("/api/v2/search?{query}cursor={next}&per_page=33"))
            .json();
    }
    assert_eq!(Value::from(found), whole["matches"]);
    let next = site.search("arse")["next"].as_str().unwrap().to_owned();
    let with = |more: &str| site.get(&format!("/api/v2/search?cursor={next}{more}"));
    assert_eq!(with("").json()["page"], json!(1));
    check(&with("&q=parse"), 400, "bad-request");
    check(&with("&page=2"), 400, "bad-request");
    check(&with("&group=package"), 400, "bad-request");
    check(
        &site.get("/api/v2/search?cursor=nonsense"),
        400,
        "bad-request",
    );
    // Another frontend lacks these documents.
    let other = Site::new(vec![Fake::new("other", shards(7, 1)).backend()]);
    let expired = other.get(&format!("/api/v2/search?cursor={next}"));
    check(&expired, 410, "gone");
    assert!(
        expired.json()["hint"]
            .as_str()
            .unwrap()
            .contains("search again")
    );
    check(
        &other.get(&format!("/api/v2/search?q=arse&cursor={next}")),
        410,
        "gone",
    );
}

#[test]
fn reads_long_queries_from_bodies() {
    let site = site();
    let body = json!({"q": "arse", "path": ["file", "-9"], "per_page": 3, "wait": true});
    let posted = site.post("/api/v2/search", &[JSON], body.to_string().as_bytes());
    let got = site.get("/api/v2/search?q=arse&path=file&path=-9&per_page=3");
    assert_eq!(posted.json()["matches"], got.json()["matches"]);
    assert_eq!(
        posted.json()["interpreted_as"],
        got.json()["interpreted_as"]
    );
    assert_eq!(
        posted.header("etag"),
        "",
        "the address does not identify the request"
    );
    let post =
        |kind: &str, body: &[u8]| site.post("/api/v2/search", &[("content-type", kind)], body);
    check(&post("text/plain", b"{}"), 415, "unsupported-media-type");
    check(&post("application/json", b"{"), 400, "bad-request");
    check(
        &post("application/json", br#"{"q": "x", "nonsense": 1}"#),
        400,
        "bad-request",
    );
    let long = format!(r#"{{"q": "{}"}}"#, "x".repeat(200 << 10));
    check(&post("application/json", long.as_bytes()), 413, "too-large");
    let both = site.post("/api/v2/search?q=x", &[JSON], b"{}");
    check(&both, 400, "bad-request");
}

#[test]
fn rejects_malformed_requests() {
    let site = site();
    let long = "x".repeat(40 << 10);
    check(
        &site.get(&format!("/api/v2/search?q={long}")),
        414,
        "long-address",
    );
    let headers = [("cookie", &long[..])];
    let heavy = site.send(Method::GET, "/api/v2/limits", &headers);
    check(&heavy, 431, "long-headers");
    let head = "GET /api/v2/search?q=arse HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
    let with_body = site.raw(format!("{head}content-length: 4\r\n\r\n{{}}{{}}").as_bytes());
    assert!(with_body.starts_with("HTTP/1.1 400"), "{with_body}");
    let empty = site.raw(format!("{head}content-length: 0\r\n\r\n").as_bytes());
    assert!(empty.starts_with("HTTP/1.1 200"), "{empty}");
    for escape in ["%", "%2", "%zz", "a%g0"] {
        let answer = site.raw(
            format!(
                "GET /api/v2/search?q={escape} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
            )
            .as_bytes(),
        );
        assert!(
            answer.starts_with("HTTP/1.1 400") && answer.contains("%25"),
            "{answer}"
        );
    }
    check(&site.get("/api/v2/search?q=%ff"), 400, "bad-query");
    check(&site.get("/api/v2/search?q=x&mode=%ff"), 400, "bad-query");
    check(&site.get("/api/v2/nowhere"), 404, "not-found");
    let put = site.send(Method::PUT, "/api/v2/limits", &[]);
    check(&put, 405, "method-not-allowed");
    assert_eq!(put.header("allow"), "GET,HEAD");
    let any = [("accept", "image/png")];
    assert_eq!(site.send(Method::GET, "/api/v2/limits", &any).status, 200);
    let page = site.get("/search?q=x&page=x").text();
    assert!(page.contains("Malformed request"), "{page}");
}

#[test]
fn rejects_ids_that_are_not_utf_8() {
    let site = site();
    for path in ["", "/events", "/facets", "/packages", "/export"] {
        let answer = site.get(&format!("/api/v2/search/%ff{path}"));
        check(&answer, 400, "bad-request");
    }
    let delete = site.send(Method::DELETE, "/api/v2/search/%ff", &[]);
    check(&delete, 400, "bad-request");
    for path in ["/problems/%ff", "/results/%ff/page_0", "/assets/0/%ff"] {
        let answer = site.get(path);
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.text().contains("</html>"), "{path}");
    }
    let missing = site.get("/assets/0/nothing.js");
    assert_eq!(missing.status, 404);
    assert!(missing.header("content-type").starts_with("text/html"));
}

#[test]
fn lists_all_limits() {
    let limits = site().get("/api/v2/limits").json();
    for (group, name, value) in [
        ("query", "bytes", 4096),
        ("query", "typed_bytes", 16_384),
        ("query", "atoms", 64),
        ("query", "depth", schema::message::DEPTH_MAX as u64),
        ("query", "regexp_nesting", 250),
        ("query", "context_lines", 10),
        ("query", "limit", 10_000),
        ("page", "per_page", 1000),
        ("page", "per_document", 5),
        ("request", "body_bytes", 128 << 10),
        ("request", "body_ms", 30_000),
        ("server", "running", 4),
    ] {
        assert_eq!(limits[group][name], json!(value), "{group}.{name}");
    }
}

#[test]
fn allows_cross_origin_reads_from_named_origins() {
    let origin = [("origin", "https://code.example")];
    let allowed = |site: &Site| {
        let answer = site.send(Method::GET, "/api/v2/limits", &origin);
        answer.header("access-control-allow-origin").to_owned()
    };
    assert_eq!(allowed(&site()), "");
    let named = |origins: &[&str]| {
        let fake = Fake::new("one", shards(1, 1));
        let origins = origins.iter().map(|&origin| origin.to_owned()).collect();
        Site::with_options(
            vec![fake.backend()],
            Options::new(origins, Vec::new()).unwrap(),
        )
    };
    assert_eq!(
        allowed(&named(&["https://code.example"])),
        "https://code.example"
    );
    assert_eq!(allowed(&named(&["https://other.example"])), "");
    let open = named(&["*"]);
    assert_eq!(allowed(&open), "*");
    let asks = [origin[0], ("access-control-request-method", "POST")];
    let asked = open.send(Method::OPTIONS, "/api/v2/search", &asks);
    assert_eq!(asked.status, 200);
    assert!(
        asked
            .header("access-control-allow-methods")
            .contains("POST")
    );
}

#[test]
fn exports_each_format() {
    let site = site();
    let all = site.get("/api/v2/search?q=arse&per_page=1000").json();
    let matches = all["matches"].as_array().unwrap();
    let csv = site.get("/api/v2/export?q=arse&format=csv");
    assert!(csv.header("content-type").starts_with("text/csv"));
    assert_eq!(csv.header("x-trawl-query"), "arse");
    // Some paths contain a line feed, which is quoted.
    let records = csv.text().matches("\r\n").count();
    assert_eq!(
        records,
        matches.len() + 1,
        "one line for each match, and the header"
    );
    assert!(csv.text().starts_with("package,path,line,lines,text,"));
    let expected: std::collections::HashSet<Vec<u8>> = crate::corpus()
        .into_iter()
        .map(|document| [&document.package[..], b"/", &document.path].concat())
        .collect();
    let paths = site
        .get("/api/v2/export?q=arse&format=paths&null=true")
        .body;
    let paths: Vec<_> = paths.split_inclusive(|&byte| byte == 0).collect();
    assert_eq!(paths.len(), expected.len());
    assert!(
        paths
            .iter()
            .all(|path| expected.contains(&path[..path.len() - 1]))
    );
    let id = all["id"].as_str().unwrap();
    let again = site.get(&format!(
        "/api/v2/search/{id}/export?format=paths&null=true"
    ));
    assert_eq!(again.body, paths.concat());
    let refused = [
        "format=xml",
        "null=true",
        "format=paths&want=count",
        "format=csv&null=true",
    ];
    for refused in refused {
        let answer = site.get(&format!("/api/v2/export?q=arse&{refused}"));
        assert_eq!(answer.status, 400, "{refused}");
    }
}

#[test]
fn explains_cost_without_a_search() {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    let page = site
        .get("/api/v2/explain?q=(arse+or+-/a.c/)+path:file")
        .json();
    assert_eq!(page["interpreted_as"], json!("(arse or -/a.c/) path:file"));
    let any = &page["expression"]["all"][0]["any"];
    assert_eq!(any[0]["pattern"]["text"], json!("arse"));
    assert_eq!(any[1]["not"]["pattern"]["syntax"], json!("regexp"));
    let filter = &page["expression"]["all"][1]["filter"];
    assert_eq!(
        (&filter["field"], &filter["text"]),
        (&json!("path"), &json!("file"))
    );
    let patterns = page["patterns"].as_array().unwrap();
    assert_eq!((patterns.len(), &patterns[0]["share"]), (2, &json!(0.75)));
    assert_eq!(page["cost"]["of"], json!(40));
    assert_eq!(page["cost"]["class"], json!("light"));
    let short = site.get("/api/v2/explain?q=if&mode=literal").json();
    let cheaper = short["cheaper"].as_array().unwrap();
    assert!(
        cheaper[0]
            .as_str()
            .unwrap()
            .contains("fewer than three bytes"),
        "{short}"
    );
}

#[test]
fn reports_notices_in_all_answers() {
    let site = site();
    let page = site.get("/api/v2/search?q=std::arse").json();
    let notices = page["notices"].as_array().unwrap();
    assert!(!notices.is_empty(), "{page}");
    assert_eq!(
        site.get("/api/v2/facets?q=std::arse").json()["notices"],
        page["notices"]
    );
    assert_eq!(
        site.get("/api/v2/explain?q=std::arse").json()["notices"],
        page["notices"]
    );
    let events = site.events("/api/v2/events?q=std::arse", "done");
    assert_eq!(events[0], ("notice".to_owned(), notices[0].clone()));
    let export = site.get("/api/v2/export?q=std::arse");
    assert!(!export.header("x-trawl-notice").is_empty());
    let shown = site.get("/search?q=std::arse").text();
    assert!(
        shown.contains("class=\"menu notices\"") && shown.contains("value=\"std::arse\""),
        "{shown}"
    );
    let words = site.get("/search?q=int+arse").text();
    assert!(
        words.contains("/search?q=int%20arse&#38;mode=literal"),
        "{words}"
    );
}

#[test]
fn a_request_id_is_accepted_if_it_is_a_token_and_sent_back() {
    let site = Site::new(vec![Fake::new("one", shards(1, 1)).backend()]);
    let id = |given: &str, path: &str| {
        let headers = [("x-request-id", given)];
        let answer = site.send(ureq::http::Method::GET, path, &headers);
        answer.header("x-request-id").to_owned()
    };
    for path in [
        "/api/v2/search?q=arse",
        "/search?q=arse",
        "/nowhere",
        "/api/v2/search?q=",
    ] {
        assert_eq!(id("7f3a.b-1", path), "7f3a.b-1", "{path}");
        let made = id("a line=\"of the log\"", path);
        assert!(
            made.len() == 16 && made.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{made}"
        );
    }
    let made = || site.get("/api/v2/limits").header("x-request-id").to_owned();
    assert_ne!(made(), made());
}
