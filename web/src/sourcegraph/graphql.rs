//! `/.api/graphql`: the part of the schema that clients use.
//!
//! **Invariant:** a request is bounded before it runs: its body, also decompressed, its depth, and
//! its cost, in which a search counts as many fields. Fields are resolved one by one, in order.

mod known_types;
mod repository;
mod search;
mod shared;

use crate::http::request_limits::read_body;
use crate::http::response;
use crate::problem::Problem;
use crate::state::{App, Call};
use access::KeyName;
use async_graphql::{
    Context, EmptyMutation, EmptySubscription, Enum, Object, ObjectType, SimpleObject,
};
use async_graphql::{Request as Query, Result, Schema, Variables};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use flate2::read::GzDecoder;
use known_types::KnownTypes;
use repository::{Repositories, Repository};
use search::{PatternType, Search, Version};
use serde::Deserialize;
use shared::{TextLeft, refused};
use std::io::Read;
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;
use tokio::sync::Semaphore;

const BODY_BYTES_MAX: usize = 256 << 10;

const DEPTH_MAX: usize = 24;
const COST_MAX: usize = 1000;

const TEXT_BYTES_MAX: u64 = 16 << 20;

const FILES_AT_ONCE: usize = 4;

/// Clients look for a date in it.
const BUILD: &str = "0_2026-11-01_trawl";

pub(crate) type Limited<Q> = Schema<Q, EmptyMutation, EmptySubscription>;

static SCHEMA: LazyLock<Limited<Root>> = LazyLock::new(|| limited(Root));

pub(crate) fn limited<Q: ObjectType + 'static>(root: Q) -> Limited<Q> {
    let schema = Schema::build(root, EmptyMutation, EmptySubscription);
    let schema = schema.limit_depth(DEPTH_MAX).limit_complexity(COST_MAX);
    schema.extension(KnownTypes).finish()
}

pub(super) fn route() -> MethodRouter<App> {
    post(answer)
}

#[derive(Deserialize)]
struct Body {
    query: String,
    #[serde(default)]
    variables: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default, rename = "operationName")]
    operation: Option<String>,
}

async fn answer(call: Call, request: Request) -> Result<Response, Problem> {
    run(&SCHEMA, call, request, |query| query).await
}

pub(crate) async fn run<Q: ObjectType + 'static>(
    schema: &Limited<Q>,
    call: Call,
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
    let text = TextLeft {
        bytes: AtomicU64::new(TEXT_BYTES_MAX),
        turns: Semaphore::new(FILES_AT_ONCE),
    };
    let query = prepare(query.data(text).data(call));
    Ok(response::no_store(response::json(
        &schema.execute(query).await,
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

struct Root;

#[Object(name = "Query", serial)]
impl Root {
    async fn site(&self) -> Site {
        Site {
            build_version: BUILD,
            product_version: env!("CARGO_PKG_VERSION"),
        }
    }

    async fn current_user(&self, ctx: &Context<'_>) -> User {
        let key = ctx.data_opt::<KeyName>().map(KeyName::as_str);
        User {
            username: key.unwrap_or("anonymous").to_owned(),
        }
    }

    #[graphql(complexity = "100 + child_complexity")]
    async fn search(
        &self,
        ctx: &Context<'_>,
        query: String,
        version: Option<Version>,
        pattern_type: Option<PatternType>,
    ) -> Result<Search> {
        let pattern_type = search::pattern_type(version, pattern_type).map_err(refused)?;
        Search::run(ctx, &query, pattern_type)
            .await
            .map_err(refused)
    }

    #[graphql(complexity = "50 + child_complexity")]
    #[expect(clippy::too_many_arguments, reason = "arguments of the schema")]
    async fn repositories(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        query: Option<String>,
        #[graphql(name = "cloned")] _cloned: Option<bool>,
        #[graphql(name = "notCloned")] _not_cloned: Option<bool>,
        #[graphql(name = "indexed")] _indexed: Option<bool>,
        #[graphql(name = "notIndexed")] _not_indexed: Option<bool>,
        #[graphql(name = "orderBy")] _order_by: Option<RepositoryOrderBy>,
        descending: Option<bool>,
    ) -> Result<Repositories> {
        let wanted = (
            first,
            query.unwrap_or_default(),
            descending.unwrap_or(false),
        );
        let list = Repositories::list(ctx.data_unchecked(), wanted).await;
        list.map_err(refused)
    }

    #[graphql(complexity = "10 + child_complexity")]
    async fn repository(&self, ctx: &Context<'_>, name: String) -> Result<Option<Repository>> {
        let found = Repository::find(ctx.data_unchecked(), &name).await;
        found.map_err(refused)
    }
}

#[derive(SimpleObject)]
struct Site {
    build_version: &'static str,
    product_version: &'static str,
}

#[derive(SimpleObject)]
struct User {
    username: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum RepositoryOrderBy {
    RepositoryName,
    RepoCreatedAt,
    #[graphql(name = "REPOSITORY_CREATED_AT")]
    RepositoryCreatedAt,
    Size,
}
