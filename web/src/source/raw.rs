//! Raw files, at addresses that end with their names: `/raw/p/{package}/{path}` and
//! `/raw/g/{repository}/{revision}/{path}`.
//!
//! The first prefers the indexed text, the second the bytes in the repository; either falls back to
//! the other. A file is sent in pieces, as its client takes them.
//!
//! **Invariant:** no browser executes a raw file: the type is text, bytes or a recognised image, it
//! is not sniffed, and the policy forbids everything.

mod address;
mod body;
mod preconditions;
mod ranges;

use crate::http::conditional::REVALIDATE;
use crate::http::stream_body::Exports;
use crate::problem::Problem;
use crate::source::file_content::{Content, HEAD_BYTES};
use crate::source::file_range::{Fetched, describe, fetch_file};
use crate::suggest::left_out;
use access::Viewer;
use address::FileName;
use axum::Router;
use axum::body::Body;
use axum::extract::{FromRef, FromRequestParts, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use body::{FileBody, PIECE_BYTES};
use frontend::{Coordinator, Scope};
use preconditions::Verdict;
use ranges::Selected;
use schema::message::{FileRange, FileReply, FileRequest, FileSource};

/// Browsers only show files.
const POLICY: HeaderValue =
    HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'");

/// Foreign pages cannot embed images, nor learn their sizes.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(crate) fn routes<S>() -> Router<S>
where
    S: Clone + Send + Sync + 'static,
    Exports: FromRef<S>,
    Viewer: FromRequestParts<S>,
{
    Router::new()
        .route("/raw/p/{*name}", get(of_package))
        .route("/raw/g/{*name}", get(of_repository))
}

async fn of_package(
    State(exports): State<Exports>,
    viewer: Viewer,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(
        exports,
        viewer,
        FileName::in_package(&uri)?,
        &method,
        &headers,
    )
    .await
}

async fn of_repository(
    State(exports): State<Exports>,
    viewer: Viewer,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(
        exports,
        viewer,
        FileName::in_repository(&uri)?,
        &method,
        &headers,
    )
    .await
}

async fn answer(
    exports: Exports,
    viewer: Viewer,
    name: FileName,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let is_whole = method == Method::GET && !preconditions::are_in(headers);
    let request = FileRequest {
        range: FileRange::Bytes {
            offset: 0,
            count: if is_whole { PIECE_BYTES } else { HEAD_BYTES },
        },
        ..name.request()
    };
    let coordinator = exports.coordinator();
    let scope = viewer.scope_of(&name.package).await?;
    let Fetched { package, reply } = match fetch_file(coordinator, &scope, request.clone()).await {
        Ok(fetched) => fetched,
        Err(problem) => return Err(or_why_skipped(coordinator, &scope, &name, problem).await),
    };
    let request = FileRequest { package, ..request };
    let tag = preconditions::tag(&reply.hash);
    match preconditions::check(headers, &tag) {
        Verdict::Send => {}
        Verdict::Failed => {
            let detail = "the file is another one than the header If-Match names";
            return Err(Problem::precondition_failed(detail));
        }
        Verdict::NotModified => {
            let mut response = StatusCode::NOT_MODIFIED.into_response();
            add_headers(response.headers_mut(), &reply, &tag);
            return Ok(response);
        }
    }
    let selected = if method == Method::GET && preconditions::allow_ranges(headers, &tag) {
        ranges::select(headers, reply.total_bytes)
    } else {
        Selected::Whole
    };
    let total = reply.total_bytes;
    let mut about = HeaderMap::new();
    let content = Content::of(&reply);
    add_headers(&mut about, &reply, &tag);
    about.insert(header::CONTENT_TYPE, content.media_type());
    if let Some(disposition) = content.disposition(&request.path) {
        about.insert(header::CONTENT_DISPOSITION, disposition);
    }
    let body = FileBody::new(exports, viewer, request, reply);
    let (status, body) = match selected {
        Selected::Whole => (StatusCode::OK, body.whole()),
        Selected::One(range) => {
            about.insert(header::CONTENT_RANGE, ranges::content_range(&range, total));
            (StatusCode::PARTIAL_CONTENT, body.range(range))
        }
        Selected::Many(ranges) => {
            let media_type = about.insert(header::CONTENT_TYPE, body.multipart_type());
            let media_type = media_type.expect("inserted above");
            (
                StatusCode::PARTIAL_CONTENT,
                body.multipart(&ranges, &media_type),
            )
        }
        Selected::Unsatisfiable => return Ok(unsatisfiable(total)),
    };
    about.insert(header::CONTENT_LENGTH, HeaderValue::from(body.bytes()));
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        body.send().await?
    };
    Ok((status, about, body).into_response())
}

fn add_headers(headers: &mut HeaderMap, reply: &FileReply, tag: &HeaderValue) {
    headers.insert(header::ETAG, tag.clone());
    headers.insert(header::CACHE_CONTROL, REVALIDATE);
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(RESOURCE_POLICY, SAME_ORIGIN);
    describe(headers, reply);
}

fn unsatisfiable(total: u64) -> Response {
    let detail = format!("the file ends at byte {total}, and none of the ranges begins before it");
    let mut response = Problem::unsatisfiable_range(detail).into_response();
    let range = HeaderValue::from_str(&format!("bytes */{total}")).expect("ASCII");
    response.headers_mut().insert(header::CONTENT_RANGE, range);
    response
}

/// Explains a skipped file.
async fn or_why_skipped(
    coordinator: &Coordinator,
    scope: &Scope,
    name: &FileName,
    problem: Problem,
) -> Problem {
    if !problem.is_missing() {
        return problem;
    }
    let file = (&name.package[..], &name.path[..]);
    match left_out::why(coordinator, scope, file).await {
        Some(problem) if name.source == FileSource::Original => {
            problem.hint("no backend can read it from the repository")
        }
        found => found.unwrap_or(problem),
    }
}
