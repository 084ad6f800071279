//! Account of the client, limits and version.

use super::addresses::{Addresses, PREFIX};
use crate::http::request_limits::read_body;
use crate::http::response;
use crate::problem::Problem;
use access::KeyName;
use axum::Extension;
use axum::extract::Request;
use axum::http::HeaderName;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

const BODY_BYTES_MAX: usize = 64 << 10;

const LIMIT: u64 = 1_000_000;

const NOBODY: &str = "anonymous";

const VERSION: &str = "3.19.0";

const SCOPES: (HeaderName, &str) = (
    HeaderName::from_static("x-oauth-scopes"),
    "gist, read:org, repo",
);

pub(super) async fn root(addresses: Addresses) -> Response {
    let at = |path: &str| addresses.page(&format!("{PREFIX}{path}"));
    let body = json!({
        "current_user_url": at("/user"),
        "code_search_url": at("/search/code?q={query}{&page,per_page,sort,order}"),
        "rate_limit_url": at("/rate_limit"),
        "repository_url": at("/repos/{owner}/{repo}"),
    });
    ([SCOPES], response::json(&body)).into_response()
}

pub(super) async fn user(key: Option<Extension<KeyName>>, addresses: Addresses) -> Response {
    let user = json!({
        "login": login(key.as_ref()),
        "id": 0,
        "type": "User",
        "site_admin": false,
        "html_url": addresses.page("/"),
    });
    ([SCOPES], response::json(&user)).into_response()
}

fn login(key: Option<&Extension<KeyName>>) -> &str {
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

pub(super) async fn graphql(
    key: Option<Extension<KeyName>>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let body = read_body(body, BODY_BYTES_MAX, &parts.extensions).await?;
    let asked: Value = serde_json::from_slice(&body)
        .map_err(|error| Problem::bad_request(format!("malformed body: {error}")))?;
    let query = asked["query"].as_str().unwrap_or_default();
    let words = query.split(|letter: char| !letter.is_alphanumeric());
    let fields: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    Ok(response::json(&if fields.ends_with(&["viewer", "login"]) {
        json!({"data": {"viewer": {"login": login(key.as_ref())}}})
    } else {
        let message = "GraphQL answers only viewer { login }; search by REST: /api/v3/search/code";
        json!({"data": null, "errors": [{"message": message}]})
    }))
}
