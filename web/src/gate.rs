//! What no request may be, whatever it asks for: too long, or a question with a body.
//!
//! The HTTP library has bounds of its own, far above these, and answers what exceeds them with a
//! status alone (64 KiB of an address, 100 headers).

use super::App;
use super::problem::Problem;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::Response;

/// Bytes of an address: patterns and filters are 4 KiB at most, of which an address may make three
/// times as many, and what is written around them. Longer ones go into a body.
pub(super) const ADDRESS_BYTES_MAX: usize = 32 << 10;

/// Bytes of all headers' names and values. Cookies of other sites on the same host are the longest.
pub(super) const HEADERS_BYTES_MAX: usize = 32 << 10;

/// Lets through what is within bounds.
pub(super) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    match fault(&request) {
        None => next.run(request).await,
        Some(problem) => problem.at_address(&app, request.uri()),
    }
}

fn fault(request: &Request) -> Option<Problem> {
    let uri = request.uri();
    let address = uri.path().len() + uri.query().map_or(0, |query| query.len() + 1);
    if address > ADDRESS_BYTES_MAX {
        let detail = format!("an address of {address} bytes, the most is {ADDRESS_BYTES_MAX}");
        return Some(Problem::long_address(detail).hint("POST /api/v2/search takes long queries"));
    }
    let headers = header_bytes(request.headers());
    if headers > HEADERS_BYTES_MAX {
        let detail = format!("headers of {headers} bytes, the most is {HEADERS_BYTES_MAX}");
        return Some(Problem::long_headers(detail));
    }
    let is_question = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_question && has_body(request.headers()) {
        let detail = format!("a {} request has no body", request.method());
        return Some(Problem::bad_request(detail).hint("POST /api/v2/search takes one"));
    }
    None
}

fn header_bytes(headers: &HeaderMap) -> usize {
    let bytes = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len());
    bytes.sum()
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|length| length != "0")
}
