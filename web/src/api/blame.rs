//! Blame: the commit of each line of a file, and the files of a commit.

use super::call::Call;
use super::openapi::described as doc;
use crate::http::response;
use crate::model::{Blame, BlameCommit, BlameHunk, ChangedFile, Changes, readable_owned};
use crate::problem::Problem;
use crate::repositories::{names, path, problem};
use axum::response::Response;

const CHANGES_DEFAULT: usize = 100;
const CHANGES_MAX: usize = 1000;

/// List the commits of a file's lines.
#[utoipa::path(
    get, path = "/api/v2/blame", operation_id = "blame", tag = "repositories",
    params(doc::RevisionParams, doc::PathParam),
    responses((status = 200, description = "All lines of the file, with their commits", body = Blame), doc::Any, doc::Repositories)
)]
pub(crate) async fn blame(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::RevisionParams::NAMES, doc::PathParam::NAMES])?;
    let (repo, rev) = names(&call.params)?;
    call.params.required("path")?;
    let path = path(&call.params)?;
    let scope = call.viewer.scope_with(repo.as_bytes()).await?;
    let names = (repo.to_owned(), rev.to_owned());
    let found = call
        .coordinator
        .blame(&scope, names.0, names.1, path.to_vec());
    let found = found.await.map_err(|error| problem(error, repo, rev))?;
    if !found.found {
        let path = String::from_utf8_lossy(path);
        let named = Some(rev).filter(|rev| !rev.is_empty());
        let rev = named.unwrap_or("its default branch");
        return Err(Problem::missing(format!(
            "{repo} has no file {path} in {rev}"
        )));
    }
    let (shown, path_base64) = readable_owned(path);
    let sources = found.sources.iter();
    Ok(response::json(&Blame {
        repo: repo.to_owned(),
        rev: rev.to_owned(),
        path: shown,
        path_base64,
        commit: found.commit.clone(),
        complete: found.complete,
        hunks: found.hunks.iter().map(BlameHunk::new).collect(),
        commits: sources
            .map(|source| BlameCommit::new(source, path))
            .collect(),
    }))
}

/// List the files that a commit changed against its first parent.
#[utoipa::path(
    get, path = "/api/v2/changes", operation_id = "changes", tag = "repositories",
    params(doc::RevisionParams, doc::CountParam),
    responses((status = 200, description = "Files, by path", body = Changes), doc::Any, doc::Repositories)
)]
pub(crate) async fn changes(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::RevisionParams::NAMES, doc::CountParam::NAMES])?;
    let (repo, rev) = names(&call.params)?;
    let count = call.params.bounded("count", CHANGES_DEFAULT, CHANGES_MAX)? as u32;
    let scope = call.viewer.scope_with(repo.as_bytes()).await?;
    let names = (repo.to_owned(), rev.to_owned());
    let found = call.coordinator.changes(&scope, names.0, names.1, count);
    let found = found.await.map_err(|error| problem(error, repo, rev))?;
    Ok(response::json(&Changes {
        repo: repo.to_owned(),
        rev: rev.to_owned(),
        commit: found.commit.clone(),
        changes: found.changes.iter().map(ChangedFile::new).collect(),
        complete: !found.more,
    }))
}
