//! API and addresses of Debian Code Search, for its clients, scripts and links.
//!
//! Names, shapes, status codes and the query dialect are the same. Links redirect to our page for
//! the query. Three faults of its server are not repeated: a malformed query is 400 instead of 500,
//! packages are ordered by their best match, and incomplete answers have the header
//! `X-Codesearch-Complete: false`. Missing: event streams, numbered result files, registration of
//! keys.
//!
//! `/search` and `/show` are addresses of both servers: `literal`, `perpkg` and `file` mark theirs.

mod api;
mod lists;

pub(crate) use api::{COMPLETE, FILES_TOTAL, preflight};

use crate::http::links::{Path, encode};
use crate::http::response::with_body;
use crate::pages::{self, Form};
use crate::problem::{self, Problem};
use crate::search::params::{Params, lossy};
use crate::state::{App, Call};
use axum::Router;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use frontend::query::dcs;
use schema::message::Syntax;

/// OpenAPI descriptions. Tests compare them with answers and with each other.
const YAML: &str = include_str!("dcs/openapi.yaml");
const JSON: &str = include_str!("dcs/openapi.json");

pub(crate) fn routes() -> Router<App> {
    let description = |kind, text| get(async move || ([(header::CONTENT_TYPE, kind)], text));
    let search = || get(api::search).options(api::options);
    let [all, by_package] = api::PATHS;
    Router::new()
        .route(all, search())
        .route(by_package, search())
        .route("/openapi.yaml", description("application/yaml", YAML))
        .route("/openapi.json", description("application/json", JSON))
        .route("/results/{query}/{page}", get(results))
        .route("/perpackage-results/{query}/2/{page}", get(results))
}

/// A line of text.
pub(crate) fn shape(uri: &Uri) -> Option<fn(&Problem, Response) -> Response> {
    uri.path().starts_with("/api/v1/").then_some(line)
}

fn line(problem: &Problem, response: Response) -> Response {
    let hint = problem.hint.as_ref();
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    let line = format!("{}{hint}\n", problem.detail);
    with_body(response, "text/plain; charset=utf-8", line)
}

/// True for a link to a page of its results.
pub(crate) fn is_search(params: &Params) -> bool {
    let names = ["literal", "perpkg"];
    names.into_iter().any(|name| params.bytes(name).is_some())
}

pub(crate) fn search_page(call: &Call) -> Response {
    let params = &call.params;
    let is_set_to = |name, value: &[u8]| params.bytes(name) == Some(value);
    let syntax = if is_set_to("literal", b"1") {
        Syntax::Literal
    } else {
        Syntax::Regexp
    };
    let [query, page] = ["q", "page"].map(|name| params.bytes(name).unwrap_or_default());
    let href = href(query, syntax, is_set_to("perpkg", b"1"), page);
    redirect(href, Form::new(params))
}

pub(crate) async fn results(Path((query, page)): Path<(String, String)>, uri: Uri) -> Response {
    let number = page.strip_prefix("page_");
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some(page) = number.filter(is_number) else {
        return problem::not_found(uri).await.into_response();
    };
    // Older queries were always regular expressions.
    let by_package = uri.path().starts_with("/perpackage-results/");
    let href = href(
        query.as_bytes(),
        Syntax::Regexp,
        by_package,
        page.as_bytes(),
    );
    redirect(href, Form::default())
}

fn redirect(href: Result<String, Problem>, form: Form) -> Response {
    match href {
        Ok(href) => found(&href),
        Err(problem) => pages::problem_page(problem, form),
    }
}

fn href(query: &[u8], syntax: Syntax, by_package: bool, page: &[u8]) -> Result<String, Problem> {
    let query = str::from_utf8(query);
    let query = query.map_err(|_| Problem::bad_request("q is not UTF-8"))?;
    let query = dcs::parse(query, syntax)?.query;
    let mut href = format!("/search?q={}", encode(query.interpreted_as().as_bytes()));
    if by_package {
        href.push_str("&group=package");
    }
    if !matches!(page, b"" | b"0") {
        // Their pages count lines.
        if !by_package {
            href.push_str("&group=none");
        }
        href.push_str(&format!("&page={}", encode(page)));
    }
    Ok(href)
}

pub(crate) fn show_page(params: &Params) -> Response {
    let name = params.bytes("file").unwrap_or_default();
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let slash = name.iter().position(|&byte| byte == b'/');
    let Some((package, path)) = slash.map(|at| (&name[..at], &name[at + 1..])) else {
        let detail = format!("file={} is not a package and a path", lossy(Some(name)));
        let problem = Problem::bad_request(detail).hint("file=i3-wm_4.22-1/src/main.c");
        return problem.into_response();
    };
    let mut href = format!("/show?package={}&path={}", encode(package), encode(path));
    if let Some(line) = params.bytes("line").filter(|line| !line.is_empty()) {
        let line = encode(line);
        href.push_str(&format!("&line={line}#L{line}"));
    }
    found(&href)
}

fn found(href: &str) -> Response {
    let location = HeaderValue::from_str(href).expect("an address is encoded");
    (StatusCode::FOUND, [(header::LOCATION, location)]).into_response()
}
