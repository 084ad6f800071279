//! History of a repository, file or directory, for the API and a page.

use super::lookups::{names, path, problem};
use crate::problem::Problem;
use crate::search::params::{NEXT, Params};
use access::Viewer;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::Coordinator;
use schema::message::{Commit, CommitLog, LookupOf};
use std::sync::Arc;

pub(crate) struct History<'p> {
    pub(crate) repo: &'p str,
    /// Empty: the default branch.
    pub(crate) rev: &'p str,
    /// Empty: the whole repository.
    pub(crate) path: &'p [u8],
    log: Arc<CommitLog>,
}

/// Looks up at most `count` commits. Parameters: `repo`, `rev`, `path` and `cursor`.
pub(crate) async fn look_up<'p>(
    coordinator: &Coordinator,
    viewer: &Viewer,
    params: &'p Params,
    count: u32,
) -> Result<History<'p>, Problem> {
    let (repo, rev) = names(params)?;
    let path = path(params)?;
    let of = LookupOf::Log {
        revision: rev.to_owned(),
        path: path.to_vec(),
        after: params.position("cursor", NEXT)?,
        count,
    };
    let scope = viewer.scope_with(repo.as_bytes()).await?;
    let log = coordinator.log(&scope, repo.to_owned(), of).await;
    let log = log.map_err(|error| problem(error, repo, rev))?;
    Ok(History {
        repo,
        rev,
        path,
        log,
    })
}

impl History<'_> {
    /// Youngest first.
    pub(crate) fn commits(&self) -> &[Commit] {
        &self.log.commits
    }

    /// Cursor of the next part, if any.
    pub(crate) fn next(&self) -> Option<String> {
        let next = &self.log.next;
        (!next.is_empty()).then(|| BASE64.encode(next))
    }
}
