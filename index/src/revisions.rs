//! *Table of revisions*: a file beside a shard.
//!
//! A shard never changes; its current documents do. The table gives each document a *set*:
//! superseded, current (of a directory), or ref names; and its git object id, so that updates need
//! not read it. [`TableBuilder`] makes a table, `table_file` encodes it, [`Revisions`] joins it
//! with records.
//! **Invariant:** invalid bytes are an error with an offset, never a wrong set.

mod builder;
mod live;
mod table_file;

pub use builder::TableBuilder;
pub use live::{COMMIT_DIGITS_MIN, DocumentRevisions, RevisionRef, Revisions};
pub use table_file::TableError;

pub use schema::name::revision_name as short_name;
use std::ops::Range;

/// In no revision.
pub const SUPERSEDED: u32 = 0;

/// Current, of a directory.
pub const CURRENT: u32 = 1;

/// First set with names.
const FIRST_LISTED: u32 = 2;

/// Table of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevisionTable {
    /// Id of the shard file.
    pub(crate) shard: [u8; 32],
    /// Full ref names by [`order`].
    pub(crate) names: Vec<Box<[u8]>>,
    /// From [`FIRST_LISTED`] on: ascending ranges of `names`.
    pub(crate) sets: Vec<Vec<Range<u32>>>,
    /// Documents, then skipped files.
    pub(crate) entries: Vec<TableEntry>,
    /// Number of documents.
    pub(crate) documents: u32,
}

/// Entry of a document or skipped file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableEntry {
    /// Number of its set.
    pub set: u32,
    /// Object it was read from.
    pub object: ObjectId,
}

/// Git object id, file stamp, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    bytes: [u8; 32],
    length: u8,
}

impl ObjectId {
    /// Unknown.
    pub const NONE: ObjectId = ObjectId {
        bytes: [0; 32],
        length: 0,
    };

    /// From 20 or 32 bytes of git, 8 of a stamp, or none.
    pub fn new(id: &[u8]) -> Option<ObjectId> {
        if !matches!(id.len(), 0 | 8 | 20 | 32) {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..id.len()].copy_from_slice(id);
        let length = id.len() as u8;
        Some(ObjectId { bytes, length })
    }

    /// Bytes of the id.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl RevisionTable {
    /// Full ref names of a set.
    pub fn names(&self, set: u32) -> impl Iterator<Item = &[u8]> {
        let indices = ranges(&self.sets, set).iter().cloned().flatten();
        indices.map(|index| &*self.names[index as usize])
    }
}

fn ranges(sets: &[Vec<Range<u32>>], set: u32) -> &[Range<u32>] {
    let listed = set.checked_sub(FIRST_LISTED);
    listed.map_or(&[], |index| &sets[index as usize])
}

/// Tests for a local or remote branch.
pub fn is_branch(full: &[u8]) -> bool {
    full.starts_with(b"refs/heads/") || full.starts_with(b"refs/remotes/")
}

/// By short name, then full.
fn order(full: &[u8]) -> (&[u8], &[u8]) {
    (short_name(full), full)
}

#[cfg(test)]
mod tests;
