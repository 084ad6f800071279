//! Indexed packages and directories, files left out, and backends.
//!
//! `next` of a part is a name, valid as `after` while entries change. The state "unknown" needs
//! replies of all backends.

use super::call::Call;
use super::health;
use super::openapi::described as doc;
use crate::http::blocking;
use crate::http::response::{self, no_store};
use crate::model::{
    IndexPackages, Overlaps, PackageState, RepositoryStatus, Status, Tree, Why, age_s,
    readable_owned,
};
use crate::pages;
use crate::problem::Problem;
use crate::search::params::{NEXT, Params, lossy, position};
use axum::response::{Html, Response};
use frontend::{Scope, entry_name};
use schema::message::{ListEntry, ListKind, ListRequest};

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
        packages: list.entries.iter().map(Into::into).collect(),
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
        let [package, path] = [&package.package, &request.prefix].map(|it| lossy(Some(it)));
        let detail = format!("no directory {path} with searchable files in {package}");
        let hint = "/api/v2/skipped lists files that were left out, and why";
        return Err(Problem::missing(detail).hint(hint));
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
        entries: list.entries.iter().map(Into::into).collect(),
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
    Ok(no_store(response::json(&status)))
}

/// Query times need full access.
pub(crate) async fn status_page(call: Call) -> Result<Response, Problem> {
    let (status, scope) = current(&call).await?;
    let times = scope
        .is_everything()
        .then(|| call.coordinator.query_times());
    let page = blocking(move || pages::status_page(&status, times, &call.params.site)).await;
    Ok(no_store(Html(page)))
}

async fn current(call: &Call) -> Result<(Status, Scope), Problem> {
    let scope = call.viewer.scope().await?;
    let request = ListRequest::new(ListKind::Repositories, b"", b"", REPOSITORIES_MAX);
    let repositories = call.coordinator.listing(&scope, &request).await?;
    let (served, undecided) = (call.coordinator.served(&scope), scope.missing());
    let backends = health::backends(call, &scope);
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
        age_s: served.updated.map(age_s),
        backends: backends.iter().map(Into::into).collect(),
        overlaps: Overlaps::of(&health::overlaps(call, &scope)),
        more_repositories: repositories.more,
        repositories: entries.filter_map(RepositoryStatus::new).collect(),
    };
    Ok((status, scope))
}

fn part(
    params: &Params,
    kind: ListKind,
    package: &[u8],
    prefix: &[u8],
) -> Result<ListRequest, Problem> {
    let after = params.position("after", NEXT)?;
    Ok(ListRequest {
        after,
        ..ListRequest::new(kind, package, prefix, params.count()?)
    })
}

/// Value of `after`, if entries follow.
fn next(request: &ListRequest, entries: &[ListEntry], more: bool) -> Option<String> {
    let last = entries.last().filter(|_| more)?;
    Some(position(&entry_name(request.kind, last)))
}

/// Appends `/`, except to an empty path.
fn directory(path: &[u8]) -> Vec<u8> {
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

/// Get the files left out of the index, with reasons: of all packages, a package, or a path in it.
#[utoipa::path(
    get, path = "/api/v2/skipped", operation_id = "skipped", tag = "index",
    params(doc::MissedParams, doc::PartParams),
    responses((status = 200, description = "Whether it is indexed, and why not", body = Why), doc::Any, doc::BackendLost)
)]
pub(crate) async fn skipped(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::MissedParams::NAMES, doc::PartParams::NAMES])?;
    let of = |name| call.params.bytes(name).filter(|value| !value.is_empty());
    let why = match (of("package"), of("path")) {
        (None, None) => everything(&call).await?,
        (None, Some(_)) => {
            let problem = Problem::bad_request("path needs the package that it is in");
            return Err(problem.hint("package=i3-wm&path=src/main.c"));
        }
        (Some(package), None) => of_package(&call, package).await?,
        (Some(package), Some(path)) => of_path(&call, package, path).await?,
    };
    Ok(response::json(&why))
}

async fn everything(call: &Call) -> Result<Why, Problem> {
    let scope = call.viewer.scope().await?;
    let request = part(&call.params, ListKind::Skipped, b"", b"")?;
    left_out(call, &scope, request).await
}

async fn left_out(call: &Call, scope: &Scope, request: ListRequest) -> Result<Why, Problem> {
    let list = call.coordinator.listing(scope, &request).await?;
    Ok(Why {
        next: next(&request, &list.entries, list.more),
        skipped: list.entries.iter().map(Into::into).collect(),
        missing: list.unreachable.into_iter().map(Into::into).collect(),
        ..Why::default()
    })
}

async fn of_package(call: &Call, name: &[u8]) -> Result<Why, Problem> {
    let scope = call.viewer.scope_with(name).await?;
    let request = part(&call.params, ListKind::Skipped, name, b"")?;
    let versions = call.corpus(&scope).versions(name).await?;
    if versions.is_empty() {
        return unknown_package(call, name).await;
    }
    let mut why = left_out(call, &scope, request).await?;
    why.versions = versions.iter().map(Into::into).collect();
    Ok(why.of_package(name, PackageState::Indexed))
}

async fn unknown_package(call: &Call, name: &[u8]) -> Result<Why, Problem> {
    let scope = call.viewer.scope().await?;
    let why = Why {
        similar: shown(call.corpus(&scope).near_packages(name).await?),
        ..Why::default()
    };
    Ok(why.of_package(name, PackageState::Unknown))
}

/// Looks in the last version of the package.
async fn of_path(call: &Call, name: &[u8], path: &[u8]) -> Result<Why, Problem> {
    let scope = call.viewer.scope_with(name).await?;
    let Some(package) = call.corpus(&scope).versions(name).await?.pop() else {
        return Ok(unknown_package(call, name).await?.of_path(path));
    };
    let name = &package.package[..];
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let request = part(&call.params, ListKind::Skipped, name, path)?;
    let mut list = call.coordinator.listing(&scope, &request).await?;
    let next = next(&request, &list.entries, list.more);
    list.entries
        .retain(|entry| is_at_or_around(&entry.path, path));
    let mut why = Why {
        next,
        missing: list.unreachable.into_iter().map(Into::into).collect(),
        ..Why::default()
    };
    let state = if !list.entries.iter().all(|entry| is_below(&entry.path, path)) {
        PackageState::Skipped
    } else if let Some(document) = children(call, &scope, name, path)
        .await?
        .into_iter()
        .find(|entry| entry.path == path)
    {
        why = why.of_document(document);
        PackageState::Indexed
    } else if !children(call, &scope, name, &directory(path))
        .await?
        .is_empty()
    {
        PackageState::Indexed
    } else if !list.entries.is_empty() {
        PackageState::Skipped
    } else {
        why.similar = shown(call.corpus(&scope).near_files(name, path).await?);
        PackageState::Unknown
    };
    why.skipped = list.entries.iter().map(Into::into).collect();
    why.versions.push((&package).into());
    Ok(why.of_package(name, state).of_path(path))
}

fn shown(names: Vec<Vec<u8>>) -> Vec<String> {
    let names = names.iter();
    names.map(|name| lossy(Some(name)).into_owned()).collect()
}

/// True for paths at `path`, above or below it, not only with its prefix.
fn is_at_or_around(left_out: &[u8], path: &[u8]) -> bool {
    left_out.len() <= path.len() || is_below(left_out, path)
}

fn is_below(left_out: &[u8], path: &[u8]) -> bool {
    let rest = left_out.strip_prefix(path);
    rest.is_some_and(|rest| rest.first() == Some(&b'/'))
}

async fn children(
    call: &Call,
    scope: &Scope,
    package: &[u8],
    prefix: &[u8],
) -> Result<Vec<ListEntry>, Problem> {
    let request = ListRequest::new(ListKind::Children, package, prefix, 1);
    Ok(call.coordinator.list(scope, request).await?.entries)
}
