//! Pages of a commit (message, author, date and changed files) and of the history of a repository,
//! file or directory.

use super::file::FileView;
use super::filters::{self, signed};
use super::form::Form;
use super::visible;
use crate::http::links::{FileAddress, RepositoryAddress, encode, package_href};
use crate::problem::Problem;
use crate::repositories::{self, History, names, problem};
use crate::state::Call;
use askama::Template;
use axum::response::Html;
use schema::message::{Change, ChangeKind, ChangeList, Commit, Signature};

/// The most that a backend sends.
const CHANGES_MAX: u32 = 1000;

#[derive(Template)]
#[template(path = "commit.html")]
struct CommitPage<'a> {
    form: Form,
    repo: &'a str,
    commit: &'a Commit,
    listed: &'a ChangeList,
    notice: Option<String>,
}

pub(crate) async fn commit(call: Call) -> Result<Html<String>, Problem> {
    let Call { params, viewer, .. } = &call;
    params.expect(&[&["repo", "rev"]])?;
    let (repo, rev) = names(params)?;
    let scope = viewer.scope_with(repo.as_bytes()).await?;
    let found = repositories::commit(&call.coordinator, &scope, repo, rev).await?;
    let (repository, id) = (repo.to_owned(), found.id.clone());
    let changes = call
        .coordinator
        .changes(&scope, repository, id, CHANGES_MAX);
    let changes = changes.await;
    let (listed, notice) = match &changes {
        Ok(changes) => (&**changes, None),
        Err(error) => (
            &ChangeList::default(),
            Some(problem(error.clone(), repo, rev).document.detail),
        ),
    };
    let page = CommitPage {
        form: Form::of(&params.site),
        repo,
        commit: &found,
        listed,
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

    fn changed(&self, change: &Change) -> (&'static str, Option<String>) {
        let (kind, at) = match change.kind {
            ChangeKind::Added => ("added", Some(&self.commit.id)),
            ChangeKind::Modified => ("modified", Some(&self.commit.id)),
            ChangeKind::Removed => ("removed", self.commit.parents.first()),
        };
        let file = FileAddress::current(self.repo.as_bytes(), &change.path);
        (kind, at.map(|at| file.at(at).show_href(0)))
    }
}

pub(super) fn subject(commit: &Commit) -> String {
    visible::plain(match &commit.subject[..] {
        b"" => b"(no message)",
        subject => subject,
    })
}

pub(super) fn day(signature: &Signature) -> String {
    signed(signature).1[..10].to_owned()
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

    fn file_href(&self, revision: &str) -> String {
        let file = FileAddress::current(self.history.repo.as_bytes(), self.history.path);
        let file = file.at(revision).with_query(&self.kept.query);
        file.near_href(&self.kept.fragment())
    }
}
