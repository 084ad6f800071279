//! History of a repository, file or directory: the commits that changed it, newest first.

use super::commit::{signed, subject};
use super::file::FileView;
use super::form::Layout;
use super::{filters, visible};
use crate::http::links::{FileAddress, RepositoryAddress, encode};
use crate::problem::Problem;
use crate::repositories::histories::{self, History};
use crate::search::params::Params;
use crate::state::App;
use access::Viewer;
use askama::Template;
use axum::extract::State;
use axum::response::Html;
use schema::message::Commit;

const COMMITS_MAX: u32 = 100;

#[derive(Template)]
#[template(path = "history.html")]
struct HistoryPage {
    layout: Layout,
    repo: String,
    repo_href: String,
    /// Empty: the whole repository.
    path: String,
    path_href: String,
    rev: String,
    commits: Vec<CommitRow>,
    next: Option<String>,
}

struct CommitRow {
    subject: String,
    href: String,
    id: String,
    author: String,
    day: String,
    file: Option<String>,
}

pub(crate) async fn history(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Html<String>, Problem> {
    params.expect(&[&["repo", "rev", "path", "cursor"], FileView::PARAMETERS])?;
    let kept = FileView::new(&params)?;
    let history = histories::look_up(&app.coordinator, &viewer, &params, COMMITS_MAX).await?;
    let &History {
        repo, rev, path, ..
    } = &history;
    let address = RepositoryAddress { repo, rev };
    let file = FileAddress {
        revision: rev,
        query: &kept.query,
        ..FileAddress::current(repo.as_bytes(), path)
    };
    let page = HistoryPage {
        layout: Layout::of(&params.site),
        repo: visible::plain(repo.as_bytes()),
        repo_href: crate::http::links::package_href(repo.as_bytes()),
        path: visible::plain(path),
        path_href: file.near_href(&kept.fragment()),
        rev: visible::plain(rev.as_bytes()),
        commits: (history.commits().iter())
            .map(|commit| CommitRow::new((repo, path), &kept, commit))
            .collect(),
        next: history.next().map(|cursor| {
            let cursor = encode(cursor.as_bytes());
            let kept = kept.parameters();
            format!("{}{kept}&cursor={cursor}", address.history_href(path))
        }),
    };
    Ok(Html(params.site.render(&page)))
}

impl CommitRow {
    fn new((repo, path): (&str, &[u8]), kept: &FileView, commit: &Commit) -> CommitRow {
        let id = &commit.id[..];
        let file = FileAddress {
            revision: id,
            query: &kept.query,
            ..FileAddress::current(repo.as_bytes(), path)
        };
        CommitRow {
            subject: subject(commit),
            href: RepositoryAddress { repo, rev: id }.commit_href(),
            id: filters::short_id(id),
            author: visible::plain(&commit.author.name),
            day: signed(&commit.author).day,
            file: (!path.is_empty()).then(|| file.near_href(&kept.fragment())),
        }
    }
}
