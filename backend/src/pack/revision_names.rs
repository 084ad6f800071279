//! Revision names of a document, within the bounds of a message, and their number.

use index::shard::{DocId, Shard};
use schema::message::{REVISIONS_BYTES_MAX, REVISIONS_MAX};

/// Revisions of a document; none for a directory's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RevisionNames<'a> {
    /// Short names, the default first, the rest ascending.
    pub(crate) names: Vec<&'a str>,
    pub(crate) count: u32,
    /// Commit id of the first, when indexed.
    pub(crate) commit: &'a str,
}

impl<'a> RevisionNames<'a> {
    pub(crate) fn of(shard: &'a Shard, document: DocId) -> RevisionNames<'a> {
        let mut found = RevisionNames::default();
        let mut bytes = 0;
        for revision in shard.revisions_of(document).iter() {
            if found.count == 0 {
                found.commit = revision.commit;
            }
            bytes += revision.text.len();
            // The list is a prefix.
            let is_next = found.names.len() == found.count as usize;
            if is_next && found.names.len() < REVISIONS_MAX && bytes <= REVISIONS_BYTES_MAX {
                found.names.push(revision.text);
            }
            found.count += 1;
        }
        found
    }
}
