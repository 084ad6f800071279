//! Code search of GitHub's REST API, and addresses of its pages.
//!
//! A package is the repository `owner/name`: its last two names, or `pkg/NAME`. Addresses of the API
//! begin with `/api/v3`, as those of GitHub Enterprise, or with nothing. Answers have the matches
//! that GitHub sends on demand, with line numbers, and lack the addresses of what Trawl lacks.

mod account;
mod commits;
mod contents;
mod fragments;
mod pages;
mod repository;
mod search;
mod shape;

pub(crate) use pages::{is_search, search_page};
pub(crate) use shape::shape;

use crate::http::links::encode;
use crate::http::server::IsHttps;
use crate::http::site::Site;
use crate::state::App;
use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use axum::routing::{get, post};
use std::convert::Infallible;

const PREFIX: &str = "/api/v3";

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

/// Start of this server's addresses, as the client knows it.
#[derive(Clone, Debug)]
struct Origin(String);

impl<S: Sync> FromRequestParts<S> for Origin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let is_https = parts.extensions.get::<IsHttps>().is_some();
        let scheme = if is_https { "https" } else { "http" };
        let named = parts.headers.get(header::HOST);
        let named = named.and_then(|host| host.to_str().ok());
        let host = parts.uri.authority().map(|it| it.as_str()).or(named);
        let base = Site::of(&parts.headers, &parts.extensions).base;
        let host = host.unwrap_or("localhost");
        Ok(Origin(format!("{scheme}://{host}{}", base.as_str())))
    }
}

impl Origin {
    /// Of a path that begins with `/`.
    fn page(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    fn repository(&self, full_name: &str) -> String {
        self.page(&format!("{PREFIX}/repos/{}", encode(full_name.as_bytes())))
    }

    /// Of a file or directory; an empty `rev` is the default one.
    fn contents(&self, full_name: &str, path: &[u8], rev: &str) -> String {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let at = format!("{}/contents/{}", self.repository(full_name), encode(path));
        match rev {
            "" => at,
            rev => format!("{at}?ref={}", encode(rev.as_bytes())),
        }
    }
}

/// Prefix of a BLAKE3 hash, as long as an id of git.
fn sha(hash: &[u8]) -> String {
    let digits = hash.iter().take(20).map(|byte| format!("{byte:02x}"));
    digits.collect()
}
