//! Id of a request, in the response and in its log lines, so that a user's report can be found; and
//! its trace span. The log also has the trace id.
//!
//! A proxy or client may choose the id (`x-request-id`), unless it could forge a log line or fill
//! the log, and continue a trace (`traceparent`). The span has the route, not the address with its
//! search terms.

use crate::http::kept_body::KeptBody;
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use std::hash::{BuildHasher, RandomState};
use trace::{TraceContext, TraceSpan};
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
    let trace = begin(&request, &id);
    if let Some(trace) = trace.trace_id() {
        span.record("trace", trace);
    }
    let running = next.run(request).instrument(span.clone());
    let response = trace::scope(trace.clone(), running).await;
    answered(&trace, response.status());
    // Bodies may log while they are sent. The trace lasts until their end.
    let in_span = |body| Body::new(KeptBody::new(body, span, trace));
    let mut response = response.map(in_span);
    let id = HeaderValue::from_str(&id).expect("an id is a token");
    response.headers_mut().insert(HEADER, id);
    response
}

fn accepted(given: &HeaderValue) -> Option<&str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    let id = given.to_str().ok()?;
    ((1..=BYTES_MAX).contains(&id.len()) && id.bytes().all(is_token)).then_some(id)
}

/// Distinguishes requests, and protects nothing.
fn random() -> String {
    format!("{:016x}", RandomState::new().hash_one(()))
}

const TRACE_HEADER: HeaderName = HeaderName::from_static("traceparent");

/// Frequent routes of machines, and files of pages.
const UNTRACED: [&str; 4] = [
    "/healthz",
    "/readyz",
    "/metrics",
    "/assets/{version}/{name}",
];

fn begin(request: &Request, id: &str) -> TraceSpan {
    let caller = caller(request);
    let recorder = trace::recorder();
    if recorder.is_none() && caller.is_none() {
        return TraceSpan::default();
    }
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("", MatchedPath::as_str);
    let recorder = recorder.filter(|_| !UNTRACED.contains(&route));
    let method = method(request.method());
    let span = TraceSpan::of_request(recorder, caller, format!("{method} {route}").into());
    span.set("http.request.method", method);
    span.set("http.route", route);
    span.set("trawl.request.id", id);
    span
}

fn answered(span: &TraceSpan, status: StatusCode) {
    span.set("http.response.status_code", i32::from(status.as_u16()));
    if status.is_server_error() {
        span.fail("server error");
    }
}

/// Two headers count as none.
fn caller(request: &Request) -> Option<TraceContext> {
    let mut values = request.headers().get_all(TRACE_HEADER).iter();
    let (first, second): (Option<&HeaderValue>, _) = (values.next(), values.next());
    let value = first.filter(|_| second.is_none())?;
    trace::parse_traceparent(value.to_str().ok()?)
}

/// Clients may invent methods.
fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

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

    #[test]
    fn the_trace_of_a_caller_is_known_unless_the_header_is_malformed_or_repeated() {
        let value = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let request = |values: &[&str]| {
            let builder = values.iter().fold(Request::builder(), |builder, value| {
                builder.header(TRACE_HEADER, *value)
            });
            builder.body(Body::empty()).unwrap()
        };
        let known = begin(&request(&[value]), "id").trace_id();
        assert_eq!(known.as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
        for values in [&[][..], &[value, value], &["00-1-1-01"], &["\u{e9}"]] {
            assert_eq!(begin(&request(values), "id").trace_id(), None, "{values:?}");
        }
    }
}
