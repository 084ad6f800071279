//! Spans as JSON of the OpenTelemetry protocol (OTLP 1.x,
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>): hexadecimal ids, 64-bit
//! numbers as strings, no unset fields.

use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

/// Longer texts are truncated.
const TEXT_BYTES_MAX: usize = 1024;

/// Longer responses are ignored.
const RESPONSE_BYTES_MAX: usize = 64 << 10;

/// Attributes of this process, such as `service.name`.
#[derive(Clone, Debug, Default)]
pub struct Resource(pub Vec<(String, String)>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Internal,
    Server,
    Client,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) trace: u128,
    pub(crate) span: u64,
    pub(crate) parent: Option<u64>,
    /// Equal for equal work.
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: Kind,
    /// Nanoseconds since 1970.
    pub(crate) begun_ns: u64,
    pub(crate) ended_ns: u64,
    pub(crate) attributes: Vec<(&'static str, Value)>,
    /// Trace and span of dependencies.
    pub(crate) links: Vec<(u128, u64)>,
    pub(crate) failure: Option<&'static str>,
}

/// Type and value of an attribute: a text of up to 1 KiB, an integer or a boolean.
#[derive(Clone, Debug, PartialEq)]
pub struct Value(&'static str, Json);

macro_rules! value_of {
    ($($type:ty: $key:literal, $value:expr;)+) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Value {
                let encode: fn($type) -> Json = $value;
                Value($key, encode(value))
            }
        }
    )+};
}

value_of!(
    String: "stringValue", |text| Json::from(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)]);
    &str: "stringValue", |text| Json::from(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)]);
    u64: "intValue", |number| i64::try_from(number).unwrap_or(i64::MAX).to_string().into();
    usize: "intValue", |number| i64::try_from(number).unwrap_or(i64::MAX).to_string().into();
    i32: "intValue", |number| number.to_string().into();
    bool: "boolValue", |condition| condition.into();
);

pub(crate) fn encode(resource: &Resource, batch: &[Record]) -> Vec<u8> {
    let about = resource.0.iter();
    let about: Vec<Json> = about
        .map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } }))
        .collect();
    let spans: Vec<Json> = batch.iter().map(span).collect();
    let body = json!({
        "resourceSpans": [{
            "resource": { "attributes": about },
            "scopeSpans": [{ "scope": { "name": "trawl" }, "spans": spans }],
        }],
    });
    body.to_string().into_bytes()
}

fn span(record: &Record) -> Json {
    let mut span = Map::new();
    let mut put = |key: &str, value: Json| drop(span.insert(key.to_owned(), value));
    put("traceId", format!("{:032x}", record.trace).into());
    put("spanId", format!("{:016x}", record.span).into());
    if let Some(parent) = record.parent {
        put("parentSpanId", format!("{parent:016x}").into());
    }
    put("name", record.name.as_ref().into());
    let kind = match record.kind {
        Kind::Internal => 1,
        Kind::Server => 2,
        Kind::Client => 3,
    };
    put("kind", kind.into());
    put("startTimeUnixNano", record.begun_ns.to_string().into());
    put("endTimeUnixNano", record.ended_ns.to_string().into());
    if !record.attributes.is_empty() {
        let attribute = |(key, Value(kind, value)): &(&str, Value)| json!({ "key": key, "value": { *kind: value } });
        let attributes = record.attributes.iter();
        put("attributes", attributes.map(attribute).collect());
    }
    if !record.links.is_empty() {
        let link = |(trace, span): &(u128, u64)| json!({ "traceId": format!("{trace:032x}"), "spanId": format!("{span:016x}") });
        put("links", record.links.iter().map(link).collect());
    }
    if let Some(failure) = record.failure {
        put("status", json!({ "code": 2, "message": failure }));
    }
    span.into()
}

/// Rejected spans. An unreadable response rejects none.
pub(crate) fn rejected(response: &[u8]) -> u64 {
    if response.len() > RESPONSE_BYTES_MAX {
        return 0;
    }
    let response: Json = serde_json::from_slice(response).unwrap_or_default();
    match &response["partialSuccess"]["rejectedSpans"] {
        Json::String(number) => number.parse().unwrap_or_default(),
        number => number.as_u64().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_json_of_the_protocol() {
        let record = Record {
            trace: 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c,
            span: 0x7ad_6b71_6920_3331,
            parent: Some(1),
            name: "stream".into(),
            kind: Kind::Client,
            begun_ns: 1_544_712_660_000_000_000,
            ended_ns: 1_544_712_661_000_000_000,
            attributes: vec![
                ("trawl.backend", "10.0.0.1:28082".into()),
                ("trawl.matches", u64::MAX.into()),
                ("trawl.hedged", true.into()),
            ],
            links: vec![(2, 3)],
            failure: Some("closed"),
        };
        let resource = Resource(vec![("service.name".into(), "trawl".into())]);
        let body: Json = serde_json::from_slice(&encode(&resource, &[record])).unwrap();
        let expected = json!({
            "resourceSpans": [{
                "resource": { "attributes": [{ "key": "service.name", "value": { "stringValue": "trawl" } }] },
                "scopeSpans": [{
                    "scope": { "name": "trawl" },
                    "spans": [{
                        "traceId": "0af7651916cd43dd8448eb211c80319c",
                        "spanId": "07ad6b7169203331",
                        "parentSpanId": "0000000000000001",
                        "name": "stream",
                        "kind": 3,
                        "startTimeUnixNano": "1544712660000000000",
                        "endTimeUnixNano": "1544712661000000000",
                        "attributes": [
                            { "key": "trawl.backend", "value": { "stringValue": "10.0.0.1:28082" } },
                            { "key": "trawl.matches", "value": { "intValue": "9223372036854775807" } },
                            { "key": "trawl.hedged", "value": { "boolValue": true } },
                        ],
                        "links": [{ "traceId": "00000000000000000000000000000002", "spanId": "0000000000000003" }],
                        "status": { "code": 2, "message": "closed" },
                    }],
                }],
            }],
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        for (text, bytes) in [("\u{e9}x", TEXT_BYTES_MAX - 1), ("x\u{e9}", TEXT_BYTES_MAX)] {
            let long = text.repeat(TEXT_BYTES_MAX);
            for value in [Value::from(&*long), Value::from(long.clone())] {
                assert_eq!(value, Value("stringValue", Json::from(&long[..bytes])));
            }
        }
    }

    #[test]
    fn only_a_response_that_says_so_rejects_spans() {
        for (response, expected) in [
            (r#"{"partialSuccess":{"rejectedSpans":"3"}}"#, 3),
            (r#"{"partialSuccess":{"rejectedSpans":4}}"#, 4),
            (r#"{"partialSuccess":{}}"#, 0),
            (r#"{"partialSuccess":{"rejectedSpans":-1}}"#, 0),
            ("<html>", 0),
            ("", 0),
            (r#"["partialSuccess"]"#, 0),
        ] {
            assert_eq!(rejected(response.as_bytes()), expected, "{response}");
        }
    }
}
