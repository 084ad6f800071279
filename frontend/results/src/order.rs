//! Total order of matches: rank, path hash, then package and path on collisions, then line.
//!
//! A [`Pointer`] stands for one match, [`TopPointers`] and [`TopDocuments`] keep a stream's best
//! few, [`merge`] merges sorted sources. Nothing here reads a file.
//!
//! **Invariant:** package id, backend and offset, which depend on backends and arrival order, never
//! decide between matches of different documents or lines.

#![deny(clippy::disallowed_methods)]

mod copies;
mod merge;
mod pointer;
mod string_pool;
mod top_documents;

pub(crate) use copies::GroupEntry;
pub use copies::{DocumentPointer, FrameEntry, TextGroup, TextHash};
pub use merge::{Collision, Continued, Sorted, merge, merge_sorted};
pub use pointer::{BEST_MAX, FrameAt, Origin, Pointer, TieKey, TopPointers, sort};
pub(crate) use pointer::{sort_groups, unpack_frame};
pub use string_pool::StringPool;
pub use top_documents::{BEST_LINES_MAX, TopDocument, TopDocuments};
