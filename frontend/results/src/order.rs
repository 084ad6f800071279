//! Total order of matches: rank, path hash, then package and path on collisions, then line.
//!
//! A [`Pointer`] stands for one match, [`keep_best`] and [`TopDocuments`] keep a stream's best
//! few, [`merge`] merges sorted sources. Nothing here reads a file.
//!
//! **Invariant:** package id, backend and offset, which depend on backends and arrival order, never
//! decide between matches of different documents or lines.

#![deny(clippy::disallowed_methods)]

mod copies;
mod merge;
mod pointer;
mod top_documents;

pub use copies::{CopyGroup, DocumentPointer, FrameEntry, TextGroup, TextHash};
pub use merge::{Collision, Continued, Sorted, merge, merge_sorted};
pub use pointer::{BEST_MAX, FrameAt, Origin, Pointer, TieKey, keep_best, sort};
pub(crate) use pointer::{sort_groups, unpack_frame};
pub use top_documents::{BEST_LINES_MAX, TopDocument, TopDocuments};

use rustc_hash::FxHashMap;

/// Package names, each stored once. Grows with packages, not with matches.
#[derive(Debug, Default)]
pub struct StringPool {
    ids: FxHashMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
}

impl StringPool {
    /// Number of a name, new if unknown.
    pub fn id(&mut self, name: &[u8]) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).expect("a query has fewer than 2^32 packages");
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    pub fn name(&self, id: u32) -> &[u8] {
        &self.names[id as usize]
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }
}
