//! Id of a request, in the response and in its log lines, so that a user's report can be found. The
//! log also has the trace id.
//!
//! A proxy or client may choose it (`x-request-id`), unless it could forge a log line or fill the
//! log.

use crate::http::kept_body::KeptBody;
use crate::http::request_trace;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use std::hash::{BuildHasher, RandomState};
use tracing::Instrument;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Bytes of an id: a UUID has 36, a trace id with its span id 55.
const BYTES_MAX: usize = 64;

pub(crate) async fn name(request: Request, next: Next) -> Response {
    let given = request.headers().get(HEADER);
    let id = given
        .and_then(accepted)
        .map_or_else(random, ToOwned::to_owned);
    // A level that no log level omits.
    let span = tracing::error_span!("request", id, trace = tracing::field::Empty);
    let trace = request_trace::begin(&request, &id);
    if let Some(trace) = trace.trace_id() {
        span.record("trace", trace);
    }
    let answered = next.run(request).instrument(span.clone());
    let response = trace::scope(trace.clone(), answered).await;
    request_trace::answered(&trace, response.status());
    // Bodies may log while they are sent. The trace lasts until their end.
    let in_span = |body| Body::new(KeptBody::new(body, span, trace));
    let mut response = response.map(in_span);
    let id = HeaderValue::from_str(&id).expect("an id is a token");
    response.headers_mut().insert(HEADER, id);
    response
}

/// Accepts a short token.
fn accepted(given: &HeaderValue) -> Option<&str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    let id = given.to_str().ok()?;
    ((1..=BYTES_MAX).contains(&id.len()) && id.bytes().all(is_token)).then_some(id)
}

/// Distinguishes requests, and protects nothing.
fn random() -> String {
    format!("{:016x}", RandomState::new().hash_one(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_short_token_is_accepted_as_a_request_id() {
        let accepts =
            |text: &str| accepted(&HeaderValue::from_bytes(text.as_bytes()).unwrap()) == Some(text);
        let longest = "x".repeat(BYTES_MAX);
        for good in [
            "a",
            "0f8fad5b-d9cb-469f-a165-70867728950e",
            "Root=1".trim_start_matches("Root="),
            &longest,
        ] {
            assert!(accepts(good), "{good}");
        }
        let long = "x".repeat(BYTES_MAX + 1);
        for bad in [
            "",
            " ",
            "a b",
            "a\tb",
            "a\"b",
            "id=1 level=ERROR",
            "\u{e9}",
            &long,
        ] {
            assert!(!accepts(bad), "{bad}");
        }
        assert_ne!(random(), random());
        assert_eq!(random().len(), 16);
    }
}
