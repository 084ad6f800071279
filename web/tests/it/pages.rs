//! HTML pages, and errors for malformed requests.

use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use serde_json::json;
use testkit::backend::{Document, Fake, Fault};

fn site() -> Site {
    Site::new(vec![Fake::new("one", shards(1, 2)).backend()])
}

#[test]
fn escapes_hostile_text() {
    let site = site();
    let q = "%3Cscript%3Ealert(1)%3C/script%3E";
    let pages = [
        "/search?q=arse&per_page=1000".to_owned(),
        "/search?q=arse&per_page=1000&group=package".to_owned(),
        format!("/search?q={q}&per_page=1000"),
        format!("/search?q={q}(&mode=regexp"),
        format!("/search?q={q}&page=x{q}"),
        format!("/show?package={q}&path={q}"),
        "/show?package=package0_1.0&path=src/%3Cscript%3E0.c&line=1&q=arse".to_owned(),
        "/p/package0_1.0/src/".to_owned(),
        format!("/p/{q}/{q}/"),
        format!("/packages?prefix={q}"),
        format!("/{q}"),
    ];
    for path in pages {
        let page = site.get(&path).text();
        let own = page
            .matches("<script type=\"module\" src=\"/assets/")
            .count();
        assert_eq!(
            (own, page.matches("<script").count()),
            (1, 1),
            "{path}: {page}"
        );
        for hostile in ["<b>arse", "\x1b", "\u{202e}", "onerror="] {
            assert!(!page.contains(hostile), "{hostile:?} in {path}");
        }
    }
}

#[test]
fn every_response_has_security_headers() {
    let site = site();
    for path in [
        "/",
        "/search?q=arse",
        "/api/v2/search?q=arse",
        "/nowhere",
        "/metrics",
    ] {
        let answer = site.get(path);
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert!(
            answer
                .header("content-security-policy")
                .starts_with("default-src 'none'")
        );
    }
}

#[test]
fn marks_matches_and_links_pages() {
    let site = site();
    let page = site.get("/search?q=arse&group=none").text();
    assert!(page.contains("<title>arse · Trawl</title>"));
    assert!(page.contains("<mark>arse</mark>"));
    assert!(page.contains("157</b> matches in"), "{page}");
    assert!(page.contains("page 1 of 16"), "{page}");
    assert!(page.contains("/search?q=arse&#38;group=none&#38;page=15"));
    let grouped = site.get("/search?q=arse&group=package").text();
    assert!(grouped.contains("page 1 of 8") && grouped.contains("more in this package"));
    let nothing = site.get("/search?q=nowhere").text();
    assert!(nothing.contains("Nothing matches"));
}

#[test]
fn pages_keep_whole_words() {
    let site = site();
    let box_of = |page: &str| page.contains("value=\"yes\" checked>Whole words");
    let page = site.get("/search?q=arse&word=yes").text();
    assert!(box_of(&page), "{page}");
    assert!(
        page.contains("/search?q=arse&#38;word=yes&#38;page=1"),
        "{page}"
    );
    assert!(!box_of(&site.get("/search?q=arse&word=no").text()));
    let bad = site.get("/search?q=arse&word=maybe");
    assert_eq!(bad.status, 400);
    assert!(bad.text().contains("yes or no"), "{}", bad.text());
    let understood = |more: &str| {
        let page = site.get(&format!("/api/v2/search?q=arse{more}")).json();
        page["interpreted_as"].as_str().unwrap().to_owned()
    };
    assert_eq!(understood("&word=no"), understood(""));
    let words = understood("&word=yes");
    assert!(words.contains("word:yes"), "{words}");
    assert_eq!(understood("+word:yes"), words);
    assert_eq!(
        understood("+word:no&word=yes"),
        understood(""),
        "the query has precedence"
    );
}

#[test]
fn a_page_past_the_end_names_the_last() {
    let site = site();
    let answer = site.get("/api/v2/search?q=arse&page=16");
    assert_eq!(
        (answer.status, &answer.json()["last_page"]),
        (404, &json!(15))
    );
    let page = site.get("/search?q=arse&group=none&page=16");
    assert_eq!(page.status, 404);
    let last = "/search?q=arse&#38;group=none&#38;page=15";
    assert!(page.text().contains(last));
    assert_eq!(site.get("/api/v2/search?q=arse&page=15").status, 200);
}

#[test]
fn rejects_malformed_requests_with_a_reason() {
    let site = site();
    let check = |path: &str, status: u16, word: &str| {
        let answer = site.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(
            answer.header("content-type"),
            "application/problem+json",
            "{path}"
        );
        assert!(answer.text().contains(word), "{path}: {}", answer.text());
    };
    check("/api/v2/search", 400, "the query is empty");
    check("/api/v2/search?q=", 400, "the query is empty");
    check("/api/v2/search?q=(&mode=regexp", 400, "\"at\":0");
    check("/api/v2/search?q=x&mode=fuzzy", 400, "literal or regexp");
    check(
        "/api/v2/search?q=x&limit=10001",
        400,
        "the maximum is 10000",
    );
    check("/api/v2/search?q=x&timeout=301", 400, "the limit is 300 s");
    check("/api/v2/events?q=x&timeout=soon", 400, "not a time");
    check("/api/v2/search?q=x&want=files", 400, "documents or count");
    check(
        "/api/v2/export?q=x&want=count&limit=1",
        400,
        "cannot have a limit",
    );
    check("/api/v2/search?q=x&case=maybe", 400, "yes, no or auto");
    check("/api/v2/search?q=x&page=-1", 400, "page=-1 is not a number");
    check("/api/v2/search?q=x&per_page=0", 400, "expected 1 to 1000");
    check(
        "/api/v2/search?q=x&perpage=5",
        400,
        "did you mean per_page?",
    );
    check(
        "/api/v2/search?q=x&group=file",
        400,
        "expected none, package or document",
    );
    check("/api/v2/search?q=%ff", 400, "not UTF-8");
    check("/api/v2/nowhere", 404, "no such address");
    check("/api/v2/file?package=p", 400, "path is missing");
    check(
        "/api/v2/file?package=p&path=q",
        404,
        "no package p is indexed",
    );
    let long = "x".repeat(4097);
    check(
        &format!("/api/v2/search?q={long}"),
        400,
        "the limit is 4096",
    );
    for empty in ["/search", "/search?q=", "/search?q=+&mode=literal"] {
        let answer = site.get_without_following(empty);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, "/"),
            "{empty}"
        );
    }
    let page = site.get("/search?q=ab%5Bc&mode=regexp");
    assert_eq!(page.status, 400);
    assert!(page.text().contains("ab[c\n  ^"), "{}", page.text());
    assert!(
        page.text().contains("value=\"ab[c\""),
        "the form keeps the query"
    );
}

#[test]
fn shows_a_file_at_a_line() {
    let site = site();
    let page = site.get("/show?package=package2_1.2&path=src/file2.c&line=2");
    assert_eq!(page.status, 200);
    assert!(
        page.text().contains("class=\"line hit\" id=\"L2\""),
        "{}",
        page.text()
    );
    let odd = "/show?package=package1_1.1&path=src/%ff%0a%221&line=1";
    assert_eq!(site.get(odd).status, 200, "a path that is not text");
    assert_eq!(site.get("/show?package=p&path=q").status, 404);
    assert_eq!(
        site.get("/show?package=package2_1.2&path=src/file2.c&line=99")
            .status,
        404
    );
    let raw = site.get("/api/v2/file?package=package2_1.2&path=src/file2.c&offset=1&count=3");
    assert_eq!(raw.header("content-type"), "application/octet-stream");
    assert_eq!(raw.body.len(), 3);
}

#[test]
fn an_unreachable_backend_may_have_the_file() {
    let (here, away) = (Fake::new("here", shards(1, 1)), Fake::new("away", vec![]));
    away.set_down(true);
    let site = Site::new(vec![here.backend(), away.backend()]);
    let answer = site.get("/api/v2/file?package=p&path=q");
    assert_eq!(answer.status, 503);
    assert!(
        answer
            .text()
            .contains("away (the backend failed: connection refused)")
    );
}

#[test]
fn a_page_without_scripts_reloads_until_the_end() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let page = site.get("/search?q=arse").text();
    assert!(
        page.contains("<noscript><meta http-equiv=\"refresh\" content=\"1; url=/search?q=arse")
    );
    assert!(
        page.contains("id=\"stop\" type=\"button\" hidden"),
        "needs a script"
    );
    assert!(
        page.contains("Matches so far") && page.contains("<mark>arse</mark>"),
        "{page}"
    );
    fake.open_gate();
    let page = site.get("/search?q=arse").text();
    assert!(!page.contains("http-equiv") && page.contains("page 1 of 4"));
}

#[test]
fn serves_status_and_assets() {
    let site = site();
    assert_eq!(site.get("/assets/nothing").status, 404);
    assert!(site.get("/").text().contains("id=\"q\""));
    site.search("arse");
    assert_eq!(site.get("/healthz").json()["status"], json!("ok"));
    assert_eq!(site.get("/readyz").json()["status"], json!("ok"));
    assert_eq!(site.get("/metrics").status, 200);
    assert!(site.get("/robots.txt").text().contains("Disallow: /\n"));
}

fn assets(page: &str) -> Vec<&str> {
    let parts = page.split("=\"/assets/").skip(1);
    parts.map(|part| part.split('"').next().unwrap()).collect()
}

#[test]
fn assets_are_kept_forever_below_a_hash_of_all() {
    let site = site();
    let page = site.get("/").text();
    for asset in assets(&page) {
        let answer = site.get(&format!("/assets/{asset}"));
        let cache = answer.header("cache-control");
        assert!(cache.contains("immutable"), "{asset}: {cache}");
    }
    let (version, _) = assets(&page)[0].split_once('/').unwrap();
    let style = site.get(&format!("/assets/{version}/style.css"));
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    let script = site.get(&format!("/assets/{version}/keys.js"));
    assert_eq!(
        script.header("content-type"),
        "text/javascript; charset=utf-8"
    );
    let older = site.get("/assets/0123456789abcdef/keys.js");
    assert_eq!(older.header("cache-control"), "no-store");
    for missing in [
        "/assets/0/../Cargo.toml",
        "/assets/0/base.css",
        "/assets/keys.js",
    ] {
        assert_eq!(site.get(missing).status, 404, "{missing}");
    }
}

#[test]
fn every_page_has_landmarks_and_one_title() {
    let site = site();
    for path in [
        "/",
        "/search?q=arse",
        "/search?q=arse&group=package",
        "/search?q=arse&group=document",
        "/search?q=nowhere",
        "/search?q=%28&mode=regexp",
        "/show?package=package0_1.0&path=src/%3Cscript%3E0.c&line=1",
        "/packages",
        "/p/package0_1.0/",
        "/p/package0_1.0/src/",
        "/nowhere",
        "/problems",
        "/problems/bad-query",
        "/help",
        "/api",
        "/status",
    ] {
        let page = site.get(path).text();
        let count = |part| page.matches(part).count();
        assert_eq!((count("<h1"), count("<main")), (1, 1), "{path}: {page}");
        assert!(page.contains("href=\"#main\"") && page.contains("id=\"main\""));
        let navigations = page.split("<nav").skip(1);
        for navigation in navigations.map(|rest| rest.split('>').next().unwrap()) {
            assert!(
                navigation.contains(" aria-label=\""),
                "{path}: {navigation}"
            );
        }
    }
}

#[test]
fn the_reference_describes_every_operation_of_the_api() {
    let site = site();
    let page = site.get("/api").text();
    let document = site.get("/api/openapi.json").json();
    for (path, operations) in document["paths"].as_object().unwrap() {
        assert!(page.contains(path), "{path}");
        for operation in operations.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        }
    }
    assert!(page.contains("keyword | literal | regexp"), "{page}");
}

#[test]
fn the_status_shows_queries_by_what_they_looked_up() {
    let site = site();
    site.search("arse");
    // A query counts once its answer has been sent.
    crate::site::eventually("the query counts", || {
        let page = site.get("/status").text();
        page.contains("<dt>Queries that ran</dt><dd>1</dd>")
    });
    let page = site.get("/status").text();
    let shown = page.split("<h1").nth(1).unwrap();
    assert!(
        shown.contains("Half took at most") && !shown.contains("arse"),
        "{page}"
    );
    site.get("/readyz");
    assert!(
        site.get("/status").text().contains("ran</dt><dd>1</dd>"),
        "a probe counts"
    );
}

#[test]
fn browsers_find_the_search_engine_and_the_icon() {
    let site = site();
    let description = site.get("/opensearch.xml");
    let kind = description.header("content-type");
    assert!(
        kind.starts_with("application/opensearchdescription+xml"),
        "{kind}"
    );
    let text = description.text();
    assert!(text.contains("template=\"http://127.0.0.1:"), "{text}");
    assert!(text.contains("/search?q={searchTerms}\""), "{text}");
    let icon = site.get("/favicon.ico");
    assert_eq!(
        (icon.status, icon.header("content-type")),
        (200, "image/svg+xml")
    );
}

#[test]
fn pages_let_one_policy_make_markup() {
    let policy = site().get("/").header("content-security-policy").to_owned();
    assert!(policy.contains("require-trusted-types-for 'script'; trusted-types trawl"));
    assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"));
}

#[test]
fn a_line_within_a_comment_looks_like_one_on_a_page_of_results() {
    let mut lines = vec![b"/* begins".to_vec()];
    lines.resize(20, b"if".to_vec());
    lines.extend([b"an arse".to_vec(), b"*/".to_vec()]);
    let document = Document {
        package: b"p_1".to_vec(),
        path: b"a.c".to_vec(),
        lines,
        split: false,
    };
    let fake = Fake::new("one", vec![(1, vec![document])]);
    let site = Site::new(vec![fake.backend()]);
    let line = "<span class=\"c-c\">an </span><mark><span class=\"c-c\">arse</span></mark>";
    for group in ["document", "none", "package"] {
        // Pages do not wait long for colours.
        eventually(&format!("a comment's colour, by {group}"), || {
            let page = site.get(&format!("/search?q=arse&group={group}")).text();
            page.contains(line)
        });
    }
}
