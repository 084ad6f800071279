//! Blame: the commit of each line of a file, and the files of a commit.

use super::openapi::described as doc;
use crate::http::response;
use crate::model::{Blame, Changes};
use crate::problem::Problem;
use crate::repositories::{names, path, problem};
use crate::search::params::Params;
use crate::state::App;
use access::Viewer;
use axum::extract::State;
use axum::response::Response;

const CHANGES_DEFAULT: usize = 100;
const CHANGES_MAX: usize = 1000;

/// List the commits of a file's lines.
#[utoipa::path(
    get, path = "/api/v2/blame", operation_id = "blame", tag = "repositories",
    params(doc::RevisionParams, doc::PathParam),
    responses((status = 200, description = "All lines of the file, with their commits", body = Blame), doc::Any, doc::Repositories)
)]
pub(crate) async fn blame(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[&["repo", "rev", "path"]])?;
    let (repo, rev) = names(&params)?;
    params.required("path")?;
    let path = path(&params)?;
    let scope = viewer.scope_with(repo.as_bytes()).await?;
    let asked = (repo.to_owned(), rev.to_owned());
    let found = (app.coordinator)
        .blame(&scope, asked.0, asked.1, path.to_vec())
        .await
        .map_err(|error| problem(error, repo, rev))?;
    match Blame::new(repo, rev, path, &found) {
        Some(blame) => Ok(response::json(&blame)),
        None => {
            let path = String::from_utf8_lossy(path);
            let rev = if rev.is_empty() {
                "its default branch"
            } else {
                rev
            };
            Err(Problem::missing(format!(
                "{repo} has no file {path} in {rev}"
            )))
        }
    }
}

/// List the files that a commit changed against its first parent.
#[utoipa::path(
    get, path = "/api/v2/changes", operation_id = "changes", tag = "repositories",
    params(doc::RevisionParams, doc::CountParam),
    responses((status = 200, description = "Files, by path", body = Changes), doc::Any, doc::Repositories)
)]
pub(crate) async fn changes(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[&["repo", "rev", "count"]])?;
    let (repo, rev) = names(&params)?;
    let count = params.bounded("count", CHANGES_DEFAULT, CHANGES_MAX)? as u32;
    let scope = viewer.scope_with(repo.as_bytes()).await?;
    let asked = (repo.to_owned(), rev.to_owned());
    let found = app.coordinator.changes(&scope, asked.0, asked.1, count);
    let found = found.await.map_err(|error| problem(error, repo, rev))?;
    Ok(response::json(&Changes::new(repo, rev, &found)))
}
