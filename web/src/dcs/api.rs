//! `/api/v1/search` and `/api/v1/searchperpackage`: all matches in one response, in bounded memory.
//!
//! Errors are lines of text. Cross-origin requests are allowed only if keys are required; otherwise
//! foreign pages could read a user's private sources. Keys of `/api/v2` are valid too, and required
//! if every page requires one.

use super::lists;
use crate::http::guard;
use crate::http::response::{self, NO_STORE, REVALIDATE};
use crate::http::watched::Watched;
use crate::problem::Problem;
use crate::search::params::Params;
use crate::state::Call;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use frontend::query::{BadQuery, ParsedQuery, dcs};
use frontend::{SearchError, SearchRequest, SearchResult};
use schema::message::Syntax;
use std::hint::black_box;
use std::sync::Arc;

const KEY: HeaderName = HeaderName::from_static("x-dcs-apikey");
pub(crate) const FILES_TOTAL: HeaderName = HeaderName::from_static("x-codesearch-filestotal");
pub(crate) const COMPLETE: HeaderName = HeaderName::from_static("x-codesearch-complete");

pub(super) const PATHS: [&str; 2] = ["/api/v1/search", "/api/v1/searchperpackage"];

/// Answers preflight requests before the CORS layer, which knows no keys.
pub(crate) async fn preflight(request: Request, next: Next) -> Response {
    let is_ours = PATHS.contains(&request.uri().path());
    if is_ours && request.method() == Method::OPTIONS {
        options(request.headers().clone()).await
    } else {
        next.run(request).await
    }
}

pub(super) async fn options(headers: HeaderMap) -> Response {
    let methods = "OPTIONS, GET";
    let fixed = [
        (header::ALLOW, methods),
        (header::ACCESS_CONTROL_ALLOW_METHODS, methods),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "x-dcs-apikey, Content-Type",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    let mut response = (StatusCode::NO_CONTENT, fixed).into_response();
    if let Some(origin) = headers.get(header::ORIGIN) {
        let out = response.headers_mut();
        out.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
    response
}

pub(super) async fn search(call: Call, headers: HeaderMap, uri: Uri) -> Response {
    let keys = &call.options.dcs_api_keys;
    let given = headers.get(KEY).map(HeaderValue::as_bytes);
    let is_open = keys.is_empty()
        && !call
            .options
            .access
            .as_ref()
            .is_some_and(|it| it.is_required());
    let mut response = if is_open || call.params.site.has_key || is_known(keys, given) {
        let found = find(&call, uri.path() == PATHS[1]);
        found.await.into_response()
    } else if keys.is_empty() {
        guard::count_refused(false);
        guard::refused(false).into_response()
    } else {
        let no_store = [(header::CACHE_CONTROL, NO_STORE)];
        let line = "invalid x-dcs-apikey header\n";
        (StatusCode::FORBIDDEN, no_store, line).into_response()
    };
    if let Some(origin) = headers.get(header::ORIGIN).filter(|_| !keys.is_empty()) {
        let out = response.headers_mut();
        out.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        out.insert(header::VARY, HeaderValue::from_static("Origin"));
        let exposed = HeaderValue::from_static("x-codesearch-filestotal, x-codesearch-complete");
        out.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
}

async fn find(call: &Call, by_package: bool) -> Result<Response, Problem> {
    let parsed = parse(&call.params)?;
    let scope = call.viewer.scope().await?;
    let export = call.exports.begin()?;
    let request = SearchRequest {
        client: call.params.client.into(),
        ..SearchRequest::new(&scope, parsed.query.clone())
    };
    let search = call.coordinator.search(request).await;
    let search = search.map_err(|error| problem(error, &parsed))?;
    let finished = search.finished().await;
    let answer = finished.map_err(|error| problem(error, &parsed))?;
    let (head, of) = (head(&answer), Arc::clone(&answer));
    let source = if by_package {
        lists::packages(answer)
    } else {
        lists::matches(answer)
    };
    let body = export.body(source, &scope).await?;
    let body = Watched::new(&call.coordinator, &call.viewer, &scope).guard(body, None);
    let mut response = (head, body).into_response();
    response::mark_unavailable(&mut response, &of);
    Ok(response)
}

fn parse(params: &Params) -> Result<ParsedQuery, Problem> {
    let text = |name| {
        let text = params.text(name);
        text.map(|text| text.filter(|text| !text.is_empty()))
    };
    let query =
        text("query")?.ok_or_else(|| Problem::bad_request("no query parameter specified"))?;
    let syntax = match (text("match_mode")?, text("literal")?) {
        (Some("literal"), _) | (None, Some("1")) => Syntax::Literal,
        (Some("regexp" | "regex"), _) | (None, _) => Syntax::Regexp,
        (Some(other), _) => {
            let detail = format!("match_mode={other} is neither literal nor regexp");
            return Err(Problem::bad_request(detail));
        }
    };
    dcs::parse(query, syntax).map_err(invalid)
}

fn problem(error: SearchError, parsed: &ParsedQuery) -> Problem {
    match error {
        SearchError::BadQuery(bad) => invalid(parsed.locate(bad)),
        other => other.into(),
    }
}

fn invalid(bad: BadQuery) -> Problem {
    let at = bad
        .at
        .map_or(String::new(), |at| format!(" (at byte {at})"));
    let problem = Problem::bad_request(format!("Invalid query: {}{at}", bad.reason));
    match bad.hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

fn head(answer: &SearchResult) -> HeaderMap {
    let (complete, cache) = if answer.is_complete() {
        ("true", REVALIDATE)
    } else {
        ("false", NO_STORE)
    };
    let json = HeaderValue::from_static("application/json");
    HeaderMap::from_iter([
        (header::CONTENT_TYPE, json),
        (header::CACHE_CONTROL, cache),
        (
            FILES_TOTAL,
            HeaderValue::from(answer.explain().sum.documents),
        ),
        (COMPLETE, HeaderValue::from_static(complete)),
    ])
}

/// The time reveals only the lengths of keys.
fn is_known(keys: &[String], given: Option<&[u8]>) -> bool {
    let Some(given) = given else {
        return false;
    };
    let known = keys.iter().map(|key| is_equal(key.as_bytes(), given));
    // `fold` compares all keys, without an early exit.
    known.fold(false, |found, is_this| found | is_this)
}

fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let differing = a
        .iter()
        .zip(b)
        .fold(0, |bits, (a, b)| black_box(bits | (a ^ b)));
    a.len() == b.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn accepts_only_whole_keys() {
        let keys = ["first-key".to_owned(), "second".to_owned()];
        for (given, allowed) in [
            (Some("first-key"), true),
            (Some("second"), true),
            (Some("first-ke"), false),
            (Some("first-keyy"), false),
            (Some("First-key"), false),
            (Some(""), false),
            (None, false),
        ] {
            let given = given.map(str::as_bytes);
            assert_eq!(is_known(&keys, given), allowed, "{given:?}");
            assert!(!is_known(&[], given));
        }
    }
}
