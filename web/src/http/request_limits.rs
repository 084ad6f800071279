//! Limits of all requests: the lengths of address and headers, and no body with GET. The HTTP
//! library has higher limits, with a bare status.

use crate::http::server::{BodyTime, HEADERS_BYTES_MAX};
use crate::problem::Problem;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;

/// Patterns and filters have 4 KiB, tripled by percent-encoding. Longer queries need a body.
pub(crate) const ADDRESS_BYTES_MAX: usize = 32 << 10;

pub(crate) async fn check(request: Request, next: Next) -> Result<Response, Problem> {
    let uri = request.uri();
    let address = uri.path().len() + uri.query().map_or(0, |query| query.len() + 1);
    if address > ADDRESS_BYTES_MAX {
        let detail = format!("the address has {address} bytes, the limit is {ADDRESS_BYTES_MAX}");
        return Err(Problem::long_address(detail).hint("POST /api/v2/search takes long queries"));
    }
    let headers = header_bytes(request.headers());
    if headers > HEADERS_BYTES_MAX {
        let detail = format!("the headers have {headers} bytes, the limit is {HEADERS_BYTES_MAX}");
        return Err(Problem::long_headers(detail));
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && has_body(request.headers()) {
        let detail = format!("a {} request must not have a body", request.method());
        return Err(Problem::bad_request(detail).hint("POST /api/v2/search takes one"));
    }
    Ok(next.run(request).await)
}

pub(crate) async fn read_body(
    body: Body,
    bytes_max: usize,
    extensions: &Extensions,
) -> Result<Bytes, Problem> {
    let BodyTime(time_max) = extensions.get().copied().unwrap_or_default();
    let read = tokio::time::timeout(time_max, to_bytes(body, bytes_max)).await;
    let read = read.map_err(|_| {
        let seconds = time_max.as_secs_f64();
        Problem::slow_body(format!("the body did not arrive within {seconds} s"))
    })?;
    read.map_err(|_| Problem::too_large(format!("the body exceeds {bytes_max} bytes")))
}

fn header_bytes(headers: &HeaderMap) -> usize {
    let headers = headers.iter();
    headers
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum()
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|length| length != "0")
}
