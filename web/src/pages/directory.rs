//! Page of a directory, or of a package with its data: size, other versions, revisions, skipped
//! files and README.
//!
//! Addresses: `/p/PACKAGE/` or `/p/PACKAGE/DIR/`, with `?rev=NAME` of a git repository. Without a
//! version, the newest is shown.

use super::filters::short_name;
use super::form::Form;
use super::tree::{self, Place, TreeView};
use super::versions::{self, Shown};
use super::{filters, markdown, visible};
use crate::http::links::{FileAddress, RepositoryAddress, decode_path, encode};
use crate::model::LeftOut;
use crate::problem::Problem;
use crate::search::params::{Params, lossy};
use crate::state::{App, Call};
use crate::suggest::Corpus;
use askama::Template;
use axum::http::Uri;
use axum::response::{Html, IntoResponse, Redirect, Response};
use frontend::Listing;
use schema::message::{
    FileRange, FileRequest, IndexedRepository, IndexedRevision, ListEntry, ListKind, ListRequest,
};
use schema::name::package_name;

#[derive(Template)]
#[template(path = "directory.html")]
struct DirectoryPage {
    form: Form,
    package: String,
    path: String,
    place: Place,
    /// Empty: the default revision.
    revision: String,
    notice: Option<String>,
    /// Data of the package, on its first page only.
    about: Option<PackageView>,
    repository: Option<RepositoryView>,
    history: Option<String>,
    versions: String,
    tree: TreeView,
}

pub(crate) async fn directory(call: Call, uri: Uri) -> Result<Response, Problem> {
    let params = &call.params;
    params.expect(&[&["after", "rev"]])?;
    let revision = params.text("rev")?.unwrap_or_default();
    let (name, path) = match names(&uri)? {
        (name, Some(path)) => (name, path),
        (name, None) => {
            let address = FileAddress::current(&name, b"").at(revision);
            return Ok(Redirect::to(&address.directory_href()).into_response());
        }
    };
    let scope = call.viewer.scope_of(&name).await?;
    let corpus = call.corpus(&scope);
    let (entry, notice) = find(corpus, &name).await?;
    let package = &entry.package[..];
    if !path.is_empty() && !path.ends_with(b"/") {
        let file = FileAddress::current(package, &path).at(revision);
        return Ok(Redirect::to(&file.show_href(0)).into_response());
    }
    let after = after(params)?;
    let is_first = after.is_empty();
    let named = (package, revision);
    let tree = tree::list(corpus, named, &path, after, b"").await?;
    if tree.entries.is_empty() && !revision.is_empty() {
        return Err(missing_in(named, &path));
    }
    if tree.entries.is_empty() && !path.is_empty() {
        return Err(missing(corpus, package, &path).await);
    }
    let about = if path.is_empty() && is_first {
        Some(about(&call, corpus, (&entry, revision), &tree).await?)
    } else {
        None
    };
    let repository = repository(corpus, package).await?;
    let commit = (repository.as_ref()).map_or("", |repository| repository.at(revision));
    let shown = Shown {
        address: FileAddress::current(package, &path).at(revision),
        commit,
        lines: "",
    };
    let versions = versions::menu(&params.site, corpus, shown).await;
    let page = DirectoryPage {
        form: Form::of(&params.site),
        package: visible::plain(package),
        path: visible::plain(&path),
        place: Place::new(package, &path, revision),
        revision: revision.to_owned(),
        notice,
        about,
        history: (repository.as_ref()).map(|repository| repository.history_href(&path, revision)),
        repository,
        versions,
        tree,
    };
    Ok(Html(params.site.render(&page)).into_response())
}

/// The path is `None` without a slash.
fn names(uri: &Uri) -> Result<(Vec<u8>, Option<Vec<u8>>), Problem> {
    let rest = uri.path().strip_prefix("/p/").unwrap_or_default();
    let (name, path) = match rest.split_once('/') {
        Some((name, path)) => (name, Some(decode_path(path)?)),
        None => (rest, None),
    };
    if name.is_empty() {
        let problem = Problem::missing("the address names no package");
        return Err(problem.hint("/packages lists all packages"));
    }
    Ok((decode_path(name)?, path))
}

/// Returns the package, or its newest version with a notice if this one is not indexed.
pub(super) async fn find(
    corpus: Corpus<'_>,
    name: &[u8],
) -> Result<(ListEntry, Option<String>), Problem> {
    if let Some(found) = corpus.versions(name).await?.pop() {
        return Ok((found, None));
    }
    let newest = match package_name(name) {
        other if other != name => corpus.versions(other).await?.pop(),
        _ => None,
    };
    let shown = lossy(Some(name));
    let Some(newest) = newest else {
        let problem = Problem::missing(format!("no package {shown} is indexed"));
        return Err(problem.hint("/packages lists all packages"));
    };
    let other = lossy(Some(&newest.package));
    let notice = format!("{shown} is not indexed, or no longer; this is {other}");
    let notice = visible::plain(notice.as_bytes());
    Ok((newest, Some(notice)))
}

async fn missing(corpus: Corpus<'_>, package: &[u8], path: &[u8]) -> Problem {
    let whole = path.strip_suffix(b"/").unwrap_or(path);
    if let Some(why) = corpus.why_left_out(package, whole).await {
        return why;
    }
    let [package, path] = [package, path].map(|name| lossy(Some(name)));
    Problem::missing(format!("{package} has no directory {path}"))
}

fn missing_in((package, revision): (&[u8], &str), path: &[u8]) -> Problem {
    let [package_name, shown] = [package, path].map(|name| lossy(Some(name)));
    let detail = match path {
        b"" => format!("{package_name} has no revision {revision} that is indexed"),
        _ => format!(
            "{package_name} has no directory {shown} in the revision {revision}, or that is not indexed"
        ),
    };
    let default = FileAddress::current(package, path).directory_href();
    Problem::missing(detail).hint(format!("{default} has the default revision"))
}

pub(super) fn after(params: &Params) -> Result<Vec<u8>, Problem> {
    params.position("after", "that of a link of an earlier page")
}

const README_LINES_MAX: u32 = 300;

const README_LEVEL: u8 = 2;

const SKIPPED_MAX: u32 = 100;

pub(super) struct PackageView {
    /// Documents, lines and bytes.
    pub(super) sums: (u32, u64, u64),
    pub(super) indexed: String,
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
    let skipped = ListRequest::new(ListKind::Skipped, package, b"", SKIPPED_MAX);
    Ok(PackageView {
        // The entry sums up the default revision.
        sums: match revision {
            "" => (entry.documents, entry.lines, entry.text_bytes),
            _ => tree.sums(),
        },
        indexed: filters::moment(entry.indexed),
        skipped: corpus.listing(&skipped).await?,
        skipped_href: format!("/skipped?package={}", encode(package)),
        readme: readme(app, corpus, (package, revision), tree).await?,
        filter: str::from_utf8(package).ok().map(|name| format!("={name}")),
    })
}

pub(super) fn words(left_out: &ListEntry) -> String {
    visible::plain(LeftOut::from(left_out).words.as_bytes())
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
    let found = corpus.indexed_repository(package).await?;
    Ok(found.map(|found| RepositoryView { name, found }))
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
    fn at<'r>(&'r self, revision: &'r str) -> &'r str {
        let default = self.found.revisions.first();
        match revision {
            "" => default.map_or("", |default| &default.commit),
            revision => revision,
        }
    }

    pub(super) fn history_href(&self, path: &[u8], revision: &str) -> String {
        let repo = &self.name;
        let rev = self.at(revision);
        RepositoryAddress { repo, rev }.history_href(path)
    }
}

pub(super) fn committed(revision: &IndexedRevision) -> String {
    filters::moment(revision.committed.try_into().unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_package_and_a_path_in_bytes() {
        let names = |address: &str| names(&address.parse().unwrap());
        assert_eq!(names("/p/a_1").unwrap(), (b"a_1".to_vec(), None));
        assert_eq!(names("/p/a_1/").unwrap(), (b"a_1".to_vec(), Some(vec![])));
        assert_eq!(
            names("/p/a%2Fb/x%ff/y+/").unwrap(),
            (b"a/b".to_vec(), Some(b"x\xff/y+/".to_vec()))
        );
        assert!(names("/p//x").is_err());
        assert!(names("/p/a/%").is_err());
    }
}
