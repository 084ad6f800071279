//! What requests are made of, each in a table: a byte of an input is a place in one.

pub(super) const REQUEST_END: u8 = 0xff;
pub(super) const PART_END: u8 = 0xfe;

/// All addresses, and some that are none. What stands for a part of one is `{}`.
pub(super) const ROUTES: &[&str] = &[
    "/api/v2/search",
    "/search",
    "/api/v2/search/{}",
    "/api/v2/search/{}/events",
    "/api/v2/events",
    "/api/v2/search/{}/facets",
    "/api/v2/search/{}/packages",
    "/api/v2/facets",
    "/api/v2/packages",
    "/api/v2/search/{}/export",
    "/api/v2/export",
    "/api/v2/explain",
    "/api/v2/file",
    "/api/v2/index/packages",
    "/api/v2/tree",
    "/api/v2/skipped",
    "/api/v2/status",
    "/api/v2/limits",
    "/api/v1/search",
    "/api/v1/searchperpackage",
    "/show",
    "/results/{}/{}",
    "/perpackage-results/{}/2/{}",
    "/problems/{}",
    "/assets/{}",
    "/",
    "/problems",
    "/healthz",
    "/metrics",
    "/openapi.yaml",
    "/openapi.json",
    "/api/openapi.json",
    "/api/v2/{}",
    "/api/v1/{}",
    "/{}",
    "//{}/../search",
];

/// Most requests are of the first kind.
pub(super) const METHODS: [&str; 10] = [
    "GET", "GET", "GET", "GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "BREW",
];

pub(super) const HEADERS: [&str; 9] = [
    "if-none-match",
    "accept-encoding",
    "content-type",
    "content-length",
    "origin",
    "accept",
    "x-dcs-apikey",
    "cookie",
    "range",
];

/// What the addresses have, and one that none has.
pub(super) const PARAMETERS: &[&str] = &[
    "q",
    "mode",
    "case",
    "word",
    "lang",
    "package",
    "path",
    "ext",
    "context",
    "want",
    "limit",
    "timeout",
    "generation",
    "page",
    "per_page",
    "group",
    "per_package",
    "per_document",
    "wait",
    "explain",
    "cursor",
    "format",
    "null",
    "after",
    "count",
    "prefix",
    "run",
    "line",
    "first",
    "offset",
    "file",
    "literal",
    "perpkg",
    "query",
    "match_mode",
    "qq",
];

/// Parts that are neither headers nor parameters: of the address behind `?`, as they are; of a path;
/// and a body.
pub(super) const OTHERS: [&str; 3] = ["?", "{}", "body"];

/// A request as bytes, from the names of what is in it.
pub(super) fn ask(method: &str, route: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let of = |name: &str, names: &[&str]| {
        let at = names.iter().position(|&known| known == name);
        at.unwrap_or_else(|| panic!("there is no {name}")) as u8
    };
    let kinds = [&OTHERS[..], &HEADERS, PARAMETERS].concat();
    let mut out = vec![of(route, ROUTES), of(method, &METHODS)];
    for (name, held) in parts {
        out.extend_from_slice(&[PART_END, of(name, &kinds)]);
        out.extend_from_slice(held.as_bytes());
    }
    out
}

/// Requests as an input.
pub(super) fn input(requests: &[Vec<u8>]) -> Vec<u8> {
    requests.join(&REQUEST_END)
}
