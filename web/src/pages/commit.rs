//! Page of a commit of a git repository: message, author, date and changed files.

use super::form::Layout;
use super::{filters, visible};
use crate::http::links::{FileAddress, RepositoryAddress, package_href};
use crate::problem::Problem;
use crate::repositories::{names, problem};
use crate::search::params::Params;
use crate::state::App;
use access::Viewer;
use askama::Template;
use axum::extract::State;
use axum::response::Html;
use schema::message::{Change, ChangeKind, ChangeList, Commit, Signature};

/// The most that a backend sends.
const CHANGES_MAX: u32 = 1000;

#[derive(Template)]
#[template(path = "commit.html")]
struct CommitPage {
    layout: Layout,
    repo: String,
    repo_href: String,
    subject: String,
    body: String,
    id: String,
    history_href: String,
    author: Signed,
    /// Present if it differs from the author.
    committer: Option<Signed>,
    /// Ids and addresses.
    parents: Vec<(String, String)>,
    tags: Vec<String>,
    shortened: bool,
    changes: Vec<ChangeRow>,
    more: bool,
    notice: Option<String>,
}

#[derive(PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) name: String,
    pub(super) day: String,
    moment: String,
}

struct ChangeRow {
    kind: &'static str,
    path: String,
    /// At the commit; before it for a removed file.
    href: Option<String>,
    history_href: String,
}

pub(crate) async fn commit(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Html<String>, Problem> {
    params.expect(&[&["repo", "rev"]])?;
    let (repo, rev) = names(&params)?;
    let scope = viewer.scope_with(repo.as_bytes()).await?;
    let asked = vec![(repo.to_owned(), rev.to_owned())];
    let mut found = app.coordinator.commits(&scope, asked).await;
    let found = found.pop().expect("an outcome for each pair");
    let found = found.map_err(|error| problem(error, repo, rev))?;
    let asked = (repo.to_owned(), found.id.clone());
    let changes = (app.coordinator)
        .changes(&scope, asked.0, asked.1, CHANGES_MAX)
        .await;
    let (changes, notice) = match &changes {
        Ok(changes) => (&**changes, None),
        Err(error) => (
            &ChangeList::default(),
            Some(problem(error.clone(), repo, rev).detail),
        ),
    };
    let layout = Layout::of(&params.site);
    let page = CommitPage::new(layout, repo, &found, changes, notice);
    Ok(Html(params.site.render(&page)))
}

impl CommitPage {
    fn new(
        layout: Layout,
        repo: &str,
        commit: &Commit,
        changes: &ChangeList,
        notice: Option<String>,
    ) -> CommitPage {
        let address = |rev| RepositoryAddress { repo, rev };
        let (author, committer) = (signed(&commit.author), signed(&commit.committer));
        let parents = commit.parents.iter();
        let lines = commit.body.split(|&byte| byte == b'\n');
        CommitPage {
            layout,
            repo: visible::plain(repo.as_bytes()),
            repo_href: package_href(repo.as_bytes()),
            subject: subject(commit),
            body: lines.map(visible::plain).collect::<Vec<_>>().join("\n"),
            id: commit.id.clone(),
            history_href: address(&commit.id).history_href(b""),
            committer: Some(committer).filter(|committer| *committer != author),
            author,
            parents: parents
                .map(|parent| (filters::short_id(parent), address(parent).commit_href()))
                .collect(),
            tags: commit.tags.iter().map(|tag| visible::plain(tag)).collect(),
            shortened: commit.shortened,
            changes: (changes.changes.iter())
                .map(|change| ChangeRow::new(repo, commit, change))
                .collect(),
            more: changes.more,
            notice: notice.map(|notice| visible::plain(notice.as_bytes())),
        }
    }
}

impl ChangeRow {
    fn new(repo: &str, commit: &Commit, change: &Change) -> ChangeRow {
        let (kind, at) = match change.kind {
            ChangeKind::Added => ("added", Some(&commit.id)),
            ChangeKind::Modified => ("modified", Some(&commit.id)),
            ChangeKind::Removed => ("removed", commit.parents.first()),
        };
        let file = |revision| FileAddress::current(repo.as_bytes(), &change.path).at(revision);
        let address = RepositoryAddress {
            repo,
            rev: &commit.id,
        };
        ChangeRow {
            kind,
            path: visible::plain(&change.path),
            href: at.map(|at| file(at).show_href(0)),
            history_href: address.history_href(&change.path),
        }
    }
}

pub(super) fn subject(commit: &Commit) -> String {
    visible::plain(match &commit.subject[..] {
        b"" => b"(no message)",
        subject => subject,
    })
}

pub(super) fn signed(signature: &Signature) -> Signed {
    let seconds = u64::try_from(signature.seconds).unwrap_or_default();
    let moment = filters::moment(seconds);
    Signed {
        name: visible::plain(&signature.name),
        day: moment[..10].to_owned(),
        moment,
    }
}
