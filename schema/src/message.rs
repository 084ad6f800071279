//! Plain structs for the messages of `trawl.capnp`, each with `encode` (to a whole frame) and
//! `decode` (from a frame's payload).
//!
//! Only batches are numerous: a search may send millions. They are read in place, through
//! [`BatchReader`] and [`TextReader`], and written from borrowed slices ([`Batch`], [`TextBatch`]). All other messages are small and
//! owned.
//! **Invariant:** decoding never panics and never allocates more than a small multiple of the
//! payload's length, whatever the bytes are: a reader's traversal limit is tied to that length.

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

/// The version of the messages and of the protocol. Both sides must have the same.
pub const PROTOCOL: u32 = 7;

#[cfg(test)]
mod tests;
