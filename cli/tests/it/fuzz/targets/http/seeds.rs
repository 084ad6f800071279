//! Requests that people and programs make, a few of every kind.

use super::names::{ask, input};

/// Inputs whose last request has an answer.
pub(in super::super) fn seeds() -> Vec<Vec<u8>> {
    let inputs = [searches(), pages(), of_a_search(), index(), compatible()];
    inputs.concat()
}

fn get(route: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    ask("GET", route, parts)
}

fn searches() -> Vec<Vec<u8>> {
    let search = "/api/v2/search";
    vec![
        get(
            search,
            &[
                ("q", "needle -import path:*.c"),
                ("context", "2"),
                ("explain", "true"),
            ],
        ),
        get(
            search,
            &[
                ("q", "(main|needle).*\\n"),
                ("mode", "regexp"),
                ("case", "no"),
                ("lang", "c"),
                ("lang", "python"),
                ("package", "=alpha"),
            ],
        ),
        get(
            search,
            &[
                ("q", "needle(1)"),
                ("mode", "literal"),
                ("word", "yes"),
                ("want", "documents"),
                ("limit", "3"),
                ("timeout", "500ms"),
            ],
        ),
        ask(
            "POST",
            search,
            &[("q", "needle"), ("path", "-^src/"), ("per_page", "3")],
        ),
        ask(
            "POST",
            search,
            &[(
                "body",
                r#"{"q": "x or needle", "wait": false, "lang": ["C", "-go"]}"#,
            )],
        ),
        ask("HEAD", search, &[("?", "q=needle+%22x%22&page=0")]),
        get(
            "/api/v2/explain",
            &[("q", "(needle or /a.*b/) lang:c word:no")],
        ),
        get(
            "/api/v2/facets",
            &[("q", "needle"), ("accept-encoding", "gzip")],
        ),
        get("/api/v2/packages", &[("q", "needle"), ("format", "text")]),
        get("/api/v2/events", &[("q", "needle"), ("limit", "5")]),
        get(
            "/api/v2/export",
            &[("q", "needle"), ("format", "paths"), ("null", "true")],
        ),
        get("/api/v2/export", &[("q", "needle"), ("format", "csv")]),
    ]
}

fn pages() -> Vec<Vec<u8>> {
    let script = "<script>alert(1)</script>";
    vec![
        get("/search", &[("q", script), ("mode", "literal")]),
        get(
            "/search",
            &[("q", "\"<script>alert(\" needle"), ("group", "package")],
        ),
        get(
            "/search",
            &[
                ("q", "needle"),
                ("group", "document"),
                ("page", "1"),
                ("per_page", "2"),
                ("per_document", "3"),
            ],
        ),
        get(
            "/show",
            &[
                ("package", "delta_4"),
                ("path", "many.c"),
                ("line", "150"),
                ("first", "20"),
            ],
        ),
        get(
            "/show",
            &[
                ("package", "alpha_1.0-1"),
                ("path", "web/<script>alert(2)<.html"),
            ],
        ),
        get("/", &[]),
        get("/problems/{}", &[("{}", "bad-query")]),
        get("/assets/{}", &[("{}", "app.js")]),
        get("/metrics", &[]),
    ]
}

/// A search, and what there is by its id.
fn of_a_search() -> Vec<Vec<u8>> {
    let first = || get("/api/v2/search", &[("q", "needle"), ("per_page", "7")]);
    let again = [
        get("/api/v2/search", &[("cursor", "NEXT"), ("per_page", "7")]),
        get(
            "/api/v2/search",
            &[("q", "main"), ("generation", "GENERATION")],
        ),
        get(
            "/api/v2/search/{}",
            &[("{}", "ID"), ("group", "package"), ("per_package", "2")],
        ),
        get("/api/v2/search/{}/facets", &[("{}", "ID")]),
        get("/api/v2/search/{}/packages", &[("{}", "ID")]),
        get("/api/v2/search/{}/export", &[("format", "text")]),
        get("/api/v2/search/{}/events", &[]),
        get("/search", &[("q", "needle"), ("run", "ID")]),
        ask("DELETE", "/api/v2/search/{}", &[]),
    ];
    again.map(|again| input(&[first(), again])).into()
}

fn index() -> Vec<Vec<u8>> {
    let file = [("package", "alpha_1.0-1"), ("path", "src/main.c")];
    vec![
        get(
            "/api/v2/file",
            &[&file[..], &[("offset", "4"), ("count", "9")]].concat(),
        ),
        input(&[
            get("/api/v2/index/packages", &[("prefix", "a"), ("count", "1")]),
            get(
                "/api/v2/index/packages",
                &[("prefix", "a"), ("after", "NEXT")],
            ),
        ]),
        get("/api/v2/tree", &[("package", "alpha"), ("path", "src")]),
        get(
            "/api/v2/skipped",
            &[("package", "alpha_1.0-1"), ("path", "x.bin")],
        ),
        get(
            "/api/v2/skipped",
            &[("package", "alpha_1.0"), ("path", "src/mian.c")],
        ),
        get("/api/v2/skipped", &[("count", "2")]),
        get("/api/v2/status", &[]),
    ]
}

/// What clients of Debian Code Search ask for.
fn compatible() -> Vec<Vec<u8>> {
    let query = ("query", "needle package:alpha -path:x");
    vec![
        get(
            "/api/v1/search",
            &[
                query,
                ("match_mode", "regexp"),
                ("origin", "http://a.example"),
            ],
        ),
        get(
            "/api/v1/searchperpackage",
            &[query, ("match_mode", "literal")],
        ),
        ask("OPTIONS", "/api/v1/search", &[("x-dcs-apikey", "key")]),
        get(
            "/search",
            &[("q", "needle path:a"), ("literal", "1"), ("perpkg", "1")],
        ),
        get(
            "/show",
            &[("file", "alpha_1.0-1/src/main.c"), ("line", "2")],
        ),
        get("/results/{}/{}", &[("{}", "needle"), ("{}", "page_1")]),
        get(
            "/perpackage-results/{}/2/{}",
            &[("{}", "i3.*x"), ("{}", "page_0")],
        ),
        get("/openapi.json", &[]),
    ]
}
