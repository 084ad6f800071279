//! State of a file or package: indexed, left out, or unknown. The latter needs replies of all
//! backends.

use super::call::Call;
use super::catalog::{self, next, part};
use super::openapi::described as doc;
use crate::http::response;
use crate::model::{PackageState, Why};
use crate::problem::Problem;
use crate::search::params::lossy;
use axum::response::Response;
use frontend::Scope;
use schema::message::{ListEntry, ListKind, ListRequest};

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
        skipped: list.entries.into_iter().map(Into::into).collect(),
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
    why.versions = versions.into_iter().map(Into::into).collect();
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
    let directory = package.package.clone();
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let request = part(&call.params, ListKind::Skipped, &directory, path)?;
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
    } else if let Some(document) = children(call, &scope, &directory, path)
        .await?
        .into_iter()
        .find(|entry| entry.path == path)
    {
        why = why.of_document(document);
        PackageState::Indexed
    } else if !children(call, &scope, &directory, &catalog::directory(path))
        .await?
        .is_empty()
    {
        PackageState::Indexed
    } else if !list.entries.is_empty() {
        PackageState::Skipped
    } else {
        why.similar = shown(call.corpus(&scope).near_files(&directory, path).await?);
        PackageState::Unknown
    };
    why.skipped = list.entries.into_iter().map(Into::into).collect();
    why.versions.push(package.into());
    Ok(why.of_package(&directory, state).of_path(path))
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
