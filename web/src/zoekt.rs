//! Interface of zoekt: its JSON API, and addresses of its pages.
//!
//! Names, shapes and status codes are the same. Limits restrict only what is written: counts are
//! exact, and files that a limit leaves out are `FilesSkipped`. Lost shards are `Crashes`, those of
//! a search that ran out of time `ShardsSkipped`. Missing: `Trace` and `DebugScore`.
//!
//! `/search` is an address of both servers: `num`, `ctx` and `format` mark theirs.

mod answer;
mod found;
#[cfg(feature = "grpc")]
mod grpc;
mod lines;
mod links;
mod list;
mod names;
mod pages;
mod request;
mod sets;
mod shape;
mod writer;

pub(crate) use links::Links;
pub(crate) use pages::{is_search, search_page};

use crate::http::response::{self, with_body};
use crate::problem::{METHOD_NOT_ALLOWED, Problem};
use crate::search::params::Params;
use crate::state::{App, Call};
use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::{get, post};
use frontend::query::zoekt::{self, QueryTree};
use request::{Body, SearchOptions, message};
use schema::message::Field;
use serde_json::json;
use shape::{ListAnswer, MinimalEntry, RepositoryList};

pub(crate) fn routes() -> Router<App> {
    let routes = Router::new();
    #[cfg(feature = "grpc")]
    let routes = routes.merge(grpc::routes());
    routes
        .route("/api/search", post(search))
        .route("/api/list", post(list))
        .route("/print", get(pages::print))
}

/// `{"Error": …}`, or text with status 418.
pub(crate) fn shape(uri: &Uri) -> Option<fn(&Problem, Response) -> Response> {
    let has_json = || {
        let params = Params::parse(uri.query().unwrap_or_default());
        params.is_ok_and(|params| pages::is_json(&params))
    };
    match uri.path() {
        "/api/search" | "/api/list" => Some(json_error),
        "/print" => Some(text_error),
        "/search" if has_json() => Some(text_error),
        #[cfg(feature = "grpc")]
        path if path.starts_with(grpc::SERVICE) => Some(grpc::error),
        _ => None,
    }
}

fn json_error(problem: &Problem, response: Response) -> Response {
    let message = if problem.is(&METHOD_NOT_ALLOWED) {
        "Only POST is supported".to_owned()
    } else {
        message(problem)
    };
    let body = json!({ "Error": message }).to_string() + "\n";
    with_body(response, "application/json", body)
}

fn text_error(problem: &Problem, mut response: Response) -> Response {
    let is_faulty = matches!(response.status().as_u16(), 400 | 404 | 410);
    if is_faulty {
        *response.status_mut() = StatusCode::IM_A_TEAPOT;
    }
    with_body(
        response,
        "text/plain; charset=utf-8",
        message(problem) + "\n",
    )
}

async fn search(call: Call, links: Links, request: Request) -> Result<Response, Problem> {
    let body = Body::read(request).await?;
    let query = body.query()?;
    if query.is_empty() {
        return Err(Problem::bad_request("missing query"));
    }
    let options = SearchOptions::parse(&body.options()?)?;
    let mut tree = zoekt::tree(query)?;
    if let Some(ids) = body.repositories()? {
        let names = list::with_ids(&call, |id| ids.contains(&id)).await?;
        tree = QueryTree::all([tree, QueryTree::exact(Field::Package, names)]);
    }
    let prepared = list::prepare(&call, tree, options.context_lines).await?;
    answer::respond(found::begin(&call, links, prepared, &options).await?).await
}

async fn list(call: Call, links: Links, request: Request) -> Result<Response, Problem> {
    let body = Body::read(request).await?;
    let tree = zoekt::tree(body.query()?)?;
    let field = body.options()?.number("Field")?;
    if !matches!(field, 0 | 2) {
        let detail = format!("unknown RepoListField {field}");
        return Err(Problem::bad_request(detail).hint("0 lists Repos, 2 lists ReposMap"));
    }
    let prepared = list::prepare(&call, tree, 0).await?;
    let found = list::find(&call, &prepared).await?;
    let mut answer = RepositoryList {
        crashes: found.missing,
        stats: list::sum(&found.entries),
        ..RepositoryList::default()
    };
    let entries = found.entries.iter();
    if field == 0 {
        answer.repos = entries.map(|entry| list::listed(entry, &links)).collect();
    } else {
        let minimal = |entry| (list::id(entry), MinimalEntry::from(entry));
        answer.repos_map = entries.map(minimal).collect();
    }
    Ok(response::json(&ListAnswer { list: answer }))
}
