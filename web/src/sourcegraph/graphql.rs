//! `/.api/graphql`: the part of the schema that clients use.
//!
//! Fields are resolved one by one, in order. A search costs as much as many fields.

mod repository;
mod search;
mod shared;

use crate::http::graphql::{Limited, limited, run};
use crate::problem::Problem;
use crate::state::{App, Call};
use access::KeyName;
use async_graphql::{Context, Enum, Object, Result, SimpleObject};
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use repository::{Repositories, Repository};
use search::{PatternType, Search, Version};
use shared::{TextLeft, refused};
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;
use tokio::sync::Semaphore;

const TEXT_BYTES_MAX: u64 = 16 << 20;

const FILES_AT_ONCE: usize = 4;

/// Clients look for a date in it.
const BUILD: &str = "0_2026-11-01_trawl";

static SCHEMA: LazyLock<Limited<Root>> = LazyLock::new(|| limited(Root));

pub(super) fn route() -> MethodRouter<App> {
    post(answer)
}

async fn answer(call: Call, request: Request) -> Result<Response, Problem> {
    let text = TextLeft {
        bytes: AtomicU64::new(TEXT_BYTES_MAX),
        turns: Semaphore::new(FILES_AT_ONCE),
    };
    run(&SCHEMA, request, |query| query.data(text).data(call)).await
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
