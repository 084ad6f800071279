//! The total order of matches.
//!
//! Order: rank, best first; path hash; where different documents share rank and hash, their package
//! and path; line. A [`Pointer`] stands for one match, [`TopPointers`] and [`TopDocuments`] keep the best
//! few of a stream, and [`merge`] makes the total order from sorted sources. Nothing here reads a file.
//!
//! **Invariant:** what depends on the number of backends or on the order of arrival (package id,
//! backend, offset) never decides between matches of different documents or lines.

mod copies;
mod merge;
mod pointer;
mod string_pool;
mod top_documents;

pub(crate) use copies::{DocumentPointer, FrameEntry, GroupEntry, TextGroup, TextHash};
pub(crate) use merge::{Collision, Continued, Sorted, merge, merge_sorted};
pub use pointer::{BEST_MAX, Pointer};
pub(crate) use pointer::{FrameAt, Origin, TieKey, TopPointers, sort, sort_groups, unpack_frame};
pub(crate) use string_pool::StringPool;
pub use top_documents::BEST_LINES_MAX;
pub(crate) use top_documents::{TopDocument, TopDocuments};
