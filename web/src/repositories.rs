//! Look-ups in the git repositories of backends: their parameters, histories and errors.

use crate::problem::Problem;
use crate::search::params::{NEXT, Params, position};
use access::Viewer;
use frontend::{Coordinator, LookupError, Scope};
use schema::message::{Commit, CommitLog, LookupOf, LookupProblem, LookupProblemKind};
use std::sync::Arc;

const NAME_BYTES_MAX: usize = 1 << 10;
const PATH_BYTES_MAX: usize = 4 << 10;

/// `candidates` has all.
const SUGGESTED_MAX: usize = 3;

/// Commits of a repository, file or directory.
pub(crate) struct History<'p> {
    pub(crate) repo: &'p str,
    /// Empty: the default branch.
    pub(crate) rev: &'p str,
    /// Empty: the whole repository.
    pub(crate) path: &'p [u8],
    log: Arc<CommitLog>,
}

/// Looks up at most `count` commits. Parameters: `repo`, `rev`, `path` and `cursor`.
pub(crate) async fn history<'p>(
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

    /// Commits with the path of the file in each.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Commit, &[u8])> {
        let paths = self.log.paths.iter().map(|path| match &path[..] {
            b"" => self.path,
            path => path,
        });
        let paths = paths.chain(std::iter::repeat(self.path));
        self.log.commits.iter().zip(paths)
    }

    pub(crate) fn next(&self) -> Option<String> {
        let next = &self.log.next;
        (!next.is_empty()).then(|| position(next))
    }
}

pub(crate) async fn commit(
    coordinator: &Coordinator,
    scope: &Scope,
    repo: &str,
    rev: &str,
) -> Result<Arc<Commit>, Problem> {
    let asked = vec![(repo.to_owned(), rev.to_owned())];
    let found = coordinator.commits(scope, asked).await.pop();
    let found = found.expect("an outcome for each pair");
    found.map_err(|error| problem(error, repo, rev))
}

pub(crate) fn names(params: &Params) -> Result<(&str, &str), Problem> {
    params.required("repo")?;
    let repo = params.text("repo")?.unwrap_or_default();
    let rev = params.text("rev")?.unwrap_or_default();
    check_name("repo", repo)?;
    check_name("rev", rev)?;
    Ok((repo, rev))
}

pub(crate) fn check_name(parameter: &str, name: &str) -> Result<(), Problem> {
    if parameter == "repo" && name.is_empty() {
        return Err(Problem::bad_request("repo is missing"));
    }
    if name.len() > NAME_BYTES_MAX {
        let detail = format!("{parameter} has more than {NAME_BYTES_MAX} bytes");
        return Err(Problem::bad_request(detail));
    }
    Ok(())
}

pub(crate) fn path(params: &Params) -> Result<&[u8], Problem> {
    let path = params.bytes("path").unwrap_or_default();
    if path.len() > PATH_BYTES_MAX {
        let detail = format!("path has more than {PATH_BYTES_MAX} bytes");
        return Err(Problem::bad_request(detail));
    }
    Ok(path)
}

pub(crate) fn problem(error: LookupError, repo: &str, rev: &str) -> Problem {
    match error {
        LookupError::NoRepositories => Problem::no_repositories("no backend has git repositories")
            .hint("the operator starts `trawl backend` or `trawl serve` with --repos DIR"),
        LookupError::Problem(found) => answered(found, repo, rev),
        LookupError::Unreachable(_) | LookupError::Busy | LookupError::Late => {
            Problem::unavailable(error.to_string())
        }
    }
}

fn answered(found: LookupProblem, repo: &str, rev: &str) -> Problem {
    let LookupProblem {
        kind,
        reason,
        candidates,
    } = found;
    let why = match &reason[..] {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    match kind {
        LookupProblemKind::UnknownRepository => {
            let detail = format!("there is no repository {repo}{why}");
            let problem = Problem::unknown_revision(detail);
            suggest(problem, "repo", candidates, "did you mean")
        }
        LookupProblemKind::UnknownRevision => {
            let rev = if rev.is_empty() {
                "a default branch"
            } else {
                rev
            };
            let detail = format!("{repo} has no revision {rev}{why}");
            let problem = Problem::unknown_revision(detail);
            suggest(problem, "rev", candidates, "did you mean")
        }
        LookupProblemKind::Ambiguous => {
            let detail = format!("{rev} names several commits of {repo}{why}");
            let problem = Problem::ambiguous_revision(detail);
            suggest(problem, "rev", candidates, "do you mean")
        }
        LookupProblemKind::Refused => Problem::bad_request(reason),
        LookupProblemKind::Unreadable => {
            Problem::unreadable_repository(format!("{repo} cannot be read{why}"))
        }
        LookupProblemKind::Late => {
            Problem::unavailable(format!("{repo} did not answer in time{why}"))
        }
    }
}

/// Adds similar names or candidates. The hint has some.
pub(crate) fn suggest(
    problem: Problem,
    parameter: &'static str,
    candidates: Vec<String>,
    question: &str,
) -> Problem {
    if candidates.is_empty() {
        return problem;
    }
    let few = candidates.iter().take(SUGGESTED_MAX);
    let few: Vec<&str> = few.map(|candidate| &candidate[..]).collect();
    let hint = format!("{question} {}?", few.join(" or "));
    problem.near_names(parameter, candidates).hint(hint)
}
