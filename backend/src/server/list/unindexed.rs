//! Lists a directory of an unindexed revision, from the repository.
//!
//! Files are not read: entries have no documents, lines and bytes.

use super::reply_builder::ReplyBuilder;
use crate::live::Generation;
use crate::lookup::repositories::{LookUp, WantedFile};
use index::revisions::RevisionRef;
use schema::message::{ListEntry, ListReply, ListRequest, RecordedRepository};
use std::convert::Infallible;

/// `None` without a repository, or for an indexed revision.
pub(super) fn children(
    generation: &Generation,
    readers: &[&dyn LookUp],
    request: &ListRequest,
) -> Option<ListReply> {
    let recorded = generation.recorded.repository(&request.package)?;
    if request.revision.is_empty() || is_indexed(recorded, request.revision.as_bytes()) {
        return None;
    }
    let wanted = WantedFile {
        repository: str::from_utf8(&request.package).ok()?,
        recorded: Some(recorded),
        revision: &request.revision,
        path: &request.prefix,
        bytes_max: 0,
    };
    let mut found = readers.iter().map(|reader| reader.directory(&wanted));
    let names = found.find(|names| !names.is_empty())?;
    let mut reply = ReplyBuilder::new(request);
    for name in names {
        let path = [&request.prefix[..], &name].concat();
        let bytes = request.package.len() + path.len();
        reply.entry(&path, bytes, || path.clone());
    }
    let entry = |path| {
        Ok::<_, Infallible>(ListEntry {
            package: request.package.clone(),
            path,
            ..ListEntry::default()
        })
    };
    match reply.finish(entry) {
        Ok(reply) => Some(reply),
        Err(never) => match never {},
    }
}

fn is_indexed(recorded: &RecordedRepository, name: &[u8]) -> bool {
    recorded.revisions.iter().any(|revision| {
        let revision = RevisionRef {
            name: &revision.name,
            text: "",
            commit: &revision.commit.id,
            committed: 0,
            is_default: revision.name == recorded.default,
        };
        revision.is_named(name)
    })
}
