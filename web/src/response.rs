//! Parts of responses of all interfaces: the JSON body, and headers about an answer.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use frontend::SearchResult;

/// `Cache-Control` of errors and incomplete answers.
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Renders a shape of the model as JSON.
pub(crate) fn json(shape: &impl serde::Serialize) -> Response {
    let body = serde_json::to_vec(shape).expect("shapes are plain data");
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Retry delay of an answer without any backend.
const RETRY_AFTER_S: u64 = 5;

/// Sets status 503 if no backend contributed to the answer. The body stays.
pub(crate) fn mark_unavailable(response: &mut Response, answer: &SearchResult) {
    if answer.is_unavailable() {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S));
    }
}

/// Header for completeness, if the body has no field for it.
pub(crate) fn complete_header(answer: &SearchResult) -> (HeaderName, HeaderValue) {
    let complete = if answer.is_complete() {
        "true"
    } else {
        "false"
    };
    let name = HeaderName::from_static("x-trawl-complete");
    (name, HeaderValue::from_static(complete))
}

/// Header for the id of the search, if the body has no field for it.
pub(crate) fn search_header(id: &str) -> (HeaderName, HeaderValue) {
    let id = HeaderValue::from_str(id).expect("an id consists of hexadecimal digits");
    (HeaderName::from_static("x-trawl-search"), id)
}
