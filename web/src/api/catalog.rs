//! Indexed packages, directories, and backends.
//!
//! `next` of a part is the value of `after` for the rest. As a name, it stays valid while entries
//! change.

use super::call::Call;
use super::openapi::described as doc;
use crate::http::blocking;
use crate::http::response::{self, NO_STORE};
use crate::model::{
    BackendStatus, IndexPackages, Overlaps, RepositoryStatus, Status, Tree, readable_owned,
};
use crate::pages;
use crate::problem::Problem;
use crate::search::params::{NEXT, Params, lossy};
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

/// List the indexed packages.
#[utoipa::path(
    get, path = "/api/v2/index/packages", operation_id = "indexPackages", tag = "index",
    params(doc::PrefixParam, doc::PartParams),
    responses((status = 200, description = "Packages, by name", body = IndexPackages), doc::Any, doc::BackendLost)
)]
pub(crate) async fn packages(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::PrefixParam::NAMES, doc::PartParams::NAMES])?;
    let prefix = call.params.bytes("prefix").unwrap_or_default();
    let request = part(&call.params, ListKind::Packages, b"", prefix)?;
    let scope = call.viewer.scope().await?;
    let list = call.coordinator.listing(&scope, &request).await?;
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
pub(crate) async fn tree(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::DirectoryParams::NAMES, doc::PartParams::NAMES])?;
    let name = call.params.required("package")?;
    let path = directory(call.params.bytes("path").unwrap_or_default());
    let scope = call.viewer.scope_with(name).await?;
    let Some(package) = call.corpus(&scope).versions(name).await?.pop() else {
        return Err(no_package(&call, name).await);
    };
    let request = part(&call.params, ListKind::Children, &package.package, &path)?;
    let list = call.coordinator.list(&scope, request.clone()).await?;
    if list.entries.is_empty() && !request.prefix.is_empty() && request.after.is_empty() {
        return Err(no_directory(&package.package, &request.prefix));
    }
    let next = next(&request, &list.entries, list.more);
    let indexed = package.indexed;
    let (package, package_base64) = readable_owned(&package.package);
    let (path, path_base64) = readable_owned(&request.prefix);
    Ok(response::json(&Tree {
        package,
        package_base64,
        path,
        path_base64,
        indexed,
        entries: list.entries.into_iter().map(Into::into).collect(),
        next,
    }))
}

/// Get the state of the index and its backends.
#[utoipa::path(
    get, path = "/api/v2/status", operation_id = "status", tag = "index",
    responses((status = 200, description = "What is searched", body = Status), doc::Any)
)]
pub(crate) async fn status(call: Call) -> Result<Response, Problem> {
    call.expect(&[])?;
    let (status, _) = current(&call).await?;
    Ok(([(header::CACHE_CONTROL, NO_STORE)], response::json(&status)).into_response())
}

/// Query times need full access.
pub(crate) async fn status_page(call: Call) -> Result<Response, Problem> {
    let (status, scope) = current(&call).await?;
    let times = scope
        .is_everything()
        .then(|| call.coordinator.query_times());
    let page = blocking(move || pages::status_page(&status, times, &call.params.site)).await;
    Ok(([(header::CACHE_CONTROL, NO_STORE)], Html(page)).into_response())
}

async fn current(call: &Call) -> Result<(Status, Scope), Problem> {
    let scope = call.viewer.scope().await?;
    let request = ListRequest::new(ListKind::Repositories, b"", b"", REPOSITORIES_MAX);
    let repositories = call.coordinator.listing(&scope, &request).await?;
    let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    let age = |updated: Option<u64>| updated.map(|updated| now.saturating_sub(updated));
    let (served, undecided) = (call.coordinator.served(&scope), scope.missing());
    let backends = call.health.backends(&scope);
    let backend = |backend: frontend::BackendStatus| BackendStatus {
        name: backend.name,
        connected: backend.connected,
        reason: backend.reason,
        shards: backend.shards,
        packages: backend.packages,
        documents: backend.documents,
        bytes: backend.text_bytes,
        updated: backend.updated,
        age_s: age(backend.updated),
    };
    let entries = repositories.entries.into_iter();
    let status = Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        generation: served.generation,
        complete: undecided.is_none() && backends.iter().all(|backend| backend.is_searched()),
        missing: undecided.into_iter().map(Into::into).collect(),
        shards: served.shards,
        packages: served.packages,
        documents: served.documents,
        bytes: served.text_bytes,
        updated: served.updated,
        age_s: age(served.updated),
        backends: backends.into_iter().map(backend).collect(),
        overlaps: Overlaps::of(&call.health.overlaps(&scope)),
        more_repositories: repositories.more,
        repositories: entries
            .filter_map(|entry| RepositoryStatus::new(entry, now))
            .collect(),
    };
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

async fn no_package(call: &Call, name: &[u8]) -> Problem {
    let problem = Problem::missing(format!("no package {} is indexed", lossy(Some(name))));
    let scope = match call.viewer.scope().await {
        Ok(scope) => scope,
        Err(refusal) => return refusal.into(),
    };
    match call.corpus(&scope).near_packages(name).await {
        Ok(similar) if !similar.is_empty() => {
            let names: Vec<_> = similar.iter().map(|name| lossy(Some(name))).collect();
            problem.hint(format!("did you mean {}?", names.join(" or ")))
        }
        Ok(_) => problem.hint("/api/v2/index/packages lists all packages"),
        Err(unreachable) => unreachable,
    }
}

fn no_directory(package: &[u8], path: &[u8]) -> Problem {
    let (package, path) = (lossy(Some(package)), lossy(Some(path)));
    Problem::missing(format!(
        "no directory {path} with searchable files in {package}"
    ))
    .hint("/api/v2/skipped lists files that were left out, and why")
}
