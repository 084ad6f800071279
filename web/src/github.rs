//! Code search of GitHub's REST API, and addresses of its pages.
//!
//! Packages are repositories `owner/name`. Addresses begin with `/api/v3`, as of GitHub Enterprise,
//! or with nothing.

mod account;
mod addresses;
mod commits;
mod contents;
mod fragments;
mod pages;
mod repository;
mod search;
mod shape;

pub(crate) use pages::{is_search, search_page};
pub(crate) use shape::shape;

use crate::state::App;
use addresses::PREFIX;
use axum::Router;
use axum::routing::{get, post};

pub(crate) fn routes() -> Router<App> {
    let pages = Router::new()
        .route("/api/graphql", post(account::graphql))
        .route(PREFIX, get(account::root))
        .route("/api/v3/", get(account::root))
        .route("/{owner}/{repo}/blob/{rev}/{*path}", get(pages::file))
        .route("/{owner}/{repo}/tree/{rev}", get(pages::top))
        .route("/{owner}/{repo}/tree/{rev}/{*path}", get(pages::directory));
    ["", PREFIX].into_iter().fold(pages, |router, prefix| {
        let at = |path: &str| format!("{prefix}{path}");
        let repository = at("/repos/{owner}/{repo}");
        router
            .route(&at("/search/code"), get(search::code))
            .route(&at("/rate_limit"), get(account::rate_limit))
            .route(&at("/user"), get(account::user))
            .route(&at("/meta"), get(account::meta))
            .route(&format!("{repository}/contents"), get(contents::top))
            .route(&format!("{repository}/contents/"), get(contents::top))
            .route(
                &format!("{repository}/contents/{{*path}}"),
                get(contents::at),
            )
            .route(&format!("{repository}/commits"), get(commits::list))
            .route(
                &format!("{repository}/git/trees/{{*rev}}"),
                get(contents::tree),
            )
            .route(
                &format!("{repository}/git/ref/{{*reference}}"),
                get(commits::reference),
            )
            .route(&repository, get(repository::get))
    })
}
