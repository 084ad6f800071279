//! Data of a package: size, other versions, revisions, skipped files and README.

use super::filters;
use super::markdown;
use super::tree::TreeView;
use super::visible;
use crate::http::links::{FileAddress, RepositoryAddress, encode, package_href};
use crate::model::LeftOut;
use crate::problem::Problem;
use crate::state::App;
use crate::suggest::versions;
use frontend::Scope;
use schema::message::{
    FileRange, FileRequest, IndexedRepository, ListEntry, ListKind, ListRequest,
};
use schema::name::revision_name;

const README_LINES_MAX: u32 = 300;

const README_LEVEL: u8 = 2;

const SKIPPED_MAX: u32 = 100;

pub(super) struct PackageView {
    pub(super) documents: u32,
    pub(super) lines: u64,
    pub(super) bytes: u64,
    pub(super) indexed: String,
    /// Names and addresses.
    pub(super) versions: Vec<(String, String)>,
    /// Paths and reasons.
    pub(super) skipped: Vec<(String, String)>,
    pub(super) skipped_more: Option<String>,
    pub(super) readme: Option<Readme>,
    /// `None` if the name is not UTF-8.
    pub(super) filter: Option<String>,
    /// Empty: the default one.
    pub(super) revision: String,
}

pub(super) struct RepositoryView {
    pub(super) default: String,
    pub(super) fetched: Option<String>,
    /// Reason for a failed update, or empty.
    pub(super) problem: String,
    pub(super) revisions: Vec<RevisionView>,
    pub(super) more: u32,
    /// Package, and indexed commit of the default revision.
    name: String,
    commit: String,
}

pub(super) struct RevisionView {
    pub(super) name: String,
    pub(super) files_href: String,
    pub(super) commit: String,
    pub(super) href: String,
    pub(super) committed: String,
    pub(super) behind: Option<u32>,
}

pub(super) struct Readme {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) text: String,
    pub(super) html: Option<String>,
    pub(super) is_whole: bool,
}

/// `tree` is the top directory in a revision.
pub(super) async fn about(
    app: &App,
    scope: &Scope,
    (entry, revision): (&ListEntry, &str),
    tree: &TreeView,
) -> Result<PackageView, Problem> {
    let package = &entry.package[..];
    let others = versions(&app.coordinator, scope, entry.name()).await?;
    let others = others.iter().filter(|other| other.package != package);
    let (skipped, has_more) = skipped(app, scope, package).await?;
    // The entry sums up the default revision.
    let (documents, lines, bytes) = match revision {
        "" => (entry.documents, entry.lines, entry.text_bytes),
        _ => tree.sums(),
    };
    Ok(PackageView {
        documents,
        lines,
        bytes,
        indexed: filters::moment(entry.indexed),
        versions: others
            .map(|other| (visible::plain(&other.package), package_href(&other.package)))
            .collect(),
        skipped,
        skipped_more: has_more.then(|| format!("/skipped?package={}", encode(package))),
        readme: readme(app, scope, (package, revision), tree).await?,
        filter: str::from_utf8(package).ok().map(|name| format!("={name}")),
        revision: revision.to_owned(),
    })
}

/// Also returns true if there are more.
async fn skipped(
    app: &App,
    scope: &Scope,
    package: &[u8],
) -> Result<(Vec<(String, String)>, bool), Problem> {
    let request = ListRequest::new(ListKind::Skipped, package, b"", SKIPPED_MAX);
    let list = app.coordinator.listing(scope, &request).await?;
    let entries = list.entries.into_iter();
    let entries = entries.map(|entry| {
        let path = visible::plain(&entry.path);
        let words = LeftOut::from(entry).words;
        (path, visible::plain(words.as_bytes()))
    });
    Ok((entries.collect(), list.more))
}

/// `None` if the package is not a repository.
pub(super) async fn repository(
    app: &App,
    scope: &Scope,
    package: &[u8],
) -> Result<Option<RepositoryView>, Problem> {
    let Ok(name) = str::from_utf8(package) else {
        return Ok(None);
    };
    let found = indexed_repository(app, scope, package).await?;
    Ok(found.map(|found| RepositoryView::new(name, found)))
}

/// `None` if the package is not a repository.
pub(super) async fn indexed_repository(
    app: &App,
    scope: &Scope,
    package: &[u8],
) -> Result<Option<IndexedRepository>, Problem> {
    let request = ListRequest::new(ListKind::Repositories, b"", package, 1);
    let list = app.coordinator.listing(scope, &request).await?;
    let mut entries = list.entries.into_iter();
    let found = entries.find(|entry| entry.package == package);
    Ok(found.and_then(|entry| entry.repository))
}

impl RepositoryView {
    fn new(name: &str, repository: IndexedRepository) -> RepositoryView {
        let listed = repository.revisions.len() as u32;
        let default = repository.revisions.first();
        let commit = default.map_or_else(String::new, |default| default.commit.clone());
        let revisions = repository.revisions.into_iter();
        RepositoryView {
            name: name.to_owned(),
            commit,
            default: visible::plain(repository.default.as_bytes()),
            fetched: (repository.fetched > 0).then(|| filters::moment(repository.fetched)),
            problem: visible::plain(repository.problem.as_bytes()),
            more: repository.revision_count.saturating_sub(listed),
            revisions: revisions
                .map(|revision| RevisionView {
                    name: visible::plain(revision.name.as_bytes()),
                    files_href: FileAddress::current(name.as_bytes(), b"")
                        .at(short_name(&revision.name))
                        .directory_href(),
                    commit: filters::short_id(&revision.commit),
                    href: RepositoryAddress {
                        repo: name,
                        rev: &revision.commit,
                    }
                    .commit_href(),
                    committed: filters::moment(revision.committed.try_into().unwrap_or_default()),
                    behind: revision.behind.filter(|&behind| behind > 0),
                })
                .collect(),
        }
    }

    /// An empty `revision` is the default one.
    pub(super) fn history_href(&self, path: &[u8], revision: &str) -> String {
        let address = RepositoryAddress {
            repo: &self.name,
            rev: if revision.is_empty() {
                &self.commit
            } else {
                revision
            },
        };
        address.history_href(path)
    }
}

/// Shortens a revision to its usual form.
pub(super) fn short_name(full: &str) -> &str {
    str::from_utf8(revision_name(full.as_bytes())).expect("the prefix that is missing is ASCII")
}

async fn readme(
    app: &App,
    scope: &Scope,
    (package, revision): (&[u8], &str),
    tree: &TreeView,
) -> Result<Option<Readme>, Problem> {
    let files = tree.entries.iter().filter(|item| !item.is_directory);
    let readmes = files.filter(|item| item.path.to_ascii_lowercase().starts_with(b"readme"));
    // The shortest name is the main one.
    let Some(item) = readmes.min_by_key(|item| (item.path.len(), &item.path)) else {
        return Ok(None);
    };
    let range = FileRange::Lines {
        first: 1,
        count: README_LINES_MAX,
    };
    let request = FileRequest::new(package, &item.path, revision, range);
    let reply = app.coordinator.file(scope, &request).await?;
    if !reply.found {
        return Ok(None);
    }
    let lines = reply.text.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| visible::plain(line.strip_suffix(b"\r").unwrap_or(line)));
    let file = FileAddress::current(package, &item.path).at(revision);
    let html = if markdown::is_markdown(&item.path) {
        Some(markdown::of_file(app, scope, file, &reply.text, README_LEVEL).await)
    } else {
        None
    };
    Ok(Some(Readme {
        name: item.name.clone(),
        href: item.href.clone(),
        text: lines.collect::<Vec<_>>().join("\n"),
        html,
        is_whole: reply.text.len() as u64 >= reply.total_bytes,
    }))
}
