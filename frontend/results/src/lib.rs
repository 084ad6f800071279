//! Results: received frames in the spool, matches in total order, completeness, and paging.
//!
//! A [`SearchResult`] holds only counts; pages read matches from the [`spool`], in an order of
//! [`Pointer`](order::Pointer)s. A [`MatchStream`] reads matches of a running search as they
//! arrive. [`Outcome`] lists what is missing. Nothing here searches, connects or waits.

pub mod copies;
pub mod documents;
pub mod facets;
pub mod folded;
mod history;
mod manifest;
mod match_stream;
mod matches;
pub mod order;
mod outcome;
pub mod packages;
pub mod page;
mod parallel;
mod rendered;
mod search_result;
pub mod spool;

pub use documents::{DOCUMENTS_MAX, DocumentGroup};
pub use facets::FacetsSoFar;
pub use history::{about_commit, commit_name, shown_place};
pub use match_stream::{FoundText, MatchStream};
pub use matches::{ContextLine, Copies, Document, DocumentRevisions, Match, Window};
pub use outcome::{
    CorpusSize, Counts, Explain, Missing, Outcome, OverlappingPackage, Overlaps, Reached, SPOOL,
    ShardId, Skipped, SkippedDocument, Timings,
};
pub use packages::PackageGroup;
pub use parallel::in_parallel;
pub use rendered::{RenderedMatch, RenderedMatches, Renderer, Take, WriteMatch};
pub use search_result::{ByLine, SearchResult, read};
pub use spool::io_words;
