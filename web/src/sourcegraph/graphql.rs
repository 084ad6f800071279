//! `/.api/graphql`: the part of the schema that clients use.
//!
//! Fields are resolved one by one, in order. A search costs as much as many fields.

mod commit;
mod file;
mod lsif;
mod objects;
mod pattern_type;
mod repository;
mod search;
mod shared;

use crate::http::graphql::{Limited, limited, run};
use crate::problem::Problem;
use crate::state::{App, Call};
use access::KeyName;
use async_graphql::{Context, Enum, ID, Object, Request as Query, Result, SimpleObject};
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use objects::Repository;
use pattern_type::{PatternType, Version, pattern_type};
use repository::{FoundRepository, Repositories, Wanted};
use search::Search;
use shared::{LookupsLeft, TextLeft, refused};
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
    let prepare = |query: Query| query.data(text).data(LookupsLeft::default()).data(call);
    run(&SCHEMA, request, prepare).await
}

struct Root;

#[Object(name = "Query", serial)]
impl Root {
    async fn site(&self) -> Site {
        Site {
            id: ID::from("site"),
            site_id: "trawl",
            build_version: BUILD,
            product_version: env!("CARGO_PKG_VERSION"),
        }
    }

    async fn current_user(&self, ctx: &Context<'_>) -> User {
        let key = ctx.data_opt::<KeyName>().map(KeyName::as_str);
        let name = key.unwrap_or("anonymous").to_owned();
        User {
            id: ID(name.clone()),
            display_name: name.clone(),
            username: name,
        }
    }

    #[graphql(complexity = "100 + child_complexity")]
    async fn search(
        &self,
        ctx: &Context<'_>,
        query: String,
        version: Option<Version>,
        #[graphql(name = "patternType")] typed: Option<PatternType>,
    ) -> Result<Search> {
        let pattern_type = pattern_type(version, typed).map_err(refused)?;
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
        after: Option<String>,
        query: Option<String>,
        names: Option<Vec<String>>,
        #[graphql(name = "cloned")] _cloned: Option<bool>,
        #[graphql(name = "notCloned")] _not_cloned: Option<bool>,
        #[graphql(name = "indexed")] _indexed: Option<bool>,
        #[graphql(name = "notIndexed")] _not_indexed: Option<bool>,
        #[graphql(name = "orderBy")] _order_by: Option<RepositoryOrderBy>,
        descending: Option<bool>,
    ) -> Result<Repositories> {
        let wanted = Wanted {
            first,
            after,
            query: query.unwrap_or_default(),
            names,
            descending: descending.unwrap_or(false),
        };
        let list = Repositories::list(ctx.data_unchecked(), &wanted).await;
        list.map_err(refused)
    }

    /// By name, or by the address of a remote.
    #[graphql(complexity = "10 + child_complexity")]
    async fn repository(
        &self,
        ctx: &Context<'_>,
        name: Option<String>,
        #[graphql(name = "cloneURL")] clone_url: Option<String>,
    ) -> Result<Option<Repository>> {
        let name = name.or(clone_url.as_deref().map(name_of_remote));
        let name = name.ok_or_else(|| refused(Problem::bad_request("name is missing")))?;
        let found = Repository::find(ctx.data_unchecked(), &name).await;
        found.map_err(refused)
    }

    #[graphql(complexity = "10 + child_complexity")]
    async fn repository_redirect(
        &self,
        ctx: &Context<'_>,
        name: String,
    ) -> Result<Option<FoundRepository>> {
        let found = Repository::find(ctx.data_unchecked(), &name).await;
        let found = found.map_err(refused)?;
        Ok(found.map(FoundRepository::Repository))
    }
}

/// `git@host:owner/name.git` and `https://host/owner/name` have the name `host/owner/name`.
fn name_of_remote(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
    let rest = rest.strip_suffix(".git").unwrap_or(rest);
    rest.replacen(':', "/", 1)
}

#[derive(SimpleObject)]
struct Site {
    id: ID,
    #[graphql(name = "siteID")]
    site_id: &'static str,
    build_version: &'static str,
    product_version: &'static str,
}

#[derive(SimpleObject)]
struct User {
    id: ID,
    username: String,
    display_name: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum RepositoryOrderBy {
    RepositoryName,
    RepoCreatedAt,
    #[graphql(name = "REPOSITORY_CREATED_AT")]
    RepositoryCreatedAt,
    Size,
}
