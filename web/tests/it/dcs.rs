//! API and addresses of Debian Code Search: shapes, keys, errors, description.

mod contract;

use crate::shards;
use crate::site::{Answer, AsBackend, Site};
use contract::Contract;
use serde_json::{Value, json};
use testkit::backend::{Document, Fake, Fault};
use ureq::http::Method;
use web::Options;

fn document(package: &str, lines: &[&str]) -> Document {
    Document {
        package: package.into(),
        path: b"libi3/font.c".to_vec(),
        lines: lines.iter().map(|line| line.as_bytes().to_vec()).collect(),
        split: false,
    }
}

fn site(lines: &[&str]) -> Site {
    let documents = vec![document("i3-wm_4.5.1-2", lines)];
    Site::new(vec![Fake::new("one", vec![(1, documents)]).backend()])
}

fn with_keys(keys: &[&str]) -> Site {
    let fake = Fake::new("one", shards(1, 1));
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    Site::with_options(
        vec![fake.backend()],
        Options::new(Vec::new(), keys).unwrap(),
    )
}

fn ask(site: &Site, path: &str, headers: &[(&str, &str)]) -> Answer {
    site.send(Method::GET, path, headers)
}

#[test]
fn a_match_has_the_shape_that_clients_know() {
    let lines = [
        "",
        " *",
        "needle \"a\" & 'b' <c>",
        "",
        "\tfont.type = 1;",
        "not near",
    ];
    let site = site(&lines);
    let answer = site.get("/api/v1/search?query=needle&match_mode=literal");
    assert_eq!(
        answer.json(),
        json!([{
            "package": "i3-wm_4.5.1-2",
            "path": "i3-wm_4.5.1-2/libi3/font.c",
            "line": 3,
            "context_before": [" *"],
            "context": "needle &#34;a&#34; &amp; &#39;b&#39; &lt;c&gt;",
            "context_after": ["\tfont.type = 1;"],
        }])
    );
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("x-codesearch-complete"), "true");
    assert!(
        answer
            .header("x-codesearch-filestotal")
            .parse::<u64>()
            .is_ok()
    );
    let alone = self::site(&["", "needle", ""]);
    let alone = alone.get("/api/v1/search?query=needle").json();
    let keys: Vec<_> = alone[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["context", "line", "package", "path"]);
    let grouped = site.get("/api/v1/searchperpackage?query=needle").json();
    assert_eq!(grouped[0]["package"], json!("i3-wm"));
    assert_eq!(grouped[0]["results"][0]["line"], json!(3));
    let nothing = site.get("/api/v1/search?query=nowhere");
    assert_eq!((nothing.status, &nothing.body[..]), (200, &b"[]"[..]));
}

#[test]
fn lists_all_matches_best_first() {
    let fakes = [("a", 1), ("b", 2)].map(|(name, id)| Fake::new(name, shards(id, 1)));
    let site = Site::new(fakes.iter().map(AsBackend::backend).collect());
    let native = site
        .get("/api/v2/search?q=arse&mode=literal&per_page=1000")
        .json();
    let all = site
        .get("/api/v1/search?query=arse&match_mode=literal")
        .json();
    let all = all.as_array().unwrap();
    assert_eq!(native["total"], json!(all.len()));
    for (native, found) in native["matches"].as_array().unwrap().iter().zip(all) {
        assert_eq!(found["package"], native["package"]);
        assert_eq!(found["line"], native["line"]);
        let (package, path) = (&native["package"], native["path"].as_str().unwrap());
        let path = format!("{}/{path}", package.as_str().unwrap());
        assert_eq!(found["path"], json!(path));
    }
    let native = site
        .get("/api/v2/search?q=arse&mode=literal&group=package&per_page=1000")
        .json();
    let groups = site
        .get("/api/v1/searchperpackage?query=arse&match_mode=literal")
        .json();
    let groups = groups.as_array().unwrap();
    let natives = native["groups"].as_array().unwrap();
    assert_eq!(natives.len(), groups.len());
    for (native, group) in natives.iter().zip(groups) {
        let native_matches = native["matches"].as_array().unwrap();
        let results = group["results"].as_array().unwrap();
        assert_eq!(results.len(), native_matches.len());
        assert_eq!(results[0]["package"], native["package"]);
        let name = group["package"].as_str().unwrap();
        let directory = format!("{name}_1.");
        assert!(native["package"].as_str().unwrap().starts_with(&directory));
    }
}

#[test]
fn requires_a_key_if_there_are_any() {
    let site = with_keys(&["sesame", "other"]);
    let path = "/api/v1/search?query=arse";
    for key in [
        &[][..],
        &[("x-dcs-apikey", "Sesame")],
        &[("x-dcs-apikey", "")],
    ] {
        for path in [
            path,
            "/api/v1/searchperpackage?query=arse",
            "/api/v1/search",
        ] {
            let refused = ask(&site, path, key);
            assert_eq!(refused.status, 403);
            assert_eq!(refused.text(), "invalid x-dcs-apikey header\n");
            assert!(refused.header("content-type").starts_with("text/plain"));
        }
    }
    for key in ["sesame", "other"] {
        assert_eq!(ask(&site, path, &[("x-dcs-apikey", key)]).status, 200);
    }
    // Its keys do not affect our own API.
    assert_eq!(site.get("/api/v2/search?q=arse").status, 200);
}

fn check_preflight(site: &Site, path: &str) {
    let asks = ("access-control-request-method", "GET");
    let before = site.send(
        Method::OPTIONS,
        path,
        &[("origin", "https://example.org"), asks],
    );
    assert_eq!((before.status, before.body.len()), (204, 0), "{path}");
    assert_eq!(before.header("x-content-type-options"), "nosniff");
    for (name, value) in [
        ("allow", "OPTIONS, GET"),
        ("access-control-allow-origin", "https://example.org"),
        ("access-control-allow-methods", "OPTIONS, GET"),
        ("access-control-allow-headers", "x-dcs-apikey, Content-Type"),
        ("access-control-max-age", "86400"),
    ] {
        assert_eq!(before.header(name), value, "{name}");
    }
}

#[test]
fn pages_of_other_sites_may_ask_with_a_key() {
    let site = with_keys(&["sesame"]);
    let origin = ("origin", "https://example.org");
    check_preflight(&site, "/api/v1/search");
    let path = "/api/v1/search?query=arse";
    let allowed = ask(&site, path, &[origin, ("x-dcs-apikey", "sesame")]);
    assert_eq!(allowed.header("access-control-allow-origin"), origin.1);
    let exposed = allowed.header("access-control-expose-headers");
    assert!(exposed.contains("x-codesearch-filestotal"), "{exposed}");
    // Otherwise any page could read its visitor's private sources.
    let open = ask(&with_keys(&[]), path, &[origin]);
    assert_eq!(open.status, 200);
    assert_eq!(open.header("access-control-allow-origin"), "");
}

#[test]
fn pages_of_named_origins_may_ask() {
    let origin = ("origin", "https://example.org");
    for (keys, named) in [
        (&[][..], "https://example.org"),
        (&["sesame"], "https://example.org"),
        (&["sesame"], "https://other.example"),
        (&[], "*"),
    ] {
        let fake = Fake::new("one", shards(1, 1));
        let keys = keys.iter().map(|&key: &&str| key.to_owned()).collect();
        let options = Options::new(vec![named.to_owned()], keys).unwrap();
        let site = Site::with_options(vec![fake.backend()], options);
        for path in ["/api/v1/search", "/api/v1/searchperpackage"] {
            check_preflight(&site, path);
            let headers = [origin, ("x-dcs-apikey", "sesame")];
            let answer = ask(&site, &format!("{path}?query=arse"), &headers);
            assert_eq!(answer.status, 200);
            let allowed = answer.header("access-control-allow-origin");
            assert!(allowed == origin.1 || allowed == "*", "{named}: {allowed}");
            assert_ne!(answer.header("x-codesearch-filestotal"), "", "{named}");
            let exposed = answer.header("access-control-expose-headers");
            assert!(exposed.contains("x-codesearch-filestotal"), "{exposed}");
        }
        // The CORS layer answers other addresses.
        let native = site.send(Method::OPTIONS, "/api/v2/search", &[origin]);
        assert_eq!(native.status, 200);
        assert_ne!(
            site.send(Method::OPTIONS, "/api/v1/nowhere", &[]).status,
            204
        );
    }
}

#[test]
fn an_error_is_a_line_of_text() {
    let site = with_keys(&[]);
    for (query, says) in [
        ("", "no query parameter specified"),
        ("?query=", "no query parameter specified"),
        ("?match_mode=literal", "no query parameter specified"),
        ("?query=a%28", "Invalid query: "),
        ("?query=%ff", "query is not UTF-8"),
        ("?query=a&match_mode=glob", "match_mode=glob is neither"),
    ] {
        for path in ["/api/v1/search", "/api/v1/searchperpackage"] {
            let refused = site.get(&format!("{path}{query}"));
            assert_eq!(refused.status, 400, "{query}");
            assert!(refused.text().starts_with(says), "{}", refused.text());
            assert!(refused.header("content-type").starts_with("text/plain"));
        }
    }
    for fine in [
        "?query=a%28&match_mode=literal",
        "?query=a%28&literal=1",
        "?query=a&match_mode=regex&literal=1",
        "?query=a&unknown=1",
    ] {
        let path = format!("/api/v1/search{fine}");
        assert_eq!(site.get(&path).status, 200, "{fine}");
    }
}

#[test]
fn an_error_of_an_address_is_a_line_of_text() {
    let site = site(&["some needle here"]);
    for (path, status) in [
        ("/api/v1/search?query=%ff%00&x=%25", 400),
        ("/api/v1/nothing", 404),
        ("/api/v1/", 404),
    ] {
        let refused = ask(&site, path, &[]);
        assert_eq!(refused.status, status, "{path}");
        assert_eq!(refused.header("content-type"), "text/plain; charset=utf-8");
        assert_eq!(refused.text().lines().count(), 1, "{path}");
    }
    let head = "GET /api/v1/search?query=%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let broken = site.raw(head.as_bytes());
    assert!(broken.starts_with("HTTP/1.1 400"), "{broken}");
    assert!(
        broken.contains("text/plain") && broken.contains("write %25"),
        "{broken}"
    );
}

#[test]
fn an_incomplete_answer_says_so() {
    let good = Fake::new("good", shards(1, 1));
    let bad = Fake::with("bad", shards(2, 1), Fault::NoEnd);
    let site = Site::new(vec![good.backend(), bad.backend()]);
    let answer = site.get("/api/v1/search?query=arse");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-codesearch-complete"), "false");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert!(!answer.json().as_array().unwrap().is_empty());
}

#[test]
fn answers_fit_the_description() {
    let yaml = include_str!("../../src/dcs/openapi.yaml");
    let site = with_keys(&["sesame"]);
    let served = site.get("/openapi.yaml");
    assert_eq!(served.text(), yaml);
    let description = site.get("/openapi.json").json();
    assert_eq!(
        contract::leaves_of_yaml(yaml),
        contract::leaves(&description)
    );
    let contract = Contract(description);
    for path in ["/search", "/searchperpackage"] {
        for (query, key, status) in [
            ("query=arse&match_mode=literal", "sesame", 200),
            ("query=par.e", "sesame", 200),
            ("query=(", "sesame", 400),
            ("query=arse", "wrong", 403),
        ] {
            let path_and_query = format!("/api/v1{path}?{query}");
            let answer = ask(&site, &path_and_query, &[("x-dcs-apikey", key)]);
            assert_eq!(answer.status, status);
            contract.check(path, &answer);
        }
    }
}

#[test]
fn links_redirect_to_our_pages() {
    let site = with_keys(&[]);
    let location = |path: &str| {
        let answer = site.get_without_following(path);
        assert_eq!(answer.status, 302, "{path}");
        answer.header("location").to_owned()
    };
    for (path, expected) in [
        (
            "/show?file=i3-wm_4.18-1/libi3/a%20%26b.c&line=7",
            "/show?package=i3-wm_4.18-1&path=libi3/a%20%26b.c&line=7#L7",
        ),
        ("/show?file=/p_1/x", "/show?package=p_1&path=x"),
    ] {
        assert_eq!(location(path), expected);
    }
    assert_eq!(site.get_without_following("/show?file=x").status, 400);
    for (path, regexp, rest) in [
        ("/search?q=arse&literal=1&perpkg=1", false, "&group=package"),
        (
            "/search?q=ars.&literal=0&page=2",
            true,
            "&group=none&page=2",
        ),
        ("/search?q=ars.&perpkg=1&page=0", true, "&group=package"),
        ("/results/ars./page_0", true, ""),
        ("/results/ars./page_3", true, "&group=none&page=3"),
        (
            "/perpackage-results/ars./2/page_1",
            true,
            "&group=package&page=1",
        ),
    ] {
        let location = location(path);
        let rest_at = location.find('&').unwrap_or(location.len());
        let (query, found) = location.split_at(rest_at);
        assert_eq!(found, rest, "{path}");
        assert_eq!(
            query.contains("%2F") || query.contains("/ars./"),
            regexp,
            "{location}"
        );
    }
    for (path, status) in [
        ("/search?q=%28&literal=0", 400),
        ("/search?q=&literal=1", 400),
        ("/search?q=%ff&literal=1", 400),
        ("/results/0123456789abcdef/page_0.json", 404),
        ("/results/x/packages.txt", 404),
    ] {
        assert_eq!(site.get_without_following(path).status, status, "{path}");
    }
}

#[test]
fn a_redirected_query_finds_the_same() {
    let site = with_keys(&[]);
    for (query, literal) in [("arse", 1), ("par.e_[0-3]", 0), ("<b>", 1)] {
        let query: String = query.bytes().map(|b| format!("%{b:02x}")).collect();
        let api = format!("/api/v1/search?query={query}&literal={literal}");
        let link = format!("/search?q={query}&literal={literal}");
        let native = site.get_without_following(&link);
        let location = native.header("location").to_owned();
        let native = location.replacen("/search", "/api/v2/search", 1);
        let total = site.get(&native).json()["total"].clone();
        let found: Value = site.get(&api).json();
        assert_eq!(total, json!(found.as_array().unwrap().len()), "{location}");
    }
}
