//! Why a file or a package is not found: whether it is indexed, was left out and by which rule, or is
//! not known at all. That something is not known is said only when all backends were asked.

use super::catalog::{self, PART, next, part, versions};
use super::openapi::params as doc;
use super::openapi::problems::{Any, Unreachable};
use super::params::Params;
use super::problem::Problem;
use super::similar::{SIMILAR_MAX, similar_packages};
use super::{App, api};
use crate::render::catalog::{State as Known, WhyJson};
use crate::render::shapes::WhySchema;
use axum::extract::State;
use axum::response::Response;
use frontend::similar;
use schema::message::{ListEntry, ListKind, ListRequest};

/// Names of a directory among which a similar one is looked for.
const SIBLINGS_MAX: u32 = 1000;

/// Why, of all packages, of a package, or of a path in it.
#[utoipa::path(
    get, path = "/api/v2/skipped", operation_id = "skipped", tag = "index",
    params(doc::Missed, doc::Part),
    responses((status = 200, description = "Whether it is indexed, and if not why", body = WhySchema), Any, Unreachable)
)]
pub(super) async fn skipped(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[&["package", "path"], PART])?;
    let of = |name| params.bytes(name).filter(|value| !value.is_empty());
    let why = match (of("package"), of("path")) {
        (None, None) => everything(&app, &params).await?,
        (None, Some(_)) => {
            let problem =
                Problem::bad_request("a path is within a package, and package is missing");
            return Err(problem.hint("package=i3-wm&path=src/main.c"));
        }
        (Some(package), None) => of_package(&app, &params, package).await?,
        (Some(package), Some(path)) => of_path(&app, &params, package, path).await?,
    };
    Ok(api::json(&why))
}

async fn everything(app: &App, params: &Params) -> Result<WhyJson, Problem> {
    let request = part(params, ListKind::Skipped, Vec::new(), Vec::new())?;
    left_out(app, request).await
}

/// What was left out of what is asked for.
async fn left_out(app: &App, request: ListRequest) -> Result<WhyJson, Problem> {
    let list = app.frontend.listing(&request).await?;
    Ok(WhyJson {
        next: next(&request, &list.entries, list.more),
        skipped: list.entries,
        missing: list.unreachable,
        ..WhyJson::default()
    })
}

async fn of_package(app: &App, params: &Params, name: &[u8]) -> Result<WhyJson, Problem> {
    let request = part(params, ListKind::Skipped, name.to_vec(), Vec::new())?;
    let versions = versions(app, name).await?;
    if versions.is_empty() {
        return unknown_package(app, name, None).await;
    }
    Ok(WhyJson {
        package: Some(name.to_vec()),
        state: Some(Known::Indexed),
        versions,
        ..left_out(app, request).await?
    })
}

async fn unknown_package(app: &App, name: &[u8], path: Option<&[u8]>) -> Result<WhyJson, Problem> {
    Ok(WhyJson {
        package: Some(name.to_vec()),
        path: path.map(<[u8]>::to_vec),
        state: Some(Known::Unknown),
        similar: similar_packages(app, name).await?,
        ..WhyJson::default()
    })
}

/// Of the last version of the package.
async fn of_path(app: &App, params: &Params, name: &[u8], path: &[u8]) -> Result<WhyJson, Problem> {
    let mut versions = versions(app, name).await?;
    let Some(package) = versions.pop() else {
        return unknown_package(app, name, Some(path)).await;
    };
    let (directory, path) = (
        package.package.clone(),
        path.strip_suffix(b"/").unwrap_or(path),
    );
    let request = part(params, ListKind::Skipped, directory.clone(), path.to_vec())?;
    let mut why = left_out(app, request).await?;
    why.skipped
        .retain(|entry| is_at_or_around(&entry.path, path));
    why.state = Some(
        if !why.skipped.iter().all(|entry| is_below(&entry.path, path)) {
            Known::Skipped
        } else if let Some(found) = find(app, &directory, path).await? {
            found
        } else if !why.skipped.is_empty() {
            Known::Skipped
        } else {
            why.similar = siblings(app, &directory, path).await?;
            Known::Unknown
        },
    );
    why.versions.push(package);
    why.package = Some(directory);
    why.path = Some(path.to_vec());
    Ok(why)
}

/// Whether something that was left out is at a path, above it or below it, not just named like it.
fn is_at_or_around(left_out: &[u8], path: &[u8]) -> bool {
    left_out.len() <= path.len() || is_below(left_out, path)
}

fn is_below(left_out: &[u8], path: &[u8]) -> bool {
    let rest = left_out.strip_prefix(path);
    rest.is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// The document at a path, or that there is a directory with documents.
async fn find(app: &App, package: &[u8], path: &[u8]) -> Result<Option<Known>, Problem> {
    let document = children(app, package, path.to_vec(), 1).await?;
    if let Some(entry) = document.into_iter().find(|entry| entry.path == path) {
        return Ok(Some(Known::Document(entry)));
    }
    let inside = children(app, package, catalog::directory(path), 1).await?;
    Ok((!inside.is_empty()).then_some(Known::Indexed))
}

/// Paths in the same directory that are like one that is not there.
async fn siblings(app: &App, package: &[u8], path: &[u8]) -> Result<Vec<Vec<u8>>, Problem> {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    let (directory, name) = path.split_at(slash.map_or(0, |at| at + 1));
    let siblings = children(app, package, directory.to_vec(), SIBLINGS_MAX).await?;
    let similar = similar(name, names_in(directory, &siblings));
    let similar = similar.into_iter().take(SIMILAR_MAX);
    Ok(similar.map(|name| [directory, &name].concat()).collect())
}

/// The names of entries in a directory. What a backend has sent that is not in it has none.
fn names_in<'a>(
    directory: &'a [u8],
    entries: &'a [ListEntry],
) -> impl Iterator<Item = Vec<u8>> + 'a {
    let name = |entry: &ListEntry| entry.path.strip_prefix(directory).map(<[u8]>::to_vec);
    entries.iter().filter_map(name)
}

async fn children(
    app: &App,
    package: &[u8],
    prefix: Vec<u8>,
    count: u32,
) -> Result<Vec<ListEntry>, Problem> {
    let request = ListRequest {
        kind: ListKind::Children,
        package: package.to_vec(),
        prefix,
        after: Vec::new(),
        count,
    };
    Ok(app.frontend.list(request).await?.entries)
}
