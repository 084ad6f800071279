//! Indexed packages, directories, and backends.
//!
//! `next` of a part is the value of `after` for the rest. As a name, it stays valid while entries
//! change.

use super::openapi::described as doc;
use crate::http::blocking;
use crate::http::response::{self, NO_STORE};
use crate::model::{IndexPackages, Status, Tree};
use crate::pages;
use crate::problem::Problem;
use crate::search::params::{NEXT, Params, lossy};
use crate::state::App;
use access::Viewer;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::{Scope, entry_name};
use schema::message::{ListEntry, ListKind, ListRequest};
use std::time::UNIX_EPOCH;

/// Default of `count`. A backend may send fewer entries.
const COUNT_DEFAULT: usize = 100;

/// About a backend's part.
const COUNT_MAX: usize = 1000;

const REPOSITORIES_MAX: u32 = 1000;

pub(crate) const PART: &[&str] = &["after", "count"];

/// List the indexed packages.
#[utoipa::path(
    get, path = "/api/v2/index/packages", operation_id = "indexPackages", tag = "index",
    params(doc::PrefixParam, doc::PartParams),
    responses((status = 200, description = "Packages, by name", body = IndexPackages), doc::Any, doc::BackendLost)
)]
pub(crate) async fn packages(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[&["prefix"], PART])?;
    let prefix = params.bytes("prefix").unwrap_or_default();
    let request = part(&params, ListKind::Packages, b"", prefix)?;
    let scope = viewer.scope().await?;
    let list = app.coordinator.listing(&scope, &request).await?;
    Ok(response::json(&IndexPackages {
        complete: list.unreachable.is_empty(),
        missing: list.unreachable.into_iter().map(Into::into).collect(),
        next: next(&request, &list.entries, list.more),
        packages: list.entries.into_iter().map(Into::into).collect(),
    }))
}

/// List a directory of a package.
#[utoipa::path(
    get, path = "/api/v2/tree", operation_id = "tree", tag = "index",
    params(doc::DirectoryParams, doc::PartParams),
    responses((status = 200, description = "The entries of a directory", body = Tree), doc::Any, doc::NotFound, doc::BackendLost)
)]
pub(crate) async fn tree(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[&["package", "path"], PART])?;
    let name = params.required("package")?;
    let path = directory(params.bytes("path").unwrap_or_default());
    let scope = viewer.scope_with(name).await?;
    let Some(package) = app.corpus(&scope).versions(name).await?.pop() else {
        return Err(no_package(&app, &viewer, name).await);
    };
    let request = part(&params, ListKind::Children, &package.package, &path)?;
    let list = app.coordinator.list(&scope, request.clone()).await?;
    if list.entries.is_empty() && !request.prefix.is_empty() && request.after.is_empty() {
        return Err(no_directory(&package.package, &request.prefix));
    }
    let next = next(&request, &list.entries, list.more);
    let tree = Tree::new(&package, &request.prefix, list.entries, next);
    Ok(response::json(&tree))
}

/// Get the state of the index and its backends.
#[utoipa::path(
    get, path = "/api/v2/status", operation_id = "status", tag = "index",
    responses((status = 200, description = "What is searched", body = Status), doc::Any)
)]
pub(crate) async fn status(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[])?;
    let (status, _) = current(&app, &viewer).await?;
    let mut response = response::json(&status).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    Ok(response)
}

/// Query times need full access.
pub(crate) async fn status_page(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    let (status, scope) = current(&app, &viewer).await?;
    let times = scope.is_everything().then(|| app.coordinator.query_times());
    let page = blocking(move || pages::status_page(&status, times, &params.site)).await;
    Ok(([(header::CACHE_CONTROL, NO_STORE)], Html(page)).into_response())
}

async fn current(app: &App, viewer: &Viewer) -> Result<(Status, Scope), Problem> {
    let scope = viewer.scope().await?;
    let request = ListRequest::new(ListKind::Repositories, b"", b"", REPOSITORIES_MAX);
    let repositories = app.coordinator.listing(&scope, &request).await?;
    let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    let served = app.coordinator.served(&scope);
    let status = Status::new(
        served,
        scope.missing(),
        app.health.backends(&scope),
        &app.health.overlaps(&scope),
        repositories,
        now,
    );
    Ok((status, scope))
}

pub(crate) fn part(
    params: &Params,
    kind: ListKind,
    package: &[u8],
    prefix: &[u8],
) -> Result<ListRequest, Problem> {
    let after = params.position("after", NEXT)?;
    let count = params.bounded("count", COUNT_DEFAULT, COUNT_MAX)? as u32;
    Ok(ListRequest {
        after,
        ..ListRequest::new(kind, package, prefix, count)
    })
}

/// Value of `after`, if entries follow.
pub(crate) fn next(request: &ListRequest, entries: &[ListEntry], more: bool) -> Option<String> {
    let last = entries.last().filter(|_| more)?;
    Some(BASE64.encode(entry_name(request.kind, last)))
}

/// Appends `/`, except to an empty path.
pub(crate) fn directory(path: &[u8]) -> Vec<u8> {
    let mut path = path.to_vec();
    if path.last().is_some_and(|&last| last != b'/') {
        path.push(b'/');
    }
    path
}

async fn no_package(app: &App, viewer: &Viewer, name: &[u8]) -> Problem {
    let problem = Problem::missing(format!("no package {} is indexed", lossy(Some(name))));
    let scope = match viewer.scope().await {
        Ok(scope) => scope,
        Err(refusal) => return refusal.into(),
    };
    match app.corpus(&scope).near_packages(name).await {
        Ok(similar) if !similar.is_empty() => problem.hint(did_you_mean(&similar)),
        Ok(_) => problem.hint("/api/v2/index/packages lists all packages"),
        Err(unreachable) => unreachable,
    }
}

fn did_you_mean(similar: &[Vec<u8>]) -> String {
    let names: Vec<_> = similar.iter().map(|name| lossy(Some(name))).collect();
    format!("did you mean {}?", names.join(" or "))
}

fn no_directory(package: &[u8], path: &[u8]) -> Problem {
    let (package, path) = (lossy(Some(package)), lossy(Some(path)));
    Problem::missing(format!(
        "no directory {path} with searchable files in {package}"
    ))
    .hint("/api/v2/skipped lists files that were left out, and why")
}
