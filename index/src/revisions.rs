//! Which revisions the documents of a shard are in: the *table of revisions*, a file beside the shard.
//!
//! A shard never changes; what is current in it does. The table gives each document a *set*: of no
//! revision (superseded), of none because it is a directory's file, or a list of names of refs. And it
//! keeps the id of each document's git object, by which an update knows a text without reading it.
//! A [`TableBuilder`] makes a table, `table_file` describes its bytes, and [`Revisions`] is a table with
//! the records of the repositories, as searches use it.
//! **Invariant:** bytes that are no valid table are an error that says where, never a wrong set.

mod builder;
mod live;
mod table_file;

pub use builder::TableBuilder;
pub use live::{COMMIT_DIGITS_MIN, DocumentRevisions, RevisionRef, Revisions};
pub use table_file::TableError;

pub use schema::name::revision_name as short_name;
use std::ops::Range;

/// The set of documents that are in no revision.
pub const SUPERSEDED: u32 = 0;

/// The set of documents that are current without revisions: files of directories.
pub const CURRENT: u32 = 1;

/// Sets that have no list of names.
const FIRST_LISTED: u32 = 2;

/// The table of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevisionTable {
    /// The id of the shard's file.
    pub(crate) shard: [u8; 32],
    /// Full names of refs, in the order of [`order`].
    pub(crate) names: Vec<Box<[u8]>>,
    /// The sets from [`FIRST_LISTED`] on: ascending ranges of indices of `names`, none empty.
    pub(crate) sets: Vec<Vec<Range<u32>>>,
    /// By document, and then by skipped file.
    pub(crate) entries: Vec<TableEntry>,
    /// The number of entries that are documents.
    pub(crate) documents: u32,
}

/// What a table says of a document or a skipped file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableEntry {
    /// The number of its set.
    pub set: u32,
    /// The object that it was read from.
    pub object: ObjectId,
}

/// The id of a git object, or a stamp of a file, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    bytes: [u8; 32],
    length: u8,
}

impl ObjectId {
    /// Nothing is known.
    pub const NONE: ObjectId = ObjectId {
        bytes: [0; 32],
        length: 0,
    };

    /// Returns the id with these bytes: 20 or 32 for a git object, 8 for a stamp of a file, or none.
    pub fn new(id: &[u8]) -> Option<ObjectId> {
        if !matches!(id.len(), 0 | 8 | 20 | 32) {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..id.len()].copy_from_slice(id);
        let length = id.len() as u8;
        Some(ObjectId { bytes, length })
    }

    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl RevisionTable {
    /// The id of the shard's file that it belongs to.
    pub fn shard(&self) -> [u8; 32] {
        self.shard
    }

    /// Returns what is known of each document of the shard, in its order.
    pub fn documents(&self) -> &[TableEntry] {
        &self.entries[..self.documents as usize]
    }

    /// Returns what is known of each skipped file of the shard, in its order.
    pub fn skipped(&self) -> &[TableEntry] {
        &self.entries[self.documents as usize..]
    }

    /// Iterates over the full names of the refs in a set: none in the first two.
    pub fn names(&self, set: u32) -> impl Iterator<Item = &[u8]> {
        let indices = ranges(&self.sets, set).iter().cloned().flatten();
        indices.map(|index| &*self.names[index as usize])
    }
}

/// Returns the names of a set, as ranges of their indices.
fn ranges(sets: &[Vec<Range<u32>>], set: u32) -> &[Range<u32>] {
    let listed = set.checked_sub(FIRST_LISTED);
    listed.map_or(&[], |index| &sets[index as usize])
}

/// Whether a ref is a branch, of the repository itself or of a remote one.
pub fn is_branch(full: &[u8]) -> bool {
    full.starts_with(b"refs/heads/") || full.starts_with(b"refs/remotes/")
}

/// The order of revisions wherever they are listed: by short names, then by full ones.
fn order(full: &[u8]) -> (&[u8], &[u8]) {
    (short_name(full), full)
}

#[cfg(test)]
mod tests;
