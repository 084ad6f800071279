//! Parts of responses of all interfaces.

pub(crate) use crate::problem::NO_STORE;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use frontend::SearchResult;

pub(crate) fn json(shape: &impl serde::Serialize) -> Response {
    let body = serde_json::to_vec(shape).expect("shapes are plain data");
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

const RETRY_AFTER_S: u64 = 5;

/// Status 503 if no backend contributed. The body stays.
pub(crate) fn mark_unavailable(response: &mut Response, answer: &SearchResult) {
    if answer.is_unavailable() {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S));
    }
}

/// Returns whether another search would find the same. Skipped documents may be found then.
pub(crate) fn is_whole(answer: &SearchResult) -> bool {
    answer.is_complete() && answer.skipped().count == 0
}

/// Completeness, for bodies without such a field.
pub(crate) fn complete_header(answer: &SearchResult) -> (HeaderName, HeaderValue) {
    let complete = if answer.is_complete() {
        "true"
    } else {
        "false"
    };
    let name = HeaderName::from_static("x-trawl-complete");
    (name, HeaderValue::from_static(complete))
}

/// Search id, for bodies without such a field.
pub(crate) fn search_header(id: &str) -> (HeaderName, HeaderValue) {
    let id = HeaderValue::from_str(id).expect("an id consists of hexadecimal digits");
    (HeaderName::from_static("x-trawl-search"), id)
}
