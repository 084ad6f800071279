//! `/api/v1/search` and `/api/v1/searchperpackage`: all that was found, in one answer, which is made in
//! a fixed amount of memory whatever its length.
//!
//! What is wrong is said in a line of text, as there. Its server lets pages of other sites ask, since
//! its index is public; here they may when keys are needed, and so no page can read what is on the
//! machine of whoever looks at it.

use super::key::is_allowed;
use super::shapes::{self, PER_PACKAGE, PackageSearchResult};
use crate::params::Params;
use crate::response::NO_STORE;
use crate::state::App;
use crate::stream_body::{Broken, CHUNK_BYTES, Sender, send, stream_body};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use frontend::SearchError;
use frontend::SearchResult;
use frontend::query::{BadQuery, ParsedQuery, dcs};
use schema::message::Syntax;

const KEY: HeaderName = HeaderName::from_static("x-dcs-apikey");
pub(crate) const FILES_TOTAL: HeaderName = HeaderName::from_static("x-codesearch-filestotal");
pub(crate) const COMPLETE: HeaderName = HeaderName::from_static("x-codesearch-complete");

/// Where what is here is asked for.
pub(crate) const PATHS: [&str; 2] = ["/api/v1/search", "/api/v1/searchperpackage"];

/// How long a client may keep an answer without asking: it may be another one at any time.
const ASK: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Packages whose matches are read at a time.
const PACKAGES_AT_ONCE: usize = 64;

#[derive(Clone, Copy)]
enum Shape {
    Matches,
    PerPackage,
}

/// All matches, best first.
pub(crate) async fn search(State(app): State<App>, headers: HeaderMap, params: Params) -> Response {
    respond(&app, &headers, &params, Shape::Matches).await
}

/// All packages with a match, the one with the best first, and the best matches of each.
pub(crate) async fn search_per_package(
    State(app): State<App>,
    headers: HeaderMap,
    params: Params,
) -> Response {
    respond(&app, &headers, &params, Shape::PerPackage).await
}

/// Answers itself what a browser asks before a page of another site may, before a layer does that knows
/// nothing of keys.
pub(crate) async fn preflight(request: Request, next: Next) -> Response {
    let is_ours = PATHS.contains(&request.uri().path());
    match is_ours && request.method() == Method::OPTIONS {
        true => options(request.headers().clone()).await,
        false => next.run(request).await,
    }
}

/// What a browser asks before a page of another site may.
pub(crate) async fn options(headers: HeaderMap) -> Response {
    let methods = HeaderValue::from_static("OPTIONS, GET");
    let mut response = StatusCode::NO_CONTENT.into_response();
    let out = response.headers_mut();
    out.insert(header::ALLOW, methods.clone());
    out.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    let allowed = HeaderValue::from_static("x-dcs-apikey, Content-Type");
    out.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    let day = HeaderValue::from_static("86400");
    out.insert(header::ACCESS_CONTROL_MAX_AGE, day);
    if let Some(origin) = headers.get(header::ORIGIN) {
        out.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
    response
}

async fn respond(app: &App, headers: &HeaderMap, params: &Params, shape: Shape) -> Response {
    let keys = &app.dcs_api_keys;
    let given = headers.get(KEY).map(HeaderValue::as_bytes);
    let answer = match is_allowed(keys, given) {
        true => find(app, params, shape).await,
        false => Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "invalid x-dcs-apikey header",
        )),
    };
    let mut response = answer.unwrap_or_else(Refusal::into_response);
    if let Some(origin) = headers.get(header::ORIGIN).filter(|_| !keys.is_empty()) {
        let out = response.headers_mut();
        out.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        out.insert(header::VARY, HeaderValue::from_static("Origin"));
        let exposed = HeaderValue::from_static("x-codesearch-filestotal, x-codesearch-complete");
        out.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
}

async fn find(app: &App, params: &Params, shape: Shape) -> Result<Response, Refusal> {
    let parsed = parse(params)?;
    let located = |error| match error {
        SearchError::BadQuery(bad) => SearchError::BadQuery(parsed.locate(bad)),
        other => other,
    };
    let search = app.coordinator.search(parsed.query.clone()).await?;
    let answer = search.finished().await.map_err(located)?;
    let about = head(&answer);
    let body = stream_body(move |sender| write(&answer, shape, sender)).await;
    let body = body.map_err(|_| Refusal::damaged())?;
    let mut response = body.into_response();
    response.headers_mut().extend(about);
    Ok(response)
}

fn parse(params: &Params) -> Result<ParsedQuery, Refusal> {
    let text = |name: &str| {
        let value = params.bytes(name).filter(|value| !value.is_empty());
        let value = value.map(str::from_utf8).transpose();
        value.map_err(|_| Refusal::bad(format!("{name} is not UTF-8")))
    };
    let query = text("query")?.ok_or_else(|| Refusal::bad("no query parameter specified"))?;
    let syntax = match (text("match_mode")?, text("literal")?) {
        (Some("literal"), _) | (None, Some("1")) => Syntax::Literal,
        (Some("regexp" | "regex"), _) | (None, _) => Syntax::Regexp,
        (Some(other), _) => {
            let reason = format!("match_mode={other} is neither literal nor regexp");
            return Err(Refusal::bad(reason));
        }
    };
    Ok(dcs::parse(query, syntax)?)
}

fn head(answer: &SearchResult) -> HeaderMap {
    let complete = answer.is_complete();
    let word = match complete {
        true => "true",
        false => "false",
    };
    HeaderMap::from_iter([
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        ),
        (header::CACHE_CONTROL, if complete { ASK } else { NO_STORE }),
        (FILES_TOTAL, HeaderValue::from(answer.explain().documents)),
        (COMPLETE, HeaderValue::from_static(word)),
    ])
}

fn write(answer: &SearchResult, shape: Shape, sender: &Sender) -> Result<(), Broken> {
    let mut list = List::new(sender);
    match shape {
        Shape::Matches => write_matches(answer, &mut list),
        Shape::PerPackage => write_packages(answer, &mut list),
    }?;
    list.finish()
}

fn write_matches(answer: &SearchResult, list: &mut List<'_>) -> Result<(), Broken> {
    let chunk_len = answer.chunk_len();
    for start in (0..answer.len()).step_by(chunk_len) {
        let end = answer.len().min(start + chunk_len);
        for found in answer.matches(start..end)? {
            list.push(&shapes::SearchResult::from(&found))?;
        }
    }
    Ok(())
}

fn write_packages(answer: &SearchResult, list: &mut List<'_>) -> Result<(), Broken> {
    for start in (0..answer.packages()).step_by(PACKAGES_AT_ONCE) {
        let end = answer.packages().min(start + PACKAGES_AT_ONCE);
        for package in answer.package_list(start..end)? {
            let matches = answer.matches_of(&package, PER_PACKAGE)?;
            list.push(&PackageSearchResult::new(&package, &matches))?;
        }
    }
    Ok(())
}

/// A list as JSON, an element a line, sent piece by piece.
struct List<'a> {
    sender: &'a Sender,
    out: Vec<u8>,
    is_empty: bool,
}

impl<'a> List<'a> {
    fn new(sender: &'a Sender) -> Self {
        List {
            sender,
            out: b"[".to_vec(),
            is_empty: true,
        }
    }

    fn push(&mut self, element: &impl serde::Serialize) -> Result<(), Broken> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        serde_json::to_writer(&mut self.out, element).expect("elements are plain data");
        self.out.push(b'\n');
        match self.out.len() >= CHUNK_BYTES {
            true => send(self.sender, std::mem::take(&mut self.out)),
            false => Ok(()),
        }
    }

    fn finish(mut self) -> Result<(), Broken> {
        self.out.push(b']');
        send(self.sender, self.out)
    }
}

/// An answer that is none: a status and a line.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    reason: String,
    retry_after_s: Option<u64>,
}

impl Refusal {
    fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Refusal {
            status,
            reason: reason.into(),
            retry_after_s: None,
        }
    }

    fn bad(reason: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, reason)
    }

    fn damaged() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Refusal::new(status, "what was found cannot be read")
    }
}

impl From<BadQuery> for Refusal {
    fn from(bad: BadQuery) -> Self {
        let at = bad
            .at
            .map_or(String::new(), |at| format!(" (at byte {at})"));
        let hint = bad.hint.map_or(String::new(), |hint| format!("; {hint}"));
        Refusal::bad(format!("Invalid query: {}{at}{hint}", bad.reason))
    }
}

impl From<SearchError> for Refusal {
    fn from(error: SearchError) -> Self {
        let reason = error.to_string();
        match error {
            SearchError::BadQuery(bad) => bad.into(),
            SearchError::Overloaded { retry_after_s } => Refusal {
                retry_after_s: Some(retry_after_s),
                ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason)
            },
            SearchError::Gone { .. } => Refusal::new(StatusCode::GONE, reason),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        let about = [
            (header::CONTENT_TYPE, kind),
            (header::CACHE_CONTROL, NO_STORE),
        ];
        let mut response = (self.status, about, format!("{}\n", self.reason)).into_response();
        if let Some(seconds) = self.retry_after_s {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
