//! Plain structs for messages of `trawl.capnp`, with `encode` (to a frame) and `decode` (from a
//! payload).
//!
//! Only batches are numerous: they are read in place, by [`BatchReader`] and [`TextReader`], and
//! written from slices ([`Batch`], [`TextBatch`]). **Invariant:** decoding never panics, and
//! allocates at most a small multiple of the payload, by the reader's traversal limit.

mod batch;
mod blame;
mod codec;
mod document_kind;
mod expr;
mod indexed;
mod lookup;
mod manifest;
mod recorded;
mod reply;
mod request;
mod shorten;
mod signature;
mod text_batch;
mod trace_context;

pub use batch::{
    Batch, BatchReader, BatchView, Line, LineView, Lines, REVISIONS_BYTES_MAX, REVISIONS_MAX,
    Range, Span, Window,
};
pub use blame::{Blame, BlameHunk, BlameSource, Change, ChangeKind, ChangeList};
pub use codec::{ATOMS_MAX, DEPTH_MAX, MessageError};
pub use document_kind::DocumentKind;
pub use expr::{Expr, Field, Filter, Pattern, Reading, Syntax};
pub use indexed::{INDEXED_REVISIONS_MAX, IndexedRepository, IndexedRevision};
pub use lookup::{
    Commit, CommitLog, LOOKUPS_MAX, Lookup, LookupAnswer, LookupOf, LookupProblem,
    LookupProblemKind, LookupReply, LookupRequest, Reference, ReferenceKind, ReferenceList,
};
pub use manifest::{Facet, SPOOL_VERSION, SpoolFacets, SpoolManifest};
pub use recorded::{
    Recorded, RecordedError, RecordedRepository, RecordedRevision, RecordedSource, SourceKind,
};
pub use reply::{
    End, Estimate, Failure, FailureKind, FileReply, Hello, ListEntry, ListReply, Phases, Progress,
    ShardEnd, ShardInfo, Skip,
};
pub use request::{
    Excluded, FileRange, FileRequest, FileSource, ListKind, ListRequest, PHRASE_PATTERNS_MAX,
    ResumePoint, Search, TextOrder, VisibleShard, Want,
};
pub use signature::Signature;
pub use text_batch::{TextBatch, TextParts, TextReader, TextRun, TextView};
pub use trace_context::TraceContext;

/// Protocol version. Both sides must have the same.
pub const PROTOCOL: u32 = 7;

#[cfg(test)]
mod tests;
