//! What responses of all interfaces share: the JSON body, and headers about an answer.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use frontend::SearchResult;

/// `Cache-Control` of a response that must not be kept: an error, or an incomplete answer.
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Renders a shape of the model as a JSON response.
pub(crate) fn json(shape: &impl serde::Serialize) -> Response {
    let body = serde_json::to_vec(shape).expect("shapes are plain data");
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Seconds after which a client may ask again for an answer that no backend gave.
const RETRY_AFTER_S: u64 = 5;

/// Makes a response with an answer that no backend contributed to an error: 503, with the same body.
pub(crate) fn mark_unavailable(response: &mut Response, answer: &SearchResult) {
    if answer.is_unavailable() {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S));
    }
}

/// Says whether the answer is complete, for a body that has no place for it.
pub(crate) fn complete_header(answer: &SearchResult) -> (HeaderName, HeaderValue) {
    let complete = if answer.is_complete() {
        "true"
    } else {
        "false"
    };
    let name = HeaderName::from_static("x-trawl-complete");
    (name, HeaderValue::from_static(complete))
}

/// Names the search, for a body that has no place for it.
pub(crate) fn search_header(id: &str) -> (HeaderName, HeaderValue) {
    let id = HeaderValue::from_str(id).expect("an id consists of hexadecimal digits");
    (HeaderName::from_static("x-trawl-search"), id)
}
