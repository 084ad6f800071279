//! Limits of all requests: the lengths of address and headers, and no body with GET. The HTTP
//! library has higher limits, with a bare status.

use crate::problem::Problem;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Patterns and filters have 4 KiB, tripled by percent-encoding. Longer queries need a body.
pub(crate) const ADDRESS_BYTES_MAX: usize = 32 << 10;

/// The longest are foreign cookies of the same host.
pub(crate) const HEADERS_BYTES_MAX: usize = 32 << 10;

pub(crate) async fn check(request: Request, next: Next) -> Response {
    match fault(&request) {
        None => next.run(request).await,
        Some(problem) => problem.into_response(),
    }
}

fn fault(request: &Request) -> Option<Problem> {
    let uri = request.uri();
    let address = uri.path().len() + uri.query().map_or(0, |query| query.len() + 1);
    if address > ADDRESS_BYTES_MAX {
        let detail = format!("the address has {address} bytes, the limit is {ADDRESS_BYTES_MAX}");
        return Some(Problem::long_address(detail).hint("POST /api/v2/search takes long queries"));
    }
    let headers = header_bytes(request.headers());
    if headers > HEADERS_BYTES_MAX {
        let detail = format!("the headers have {headers} bytes, the limit is {HEADERS_BYTES_MAX}");
        return Some(Problem::long_headers(detail));
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && has_body(request.headers()) {
        let detail = format!("a {} request must not have a body", request.method());
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
