//! Page of a directory, or of a package with its data and README.
//!
//! The address is `/p/PACKAGE/` or `/p/PACKAGE/DIR/`, with `?rev=NAME` of a git repository. Without
//! a version, the newest is shown.

use super::form::Form;
use super::package::{self, PackageView, RepositoryView, committed, words};
use super::tree::{self, Place, TreeView};
use super::{filters, visible};
use crate::http::links::{FileAddress, package_href};
use crate::http::path::decode_path;
use crate::problem::Problem;
use crate::search::params::{Params, lossy};
use crate::state::Call;
use crate::suggest::Corpus;
use askama::Template;
use axum::http::Uri;
use axum::response::{Html, IntoResponse, Redirect, Response};
use schema::message::ListEntry;
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
    tree: TreeView,
}

/// Shows a directory, or redirects to a file.
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
        Some(package::about(&call, corpus, (&entry, revision), &tree).await?)
    } else {
        None
    };
    let repository = package::repository(corpus, package).await?;
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
        tree,
    };
    Ok(Html(params.site.render(&page)).into_response())
}

/// Splits an address; the path is `None` without a slash.
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
