//! Differences of two revisions (by git) or packages (by hashes), for pages and the API.

mod asked;
mod listed;
mod texts;

pub(crate) use asked::{AskedDiff, Comparison, Side};
pub(crate) use texts::{Budget, FileContent, Texts, read, text};

use crate::problem::Problem;
use crate::repositories::problem;
use crate::suggest::Corpus;
use asked::{FILES_MAX, change};
use frontend::LookupError;
use schema::message::{Change, ChangeKind, LookupProblemKind};

pub(crate) async fn compare(corpus: Corpus<'_>, asked: &AskedDiff) -> Result<Comparison, Problem> {
    if let Some(from) = &asked.from
        && !asked.from_path.is_empty()
    {
        return Ok(two_files(from, asked));
    }
    let is_one = |from: &Side| from.package == asked.to.package;
    let repo = str::from_utf8(&asked.to.package).ok();
    let repo = repo.filter(|_| asked.from.as_ref().is_none_or(is_one));
    let Some(repo) = repo else {
        return listed::compare(corpus, asked).await;
    };
    match by_git(corpus, asked, repo).await {
        Ok(found) => Ok(found),
        Err(error) if asked.from.is_some() && is_absent(&error) => {
            let found = listed::compare(corpus, asked).await;
            found.map_err(|_| problem(error, repo, &asked.to.revision))
        }
        Err(error) => Err(problem(error, repo, &asked.to.revision)),
    }
}

async fn by_git(
    corpus: Corpus<'_>,
    asked: &AskedDiff,
    repo: &str,
) -> Result<Comparison, LookupError> {
    let since = asked.from.as_ref().map_or("", |from| &from.revision);
    let found = corpus.coordinator.changes(
        corpus.scope,
        repo.to_owned(),
        asked.to.revision.clone(),
        since.to_owned(),
        asked.path.clone(),
        FILES_MAX,
    );
    let found = found.await?;
    let side = |revision: &str| Side {
        package: asked.to.package.clone(),
        revision: revision.to_owned(),
    };
    Ok(Comparison {
        from: side(&found.since),
        to: side(&found.commit),
        files: found.changes.clone(),
        more: found.more,
    })
}

fn is_absent(error: &LookupError) -> bool {
    match error {
        LookupError::NoRepositories => true,
        LookupError::Problem(found) => found.kind == LookupProblemKind::UnknownRepository,
        _ => false,
    }
}

fn two_files(from: &Side, asked: &AskedDiff) -> Comparison {
    let file = Change {
        was: asked.from_path.clone(),
        ..change(&asked.path, ChangeKind::Renamed)
    };
    Comparison {
        from: from.clone(),
        to: asked.to.clone(),
        files: vec![file],
        more: false,
    }
}
