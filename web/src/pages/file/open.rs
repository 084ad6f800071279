//! Finds the text of an address, even if it has changed or moved since.

use super::super::markdown::beginning;
use super::super::visible;
use super::asked::AskedFile;
use crate::problem::{NOT_FOUND, Problem};
use crate::search::params::lossy;
use crate::source::file_range::Fetched;
use crate::suggest::Corpus;
use schema::message::{FileRange, FileRequest};
use schema::name::package_name;

const VERSIONS_MAX: usize = 16;

pub(super) enum Opened {
    File(Fetched, Vec<String>),
    Opaque(Fetched),
    Directory(String),
}

impl Opened {
    fn with_notice(file: Fetched, notice: &str) -> Opened {
        Opened::File(file, vec![visible::plain(notice.as_bytes())])
    }
}

/// Falls back to the current text if a revision or version is no longer indexed.
pub(super) async fn open(
    corpus: Corpus<'_>,
    asked: &AskedFile,
    range: FileRange,
) -> Result<Opened, Problem> {
    let problem = match corpus.fetch(&asked.call.params, range).await {
        Ok(fetched) => return with_hash(corpus, asked, fetched, range).await,
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
        let fetched = corpus.fetch_file(request).await?;
        let notice = format!("{}; this is the file in {found_in}", problem.detail);
        return Ok(Opened::with_notice(fetched, &notice));
    }
    if !problem.is(&NOT_FOUND) {
        return Err(problem);
    }
    if let Some(directory) = corpus.directory_href(asked.address()).await {
        return Ok(Opened::Directory(directory));
    }
    let why = corpus.why_left_out(&asked.package, &asked.path).await;
    let opened = in_repository(corpus, asked, range, why.as_ref()).await;
    opened.ok_or_else(|| why.unwrap_or(problem))
}

/// Opens a file that only the repository has, such as a symbolic link or an image. A notice gives
/// the reason in `why`.
async fn in_repository(
    corpus: Corpus<'_>,
    asked: &AskedFile,
    range: FileRange,
    why: Option<&Problem>,
) -> Option<Opened> {
    let bytes = corpus.fetch_file(beginning(asked.address())).await.ok()?;
    if !bytes.reply.original {
        return None;
    }
    let at_commit = FileRequest {
        package: bytes.package.clone(),
        revision: bytes.reply.commit.clone(),
        ..request(asked, range)
    };
    Some(match (corpus.fetch_file(at_commit).await, why) {
        (Ok(text), Some(why)) => {
            let notice = format!("{}; this is the file in its repository", why.detail);
            Opened::with_notice(text, &notice)
        }
        (Ok(text), None) => Opened::File(text, Vec::new()),
        (Err(_), _) => Opened::Opaque(bytes),
    })
}

fn request(asked: &AskedFile, range: FileRange) -> FileRequest {
    FileRequest::new(&asked.package, &asked.path, &asked.revision, range)
}

/// Prefers the text with the hash of a link.
async fn with_hash(
    corpus: Corpus<'_>,
    asked: &AskedFile,
    fetched: Fetched,
    range: FileRange,
) -> Result<Opened, Problem> {
    let hash = asked.hash.as_ref();
    let is_it = |fetched: &Fetched| hash.is_none_or(|hash| *hash == fetched.reply.hash);
    if is_it(&fetched) {
        return Ok(Opened::File(fetched, Vec::new()));
    }
    let others = corpus.versions(package_name(&asked.package)).await?;
    let others = others.into_iter().rev().map(|version| version.package);
    for package in others
        .filter(|other| *other != fetched.package)
        .take(VERSIONS_MAX)
    {
        let request = FileRequest {
            package,
            ..request(asked, range)
        };
        let reply = corpus.file(&request).await?;
        let package = request.package;
        let other = Fetched { package, reply };
        if other.reply.found && is_it(&other) {
            let name = lossy(Some(&other.package));
            let notice = format!("The text of this link is in {name}");
            return Ok(Opened::with_notice(other, &notice));
        }
    }
    let notice = "The text has changed since this link was made; this is the current one";
    Ok(Opened::File(fetched, vec![notice.to_owned()]))
}
