//! Interface of Sourcegraph: stream of a search, GraphQL, and addresses of its pages.

#[cfg(feature = "graphql")]
mod graphql;
mod items;
mod links;
mod matches;
mod progress;
mod query;
mod stream;

pub(crate) use links::{is_search, page, search_page};

use crate::http::response::{self, with_body};
use crate::problem::Problem;
use crate::state::App;
use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::get;
#[cfg(not(feature = "graphql"))]
use axum::routing::post;
use progress::words;
use serde_json::json;

const STREAM: &str = "/.api/search/stream";
const GRAPHQL: &str = "/.api/graphql";

const CLIENT_VERSION: &str = "7.6.0";

pub(crate) fn routes() -> Router<App> {
    let version = async || response::json(&json!({ "version": CLIENT_VERSION }));
    #[cfg(feature = "graphql")]
    let graphql = graphql::route();
    #[cfg(not(feature = "graphql"))]
    let graphql = post(async || Problem::missing("this server was built without GraphQL"));
    Router::new()
        .route(STREAM, get(stream::search))
        .route(GRAPHQL, graphql)
        .route("/.api/src-cli/version", get(version))
}

pub(crate) fn shape(uri: &Uri) -> Option<fn(&Problem, Response) -> Response> {
    match uri.path() {
        STREAM => Some(event),
        GRAPHQL => Some(errors),
        path if path.starts_with("/.api/") => Some(error),
        _ => None,
    }
}

fn event(problem: &Problem, response: Response) -> Response {
    let error = json!({ "message": words(problem) });
    let body = format!("event: error\ndata: {error}\n\nevent: done\ndata: {{}}\n\n");
    with_body(response, "text/event-stream", body)
}

/// Clients read the body only of status 200, but look for a refused key in the status.
fn errors(problem: &Problem, mut response: Response) -> Response {
    let kept = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
    if !kept.contains(&response.status()) {
        *response.status_mut() = StatusCode::OK;
    }
    let body = json!({ "errors": [{ "message": words(problem) }] });
    with_body(response, "application/json", body.to_string())
}

fn error(problem: &Problem, response: Response) -> Response {
    let body = json!({ "error": words(problem) });
    with_body(response, "application/json", body.to_string())
}
