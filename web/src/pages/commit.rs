//! Pages of a commit (message, author, date and changes) and of the history of a repository,
//! file or directory.

use super::diff::DiffView;
use super::file::FileView;
use super::filters::{self, day, signed, subject};
use super::form::Form;
use super::visible;
use crate::diff::{self, AskedDiff, Side};
use crate::http::links::{FileAddress, RepositoryAddress, encode, package_href};
use crate::problem::Problem;
use crate::repositories::{self, History, names};
use crate::state::Call;
use askama::Template;
use axum::response::Html;
use schema::message::Commit;

#[derive(Template)]
#[template(path = "commit.html")]
struct CommitPage<'a> {
    form: Form,
    repo: &'a str,
    commit: &'a Commit,
    diff: Option<String>,
    notice: Option<String>,
}

pub(crate) async fn commit(call: Call) -> Result<Html<String>, Problem> {
    let Call { params, viewer, .. } = &call;
    params.expect(&[&["repo", "rev"]])?;
    let (repo, rev) = names(params)?;
    let scope = viewer.scope_with(repo.as_bytes()).await?;
    let found = repositories::commit(&call.coordinator, &scope, repo, rev).await?;
    let corpus = call.corpus(&scope);
    let compared = diff::compare(corpus, &AskedDiff::commit(repo, &found.id)).await;
    let (diff, notice) = match compared {
        Ok(compared) => {
            let diff = DiffView::of_commit(corpus, &compared).await;
            (Some(params.site.render(&diff)), None)
        }
        Err(problem) => (None, Some(problem.document.detail)),
    };
    let page = CommitPage {
        form: Form::of(&params.site),
        repo,
        commit: &found,
        diff,
        notice: notice.map(|notice| visible::plain(notice.as_bytes())),
    };
    Ok(Html(params.site.render(&page)))
}

impl CommitPage<'_> {
    fn repo(&self) -> String {
        visible::plain(self.repo.as_bytes())
    }

    fn body(&self) -> String {
        let lines = self.commit.body.split(|&byte| byte == b'\n');
        lines.map(visible::plain).collect::<Vec<_>>().join("\n")
    }

    fn at<'r>(&'r self, rev: &'r str) -> RepositoryAddress<'r> {
        let repo = self.repo;
        RepositoryAddress { repo, rev }
    }

    fn history_href(&self, path: &[u8]) -> String {
        self.at(&self.commit.id).history_href(path)
    }

    /// Difference from a parent.
    fn diff_href(&self, parent: &str) -> String {
        let from = Side {
            package: self.repo.as_bytes().to_vec(),
            revision: parent.to_owned(),
        };
        let asked = AskedDiff {
            from: Some(from),
            ..AskedDiff::commit(self.repo, &self.commit.id)
        };
        asked.href(b"", b"")
    }
}

const COMMITS_MAX: u32 = 100;

#[derive(Template)]
#[template(path = "history.html")]
struct HistoryPage<'a> {
    form: Form,
    history: &'a History<'a>,
    repo: String,
    /// Empty: the whole repository.
    path: String,
    kept: FileView,
    next: Option<String>,
}

pub(crate) async fn history(call: Call) -> Result<Html<String>, Problem> {
    let Call { params, viewer, .. } = &call;
    params.expect(&[&["repo", "rev", "path", "cursor"], FileView::PARAMETERS])?;
    let kept = FileView::new(params)?;
    let history = repositories::history(&call.coordinator, viewer, params, COMMITS_MAX).await?;
    let &History {
        repo, rev, path, ..
    } = &history;
    let page = HistoryPage {
        form: Form::of(&params.site),
        history: &history,
        repo: visible::plain(repo.as_bytes()),
        path: visible::plain(path),
        next: history.next().map(|cursor| {
            let cursor = encode(cursor.as_bytes());
            let first = RepositoryAddress { repo, rev }.history_href(path);
            format!("{first}{}&cursor={cursor}", kept.parameters())
        }),
        kept,
    };
    Ok(Html(params.site.render(&page)))
}

impl HistoryPage<'_> {
    fn commit_href(&self, rev: &str) -> String {
        let repo = self.history.repo;
        RepositoryAddress { repo, rev }.commit_href()
    }

    fn is_former(&self, path: &[u8]) -> bool {
        path != self.history.path
    }

    fn file_href(&self, revision: &str, path: &[u8]) -> String {
        let file = FileAddress::current(self.history.repo.as_bytes(), path);
        let file = file.at(revision).with_query(&self.kept.query);
        file.near_href(&self.kept.fragment())
    }
}
