//! GraphQL over HTTP.
//!
//! **Invariant:** a request is bounded before it runs: its body, also decompressed, its depth, and
//! its cost.

mod known_types;

use crate::http::request_limits::read_body;
use crate::http::response;
use crate::problem::Problem;
use access::KeyName;
use async_graphql::{EmptyMutation, EmptySubscription, ObjectType};
use async_graphql::{Request as Query, Schema, Variables};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use flate2::read::GzDecoder;
use known_types::KnownTypes;
use serde::Deserialize;
use std::io::Read;

const BODY_BYTES_MAX: usize = 256 << 10;

const DEPTH_MAX: usize = 24;
const COST_MAX: usize = 1000;

pub(crate) type Limited<Q> = Schema<Q, EmptyMutation, EmptySubscription>;

pub(crate) fn limited<Q: ObjectType + 'static>(root: Q) -> Limited<Q> {
    let schema = Schema::build(root, EmptyMutation, EmptySubscription);
    let schema = schema.limit_depth(DEPTH_MAX).limit_complexity(COST_MAX);
    schema.extension(KnownTypes).finish()
}

#[derive(Deserialize)]
struct Body {
    query: String,
    #[serde(default)]
    variables: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default, rename = "operationName")]
    operation: Option<String>,
}

pub(crate) async fn run<Q: ObjectType + 'static>(
    schema: &Limited<Q>,
    request: Request,
    prepare: impl FnOnce(Query) -> Query,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let body = read_body(body, BODY_BYTES_MAX, &parts.extensions).await?;
    let body = decompressed(&parts.headers, &body)?;
    let body: Body = serde_json::from_slice(&body)
        .map_err(|error| Problem::bad_request(format!("malformed JSON: {error}")))?;
    let variables = serde_json::Value::Object(body.variables.unwrap_or_default());
    let mut query = Query::new(body.query).variables(Variables::from_json(variables));
    query.operation_name = body.operation;
    if let Some(key) = parts.extensions.get::<KeyName>() {
        query = query.data(key.clone());
    }
    Ok(response::no_store(response::json(
        &schema.execute(prepare(query)).await,
    )))
}

fn decompressed(headers: &HeaderMap, body: &[u8]) -> Result<Vec<u8>, Problem> {
    let encoding = headers.get(header::CONTENT_ENCODING);
    match encoding.map_or(&b""[..], |encoding| encoding.as_bytes()) {
        b"" | b"identity" => Ok(body.to_vec()),
        b"gzip" => {
            let mut text = Vec::new();
            let mut decoder = GzDecoder::new(body).take(BODY_BYTES_MAX as u64 + 1);
            let read = decoder.read_to_end(&mut text);
            read.map_err(|_| Problem::bad_request("the body is not gzip"))?;
            if text.len() > BODY_BYTES_MAX {
                let detail = format!("the body exceeds {BODY_BYTES_MAX} bytes");
                return Err(Problem::too_large(detail));
            }
            Ok(text)
        }
        _ => Err(Problem::unsupported("the body must be plain or gzip")),
    }
}
