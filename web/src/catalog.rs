//! What there is: packages, and directories of one. A list comes in parts; each says in `next` what to
//! give as `after` for the rest, which is a name, and so holds whatever else comes or goes.

use super::openapi::params as doc;
use super::openapi::problems::{Any, NotFound, Unreachable};
use super::params::{Params, lossy};
use super::problem::Problem;
use super::similar::similar_packages;
use super::{App, api};
use crate::render::catalog::{PackageJson, PackagesJson, StatusJson, TreeJson};
use crate::render::shapes::TreeSchema;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::entry_name;
use schema::message::{ListEntry, ListKind, ListRequest};
use std::time::UNIX_EPOCH;

/// Entries of a list, when nobody says how many. A backend may send less.
const COUNT_DEFAULT: usize = 100;

/// The most: what backends send at once, about.
const COUNT_MAX: usize = 1000;

/// Parameters that say which part of a list is asked for.
pub(super) const PART: &[&str] = &["after", "count"];

/// The packages that are indexed, searched for or not.
#[utoipa::path(
    get, path = "/api/v2/index/packages", operation_id = "indexPackages", tag = "index",
    params(doc::Prefix, doc::Part),
    responses((status = 200, description = "Packages, by name", body = PackagesJson), Any, Unreachable)
)]
pub(super) async fn packages(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[&["prefix"], PART])?;
    let prefix = params.bytes("prefix").unwrap_or_default().to_vec();
    let request = part(&params, ListKind::Packages, Vec::new(), prefix)?;
    let list = app.frontend.listing(&request).await?;
    Ok(api::json(&PackagesJson {
        complete: list.unreachable.is_empty(),
        missing: list.unreachable.into_iter().map(Into::into).collect(),
        next: next(&request, &list.entries, list.more),
        packages: list.entries.into_iter().map(PackageJson).collect(),
    }))
}

/// What is in a directory of a package.
#[utoipa::path(
    get, path = "/api/v2/tree", operation_id = "tree", tag = "index",
    params(doc::Directory, doc::Part),
    responses((status = 200, description = "What is in a directory", body = TreeSchema), Any, NotFound, Unreachable)
)]
pub(super) async fn tree(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[&["package", "path"], PART])?;
    let name = required(&params, "package")?;
    let path = directory(params.bytes("path").unwrap_or_default());
    let Some(package) = versions(&app, name).await?.pop() else {
        return Err(no_package(&app, name).await);
    };
    let directory = package.package.clone();
    let request = part(&params, ListKind::Children, directory, path)?;
    let list = app.frontend.list(request.clone()).await?;
    if list.entries.is_empty() && !request.prefix.is_empty() && request.after.is_empty() {
        return Err(no_directory(&package.package, &request.prefix));
    }
    Ok(api::json(&TreeJson {
        next: next(&request, &list.entries, list.more),
        package: package.package,
        path: request.prefix,
        indexed: package.indexed,
        entries: list.entries,
    }))
}

/// What is searched, who has it, and how old it is.
#[utoipa::path(
    get, path = "/api/v2/status", operation_id = "status", tag = "index",
    responses((status = 200, description = "What is searched", body = StatusJson), Any)
)]
pub(super) async fn status(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[])?;
    let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    let status = StatusJson::new(app.frontend.served(), app.frontend.backends(), now);
    let mut response = api::json(&status).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, super::headers::NEVER);
    Ok(response)
}

/// A part of a list.
pub(super) fn part(
    params: &Params,
    kind: ListKind,
    package: Vec<u8>,
    prefix: Vec<u8>,
) -> Result<ListRequest, Problem> {
    let after = params.text("after")?.unwrap_or_default();
    let after = BASE64.decode(after).map_err(|_| {
        let detail = "after is not what an answer had as next";
        Problem::bad_request(detail).hint("leave it out for the beginning of the list")
    })?;
    Ok(ListRequest {
        kind,
        package,
        prefix,
        after,
        count: params.bounded("count", COUNT_DEFAULT, COUNT_MAX)? as u32,
    })
}

/// What to give as `after` for what comes behind these entries.
pub(super) fn next(request: &ListRequest, entries: &[ListEntry], more: bool) -> Option<String> {
    let last = entries.last().filter(|_| more)?;
    Some(BASE64.encode(entry_name(request.kind, last)))
}

/// A value that must be there.
pub(super) fn required<'a>(params: &'a Params, name: &str) -> Result<&'a [u8], Problem> {
    let value = params.bytes(name).filter(|value| !value.is_empty());
    value.ok_or_else(|| Problem::bad_request(format!("{name} is missing")))
}

/// A path as that of a directory: with a `/` at its end, or empty.
pub(super) fn directory(path: &[u8]) -> Vec<u8> {
    let mut path = path.to_vec();
    if path.last().is_some_and(|&last| last != b'/') {
        path.push(b'/');
    }
    path
}

/// The packages that go by a name: the directory itself, or all versions in the order of their names.
pub(super) async fn versions(app: &App, name: &[u8]) -> Result<Vec<ListEntry>, Problem> {
    let request = ListRequest {
        kind: ListKind::Packages,
        package: name.to_vec(),
        prefix: Vec::new(),
        after: Vec::new(),
        count: COUNT_MAX as u32,
    };
    let mut list = app.frontend.listing(&request).await?;
    if list.entries.iter().any(|entry| entry.package == name) {
        list.entries.retain(|entry| entry.package == name);
    }
    if list.entries.is_empty() {
        list = list.whole().map(|_| Default::default())?;
    }
    Ok(list.entries)
}

async fn no_package(app: &App, name: &[u8]) -> Problem {
    let problem = Problem::missing(format!("no package {} is indexed", lossy(Some(name))));
    match similar_packages(app, name).await {
        Ok(similar) if !similar.is_empty() => problem.hint(did_you_mean(&similar)),
        Ok(_) => problem.hint("/api/v2/index/packages lists all that there are"),
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
        "no directory {path} of {package} has a searchable file"
    ))
    .hint("/api/v2/skipped says what is not searchable, and why")
}
