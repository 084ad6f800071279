//! Methods, routes, headers and parameters, indexed by input bytes.

/// Separates requests. Never occurs in UTF-8.
pub(crate) const REQUEST_END: u8 = 0xff;

/// Separates parts. Never occurs in UTF-8.
pub(crate) const PART_END: u8 = 0xfe;

/// Includes unknown ones. `{}` is a variable part.
pub(crate) const ROUTES: &[&str] = &[
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
    "/api/v2/outline",
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
    "/assets/{}/{}",
    "/",
    "/problems",
    "/help",
    "/api",
    "/status",
    "/opensearch.xml",
    "/favicon.ico",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.yaml",
    "/openapi.json",
    "/api/openapi.json",
    "/api/v2/{}",
    "/api/v1/{}",
    "/{}",
    "//{}/../search",
    "/api/v2/commit",
    "/api/v2/commits",
    "/api/v2/log",
    "/api/v2/blame",
    "/api/v2/changes",
    "/api/v2/diff",
    "/diff",
    "/commit",
    "/log",
    "/api/v2/refs",
    "/api/v2/copies",
    "/api/v2/search/{}/copies",
    "/raw/p/{}",
    "/raw/g/{}",
    "/p/{}",
    "/packages",
    "/search/facets",
    "/api/v2/complete",
    "/search/events",
    "/skipped",
    "/api/v2/symbols",
    "/api/v2/definitions",
    "/api/v2/references",
    "/api/v3/search/code",
    "/repos/{}/{}/contents/{}",
    "/repos/{}/{}/commits",
    "/repos/{}/{}/git/trees/{}",
    "/repos/{}/{}/git/ref/{}",
    "/{}/{}/blob/main/{}",
    "/api/graphql",
    "/.api/search/stream",
    "/.api/graphql",
    "/api/search",
    "/api/list",
    "/print",
];

/// Mostly the first.
pub(crate) const METHODS: [&str; 10] = [
    "GET", "GET", "GET", "GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "BREW",
];

/// Headers read by some route.
pub(crate) const HEADERS: [&str; 11] = [
    "if-none-match",
    "accept-encoding",
    "content-type",
    "content-length",
    "origin",
    "accept",
    "x-dcs-apikey",
    "cookie",
    "range",
    "if-match",
    "if-range",
];

/// One is unknown.
pub(crate) const PARAMETERS: &[&str] = &[
    "q",
    "mode",
    "case",
    "word",
    "exact",
    "lang",
    "kind",
    "rev",
    "branch",
    "package",
    "path",
    "ext",
    "context",
    "want",
    "limit",
    "total",
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
    "repo",
    "position",
    "copies",
    "hash",
    "blame",
    "at",
    "from",
    "column",
    "name",
    "ref",
    "sha",
    "recursive",
    "cm",
    "cl",
    "t",
    "v",
    "display",
    "patternType",
    "r",
    "f",
    "b",
    "num",
    "ctx",
];

/// Raw query string, variable path part, and body.
pub(crate) const OTHERS: [&str; 3] = ["?", "{}", "body"];

pub(crate) fn encode<'a>(
    method: &str,
    route: &str,
    parts: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<u8> {
    let index = |name: &str, names: &[&str]| {
        let index = names.iter().position(|&known| known == name);
        index.unwrap_or_else(|| panic!("no table has `{name}`")) as u8
    };
    let kinds = [&OTHERS[..], &HEADERS, PARAMETERS].concat();
    let mut out = vec![index(route, ROUTES), index(method, &METHODS)];
    for (name, value) in parts {
        out.extend_from_slice(&[PART_END, index(name, &kinds)]);
        out.extend_from_slice(value.as_bytes());
    }
    out
}

pub(crate) fn join(requests: &[Vec<u8>]) -> Vec<u8> {
    requests.join(&REQUEST_END)
}
