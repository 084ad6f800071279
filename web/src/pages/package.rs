//! Data of a package: size, other versions, revisions, skipped files and README.

use super::tree::TreeView;
use super::{filters, markdown, visible};
use crate::http::links::{FileAddress, RepositoryAddress, encode};
use crate::model::LeftOut;
use crate::problem::Problem;
use crate::state::App;
use crate::suggest::Corpus;
use frontend::Listing;
use schema::message::{
    FileRange, FileRequest, IndexedRepository, IndexedRevision, ListEntry, ListKind, ListRequest,
};
use schema::name::revision_name;

const README_LINES_MAX: u32 = 300;

const README_LEVEL: u8 = 2;

const SKIPPED_MAX: u32 = 100;

pub(super) struct PackageView {
    /// Documents, lines and bytes.
    pub(super) sums: (u32, u64, u64),
    pub(super) indexed: String,
    pub(super) others: Vec<ListEntry>,
    pub(super) skipped: Listing,
    pub(super) skipped_href: String,
    pub(super) readme: Option<Readme>,
    /// `None` if the name is not UTF-8.
    pub(super) filter: Option<String>,
}

pub(super) struct RepositoryView {
    name: String,
    pub(super) found: IndexedRepository,
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
    corpus: Corpus<'_>,
    (entry, revision): (&ListEntry, &str),
    tree: &TreeView,
) -> Result<PackageView, Problem> {
    let package = &entry.package[..];
    let mut others = corpus.versions(entry.name()).await?;
    others.retain(|other| other.package != package);
    let skipped = ListRequest::new(ListKind::Skipped, package, b"", SKIPPED_MAX);
    Ok(PackageView {
        // The entry sums up the default revision.
        sums: match revision {
            "" => (entry.documents, entry.lines, entry.text_bytes),
            _ => tree.sums(),
        },
        indexed: filters::moment(entry.indexed),
        others,
        skipped: corpus.listing(&skipped).await?,
        skipped_href: format!("/skipped?package={}", encode(package)),
        readme: readme(app, corpus, (package, revision), tree).await?,
        filter: str::from_utf8(package).ok().map(|name| format!("={name}")),
    })
}

/// Reason why a file was left out, in words.
pub(super) fn words(left_out: &ListEntry) -> String {
    visible::plain(LeftOut::from(left_out.clone()).words.as_bytes())
}

/// `None` if the package is not a repository.
pub(super) async fn repository(
    corpus: Corpus<'_>,
    package: &[u8],
) -> Result<Option<RepositoryView>, Problem> {
    let Ok(name) = str::from_utf8(package) else {
        return Ok(None);
    };
    let name = name.to_owned();
    let found = indexed_repository(corpus, package).await?;
    Ok(found.map(|found| RepositoryView { name, found }))
}

/// `None` if the package is not a repository.
pub(super) async fn indexed_repository(
    corpus: Corpus<'_>,
    package: &[u8],
) -> Result<Option<IndexedRepository>, Problem> {
    let request = ListRequest::new(ListKind::Repositories, b"", package, 1);
    let list = corpus.listing(&request).await?;
    let mut entries = list.entries.into_iter();
    let found = entries.find(|entry| entry.package == package);
    Ok(found.and_then(|entry| entry.repository))
}

impl RepositoryView {
    pub(super) fn more(&self) -> u32 {
        let listed = self.found.revisions.len() as u32;
        self.found.revision_count.saturating_sub(listed)
    }

    pub(super) fn files_href(&self, revision: &str) -> String {
        let top = FileAddress::current(self.name.as_bytes(), b"");
        top.at(short_name(revision)).directory_href()
    }

    pub(super) fn commit_href(&self, rev: &str) -> String {
        let repo = &self.name;
        RepositoryAddress { repo, rev }.commit_href()
    }

    /// An empty `revision` is the default one, at its indexed commit.
    pub(super) fn history_href(&self, path: &[u8], revision: &str) -> String {
        let default = self.found.revisions.first();
        let rev = match revision {
            "" => default.map_or("", |default| &default.commit),
            revision => revision,
        };
        let repo = &self.name;
        RepositoryAddress { repo, rev }.history_href(path)
    }
}

pub(super) fn committed(revision: &IndexedRevision) -> String {
    filters::moment(revision.committed.try_into().unwrap_or_default())
}

/// Shortens a revision to its usual form.
pub(super) fn short_name(full: &str) -> &str {
    str::from_utf8(revision_name(full.as_bytes())).expect("the prefix that is missing is ASCII")
}

async fn readme(
    app: &App,
    corpus: Corpus<'_>,
    (package, revision): (&[u8], &str),
    tree: &TreeView,
) -> Result<Option<Readme>, Problem> {
    let files = tree.entries.iter().filter(|item| !item.is_directory);
    let readmes = files.filter(|item| item.entry.path.to_ascii_lowercase().starts_with(b"readme"));
    // The shortest name is the main one.
    let Some(item) = readmes.min_by_key(|item| (item.entry.path.len(), &item.entry.path)) else {
        return Ok(None);
    };
    let range = FileRange::Lines {
        first: 1,
        count: README_LINES_MAX,
    };
    let path = &item.entry.path;
    let request = FileRequest::new(package, path, revision, range);
    let reply = corpus.file(&request).await?;
    if !reply.found {
        return Ok(None);
    }
    let lines = reply.text.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| visible::plain(line.strip_suffix(b"\r").unwrap_or(line)));
    let file = FileAddress::current(package, path).at(revision);
    let html = if markdown::is_markdown(path) {
        Some(markdown::of_file(app, corpus, file, &reply.text, README_LEVEL).await)
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
