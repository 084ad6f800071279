//! Finds the text of an address, even if it has changed or moved since.

use super::super::visible;
use super::asked::AskedFile;
use crate::http::links::FileAddress;
use crate::problem::Problem;
use crate::search::params::lossy;
use crate::source::file_range::{Fetched, directory_href, fetch, fetch_file};
use crate::state::App;
use crate::suggest::{left_out, versions};
use frontend::Scope;
use schema::message::{FileRange, FileRequest, FileSource};
use schema::name::package_name;

/// Enough to tell an image.
const HEAD_BYTES: u64 = 16;

const VERSIONS_MAX: usize = 16;

pub(super) enum Opened {
    File(Fetched, Vec<String>),
    /// Beginning of a repository's file that is not text.
    Opaque(Fetched),
    Directory(String),
}

/// Falls back to the current text if a revision or version is no longer indexed.
pub(super) async fn open(
    app: &App,
    scope: &Scope,
    asked: &AskedFile<'_>,
    range: FileRange,
) -> Result<Opened, Problem> {
    let problem = match fetch(&app.coordinator, scope, asked.params, range).await {
        Ok(fetched) => return with_hash(app, scope, asked, fetched, range).await,
        Err(problem) => problem,
    };
    if let Some((package, revision)) = problem.instead() {
        let mut request = FileRequest {
            revision: revision.to_owned(),
            ..request(asked, range)
        };
        if !package.is_empty() {
            request.package = package.to_vec();
        }
        let found_in = match revision {
            "" => lossy(Some(package)),
            revision => revision.into(),
        };
        let fetched = fetch_file(&app.coordinator, scope, request).await?;
        let notice = format!("{}; this is the file in {found_in}", problem.detail);
        return Ok(Opened::File(
            fetched,
            vec![visible::plain(notice.as_bytes())],
        ));
    }
    if !problem.is_missing() {
        return Err(problem);
    }
    let address = FileAddress::current(asked.package, asked.path).at(asked.revision);
    if let Some(directory) = directory_href(&app.coordinator, scope, address).await {
        return Ok(Opened::Directory(directory));
    }
    let why = left_out::why(&app.coordinator, scope, (asked.package, asked.path)).await;
    let opened = in_repository(app, scope, asked, range, why.as_ref()).await;
    opened.ok_or_else(|| why.unwrap_or(problem))
}

/// Opens a file that only the repository has, such as a symbolic link or an image. A notice gives
/// the reason in `why`.
async fn in_repository(
    app: &App,
    scope: &Scope,
    asked: &AskedFile<'_>,
    range: FileRange,
    why: Option<&Problem>,
) -> Option<Opened> {
    let beginning = FileRequest {
        range: FileRange::Bytes {
            offset: 0,
            count: HEAD_BYTES,
        },
        source: FileSource::TextOrOriginal,
        ..request(asked, range)
    };
    let bytes = fetch_file(&app.coordinator, scope, beginning).await.ok()?;
    if !bytes.reply.original {
        return None;
    }
    let at_commit = FileRequest {
        package: bytes.package.clone(),
        revision: bytes.reply.commit.clone(),
        ..request(asked, range)
    };
    match fetch_file(&app.coordinator, scope, at_commit).await {
        Ok(text) => {
            let notice =
                why.map(|why| format!("{}; this is the file in its repository", why.detail));
            let notices = notice.map(|notice| visible::plain(notice.as_bytes()));
            Some(Opened::File(text, notices.into_iter().collect()))
        }
        Err(_) => Some(Opened::Opaque(bytes)),
    }
}

fn request(asked: &AskedFile<'_>, range: FileRange) -> FileRequest {
    FileRequest::new(asked.package, asked.path, asked.revision, range)
}

/// Prefers the text with the hash of a link.
async fn with_hash(
    app: &App,
    scope: &Scope,
    asked: &AskedFile<'_>,
    fetched: Fetched,
    range: FileRange,
) -> Result<Opened, Problem> {
    let is_it = |fetched: &Fetched| {
        asked
            .hash
            .as_ref()
            .is_none_or(|hash| *hash == fetched.reply.hash)
    };
    if is_it(&fetched) {
        return Ok(Opened::File(fetched, Vec::new()));
    }
    let others = versions(&app.coordinator, scope, package_name(asked.package)).await?;
    let others = others.into_iter().rev().map(|version| version.package);
    for package in others
        .filter(|other| *other != fetched.package)
        .take(VERSIONS_MAX)
    {
        let request = FileRequest {
            package,
            ..request(asked, range)
        };
        let reply = app.coordinator.file(scope, &request).await?;
        let package = request.package;
        let other = Fetched { package, reply };
        if other.reply.found && is_it(&other) {
            let notice = format!(
                "The text of this link is in {}",
                lossy(Some(&other.package))
            );
            return Ok(Opened::File(other, vec![visible::plain(notice.as_bytes())]));
        }
    }
    let notice = "The text has changed since this link was made; this is the current one";
    Ok(Opened::File(fetched, vec![notice.to_owned()]))
}
