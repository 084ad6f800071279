//! Parameters in a JSON body, for queries too long for an address.
//!
//! A value is a string, number or boolean, or a list of these for repeated parameters.

use crate::http::request_limits::read_body;
use crate::problem::Problem;
use crate::search::params::{PARAMETERS_MAX, Params};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use serde_json::Value;

/// JSON escapes make up to six times the 16 KiB of a query.
pub(crate) const BODY_BYTES_MAX: usize = 128 << 10;

pub(crate) struct Posted(pub(crate) Params);

impl<S: Sync> FromRequest<S> for Posted {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let extensions = request.extensions().clone();
        let body = read_json(request, BODY_BYTES_MAX).await?;
        Ok(Posted(parse(&body)?.sent_by(&extensions)))
    }
}

/// Reads a JSON body of a request without parameters in its address.
pub(super) async fn read_json(request: Request, bytes_max: usize) -> Result<Bytes, Problem> {
    if request.uri().query().is_some_and(|query| !query.is_empty()) {
        let detail = "with POST, parameters go into the body, not the address";
        return Err(Problem::bad_request(detail));
    }
    if !is_json(request.headers()) {
        return Err(Problem::unsupported("the body must be JSON")
            .hint("send the header content-type: application/json"));
    }
    let (parts, body) = request.into_parts();
    read_body(body, bytes_max, &parts.extensions).await
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn parse(body: &[u8]) -> Result<Params, Problem> {
    let value = serde_json::from_slice(body)
        .map_err(|error| Problem::bad_request(format!("malformed JSON: {error}")))?;
    let Value::Object(fields) = value else {
        let detail = "the body must be an object";
        return Err(Problem::bad_request(detail).hint(r#"such as {"q": "errno"}"#));
    };
    let mut pairs = Vec::new();
    for (name, value) in fields {
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            pairs.push((name.clone(), text(&name, value)?));
        }
    }
    if pairs.len() > PARAMETERS_MAX {
        let detail = format!("more than {PARAMETERS_MAX} parameters");
        return Err(Problem::bad_request(detail));
    }
    Ok(Params::of(pairs))
}

fn text(name: &str, value: Value) -> Result<Vec<u8>, Problem> {
    match value {
        Value::String(text) => Ok(text.into_bytes()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string().into_bytes()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let detail = format!("{name}: expected a string, a number or a boolean");
            Err(Problem::bad_request(detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_parameters_of_an_address() {
        let params = parse(br#"{"q": "a\u0000b", "lang": ["C", "-Go"], "page": 2, "wait": false}"#);
        let params = params.unwrap();
        assert_eq!(params.bytes("q"), Some(&b"a\0b"[..]));
        assert_eq!(params.bytes("page"), Some(&b"2"[..]));
        assert_eq!(params.bytes("wait"), Some(&b"false"[..]));
        assert_eq!(params.filters().count(), 2);
    }

    #[test]
    fn rejects_everything_but_an_object_of_values() {
        for bad in [
            "",
            "{",
            "[]",
            "7",
            r#"{"q": null}"#,
            r#"{"q": {}}"#,
            r#"{"q": [[]]}"#,
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        let many = format!("{{\"lang\": [{}1]}}", "1,".repeat(PARAMETERS_MAX));
        assert!(parse(many.as_bytes()).is_err());
        let deep = format!("{{\"q\": {}{}}}", "[".repeat(30_000), "]".repeat(30_000));
        assert!(parse(deep.as_bytes()).is_err());
    }
}
