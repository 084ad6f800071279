//! Commits, histories and references of git repositories, the commit of each line of a file, and
//! the files of a commit.

use super::call;
use super::call::Call;
use super::openapi::described as doc;
use crate::http::response;
use crate::model::{
    Blame, BlameCommit, Changes, Commit, CommitEntry, CommitLog, Commits, Ref, Refs, RevisionName,
    RevisionNames, readable_owned,
};
use crate::problem::Problem;
use crate::repositories::{self, check_name, names, path, problem};
use crate::search::params::{NEXT, position};
use crate::state::App;
use access::Viewer;
use axum::extract::{Request, State};
use axum::response::Response;
use frontend::LookupError;
use schema::message;
use std::sync::Arc;

pub(crate) const COMMITS_MAX: usize = 1000;

/// About 1 KB for each commit.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;

/// Get a revision's commit.
#[utoipa::path(
    get, path = "/api/v2/commit", operation_id = "commit", tag = "repositories",
    params(doc::RevisionParams),
    responses((status = 200, description = "The commit", body = Commit), doc::Any, doc::Repositories)
)]
pub(crate) async fn commit(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::RevisionParams::NAMES])?;
    let (repo, rev) = names(&call.params)?;
    let scope = call.viewer.scope_with(repo.as_bytes()).await?;
    let found = repositories::commit(&call.coordinator, &scope, repo, rev).await?;
    Ok(response::json(&Commit::new(repo, rev, &found)))
}

/// Get up to 1,000 commits at once, each with a commit or a problem.
#[utoipa::path(
    post, path = "/api/v2/commits", operation_id = "commits", tag = "repositories",
    request_body = RevisionNames,
    responses((status = 200, description = "Commits, in the order of the request", body = Commits), doc::Any, doc::Body)
)]
pub(crate) async fn commits(
    State(app): State<App>,
    viewer: Viewer,
    request: Request,
) -> Result<Response, Problem> {
    let body = call::read_json(request, BODY_BYTES_MAX).await?;
    let asked: RevisionNames = serde_json::from_slice(&body).map_err(|error| {
        Problem::bad_request(format!("malformed body: {error}"))
            .hint(r#"such as {"revisions": [{"repo": "project", "rev": "main"}]}"#)
    })?;
    if asked.revisions.len() > COMMITS_MAX {
        let detail = format!(
            "{} revisions; at most {COMMITS_MAX} are answered at once",
            asked.revisions.len()
        );
        return Err(Problem::bad_request(detail).hint("send several requests"));
    }
    for RevisionName { repo, rev } in &asked.revisions {
        check_name("repo", repo)?;
        check_name("rev", rev)?;
    }
    let repos = asked.revisions.iter().map(|name| name.repo.as_bytes());
    let scope = viewer.scope_with_all(repos).await?;
    let pairs = asked.revisions.iter();
    let pairs = pairs.map(|name| (name.repo.clone(), name.rev.clone()));
    let found = app.coordinator.commits(&scope, pairs.collect()).await;
    let entries = asked.revisions.into_iter().zip(found);
    Ok(response::json(&Commits {
        commits: entries.map(|(name, found)| entry(name, found)).collect(),
    }))
}

fn entry(name: RevisionName, found: Result<Arc<message::Commit>, LookupError>) -> CommitEntry {
    let RevisionName { repo, rev } = name;
    let (commit, problem) = match found {
        Ok(commit) => (Some(Commit::new(&repo, &rev, &commit)), None),
        Err(error) => (None, Some(problem(error, &repo, &rev).document())),
    };
    CommitEntry {
        repo,
        rev,
        commit,
        problem,
    }
}

/// List the commits that a revision reaches, or those that changed a file or directory.
#[utoipa::path(
    get, path = "/api/v2/log", operation_id = "log", tag = "repositories",
    params(doc::RevisionParams, doc::LogParams),
    responses((status = 200, description = "Commits, in the order of git log", body = CommitLog), doc::Any, doc::Repositories)
)]
pub(crate) async fn log(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::RevisionParams::NAMES, doc::LogParams::NAMES])?;
    let count = call.params.count()?;
    let history =
        repositories::history(&call.coordinator, &call.viewer, &call.params, count).await?;
    let commits = history.commits().iter();
    Ok(response::json(&CommitLog {
        repo: history.repo.to_owned(),
        rev: history.rev.to_owned(),
        commits: commits
            .map(|commit| Commit::new(history.repo, &commit.id, commit))
            .collect(),
        next: history.next(),
    }))
}

/// List the branches, tags and other references of a repository.
#[utoipa::path(
    get, path = "/api/v2/refs", operation_id = "refs", tag = "repositories",
    params(doc::RepositoryParam, doc::PartParams),
    responses((status = 200, description = "References, by name", body = Refs), doc::Any, doc::Repositories)
)]
pub(crate) async fn refs(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::RepositoryParam::NAMES, doc::PartParams::NAMES])?;
    let (repo, _) = names(&call.params)?;
    let after = call.params.position("after", NEXT)?;
    let count = call.params.count()?;
    let scope = call.viewer.scope_with(repo.as_bytes()).await?;
    let list = call
        .coordinator
        .references(&scope, repo.to_owned(), after, count);
    let list = list.await.map_err(|error| problem(error, repo, ""))?;
    let last = list.references.last().filter(|_| list.more);
    Ok(response::json(&Refs {
        repo: repo.to_owned(),
        refs: list.references.iter().map(Ref::from).collect(),
        next: last.map(|last| position(&last.name)),
    }))
}

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
        hunks: found.hunks.iter().map(Into::into).collect(),
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
    let count = call.params.count()?;
    let scope = call.viewer.scope_with(repo.as_bytes()).await?;
    let names = (repo.to_owned(), rev.to_owned());
    let (since, path) = (String::new(), Vec::new());
    let changes = &call.coordinator;
    let found = changes.changes(&scope, names.0, names.1, since, path, count);
    let found = found.await.map_err(|error| problem(error, repo, rev))?;
    Ok(response::json(&Changes {
        repo: repo.to_owned(),
        rev: rev.to_owned(),
        commit: found.commit.clone(),
        changes: found.changes.iter().map(Into::into).collect(),
        complete: !found.more,
    }))
}
