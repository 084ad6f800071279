//! Definitions of a file.

use crate::model::FileOutline;
use crate::problem::Problem;
use crate::source::file_range::Fetched;
use crate::suggest::Corpus;
use schema::message::{FileDefinition, FileRange, FileRequest};

/// Definitions that a backend sends. The range of the request has no effect.
pub async fn outline(corpus: Corpus<'_>, file: FileRequest) -> Result<FileOutline, Problem> {
    let request = FileRequest {
        range: NOTHING,
        definitions: true,
        ..file
    };
    let Fetched { package, reply } = corpus.fetch_file(request).await?;
    Ok(FileOutline::new(&package, reply))
}

/// No text, only what is known of the file.
const NOTHING: FileRange = FileRange::Bytes {
    offset: 0,
    count: 0,
};

/// Definitions of a document if it still has this text; `None` without an answer.
pub(crate) async fn definitions_of(
    corpus: Corpus<'_>,
    file: FileRequest,
    hash: &[u8],
) -> Option<(Vec<FileDefinition>, String)> {
    let request = FileRequest {
        range: NOTHING,
        definitions: true,
        ..file
    };
    let reply = corpus.file(&request).await.ok()?;
    let is_same = reply.found && reply.hash == hash;
    is_same.then_some((reply.definitions, reply.definitions_missing))
}
