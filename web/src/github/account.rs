//! Account of the client, limits and version.

use super::addresses::Addresses;
use super::repository::Owner;
use crate::http::links::Path;
use crate::http::response;
use crate::problem::Problem;
use access::KeyName;
use axum::Extension;
use axum::http::{HeaderName, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::json;

const LIMIT: u64 = 1_000_000;

const NOBODY: &str = "anonymous";

const VERSION: &str = "3.19.0";

const SCOPES: (HeaderName, &str) = (
    HeaderName::from_static("x-oauth-scopes"),
    "gist, read:org, repo",
);

pub(super) async fn root(addresses: Addresses) -> Response {
    let at = |path: &str| addresses.api(path);
    let body = json!({
        "current_user_url": at("/user"),
        "code_search_url": at("/search/code?q={query}{&page,per_page,sort,order}"),
        "organization_repositories_url": at("/orgs/{org}/repos{?page,per_page,sort}"),
        "rate_limit_url": at("/rate_limit"),
        "repository_url": at("/repos/{owner}/{repo}"),
        "repository_search_url": at("/search/repositories?q={query}{&page,per_page,sort,order}"),
        "user_url": at("/users/{user}"),
        "user_repositories_url": at("/users/{user}/repos{?page,per_page,sort}"),
    });
    ([SCOPES], response::json(&body)).into_response()
}

pub(super) async fn user(key: Option<Extension<KeyName>>, addresses: Addresses) -> Response {
    let mut user = json!(Owner::new(&addresses, login(key.as_ref()).to_owned()));
    user["type"] = "User".into();
    ([SCOPES], response::json(&user)).into_response()
}

pub(super) fn login(key: Option<&Extension<KeyName>>) -> &str {
    key.map_or(NOBODY, |Extension(name)| name.as_str())
}

pub(super) async fn meta() -> Response {
    response::json(&json!({
        "verifiable_password_authentication": false,
        "installed_version": VERSION,
    }))
}

pub(super) async fn rate_limit() -> Response {
    let rate = json!({"limit": LIMIT, "remaining": LIMIT, "reset": 0, "used": 0});
    let resources = json!({"core": rate, "search": rate, "code_search": rate, "graphql": rate});
    response::json(&json!({"resources": resources, "rate": rate}))
}

/// Searches for objects that Trawl does not have.
pub(super) async fn no_search(uri: Uri) -> Problem {
    let of = uri.path().rsplit('/').next().unwrap_or_default();
    Problem::bad_request(format!("Trawl searches code and repositories, not {of}"))
}

pub(super) async fn no_part(Path(rest): Path<(String, String, String)>) -> Problem {
    let detail = format!("Trawl has no {} of repositories, only their code", rest.2);
    Problem::missing(detail).hint("clone from the host of git for more")
}
