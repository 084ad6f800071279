//! Trace span of a request. Continues a caller's trace (header `traceparent`). It has the route,
//! never the address, since that has the search terms.

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use trace::{TraceContext, TraceSpan};

const HEADER: HeaderName = HeaderName::from_static("traceparent");

/// Frequent routes of machines, and files of pages.
const UNTRACED: [&str; 4] = [
    "/healthz",
    "/readyz",
    "/metrics",
    "/assets/{version}/{name}",
];

pub(crate) fn begin(request: &Request, id: &str) -> TraceSpan {
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

pub(crate) fn answered(span: &TraceSpan, status: StatusCode) {
    span.set("http.response.status_code", i32::from(status.as_u16()));
    if status.is_server_error() {
        span.fail("server error");
    }
}

/// Two headers count as none.
fn caller(request: &Request) -> Option<TraceContext> {
    let mut values = request.headers().get_all(HEADER).iter();
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
    fn the_trace_of_a_caller_is_known_unless_the_header_is_malformed_or_repeated() {
        let value = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let request = |values: &[&str]| {
            let builder = values.iter().fold(Request::builder(), |builder, value| {
                builder.header(HEADER, *value)
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
