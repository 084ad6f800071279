//! Finished searches: matches in total order, completeness, and paging.
//!
//! A [`SearchResult`] holds only counts; pages read matches from the spool. A [`MatchStream`] reads
//! matches of a running search as they arrive. [`Outcome`] lists what is missing. Nothing here
//! searches, connects or waits.

pub(crate) mod copies;
pub(crate) mod documents;
pub(crate) mod facets;
pub(crate) mod folded;
mod line_text;
mod listing;
mod manifest;
mod match_stream;
mod matches;
mod outcome;
pub(crate) mod packages;
pub mod page;
mod rendered;
mod search_result;

pub use documents::{DOCUMENTS_MAX, DocumentGroup};
pub use facets::FacetsSoFar;
pub(crate) use listing::merge;
pub use listing::{Listing, entry_name};
pub use match_stream::{FoundText, MatchEvent, MatchStream};
pub use matches::{ContextLine, Copies, Document, DocumentRevisions, Match, Window};
pub use outcome::{
    CorpusSize, Explain, Missing, OverlappingPackage, Overlaps, Reached, ShardId, Skipped,
    SkippedDocument, Timings,
};
pub(crate) use outcome::{Counts, Outcome, SPOOL};
pub use packages::PackageGroup;
pub use rendered::{RenderedMatch, RenderedMatches, Renderer, Take, WriteMatch};
pub(crate) use search_result::read;
pub use search_result::{ByLine, SearchResult};
