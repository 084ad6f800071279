//! Plain structs for messages of `trawl.capnp`, with `encode` (to a frame) and `decode` (from a
//! payload).
//!
//! Only batches are numerous: they are read in place, by [`BatchReader`] and [`TextReader`], and
//! written from slices ([`Batch`], [`TextBatch`]). **Invariant:** decoding never panics, and
//! allocates at most a small multiple of the payload, by the reader's traversal limit.

mod batch;
mod codec;
mod document_kind;
mod expr;
mod lookup;
mod manifest;
mod record;
mod recorded;
mod reply;
mod request;
mod text_batch;

pub use batch::{
    Batch, BatchReader, BatchView, ChangedLine, CommitChange, Line, LineView, Lines,
    REVISIONS_BYTES_MAX, REVISIONS_MAX, Range, Span, Window,
};
pub use codec::{ATOMS_MAX, DEPTH_MAX, MessageError};
pub use document_kind::DocumentKind;
pub use expr::{Expr, Field, Filter, Pattern, Place, Reading, Role, Syntax};
pub use lookup::{
    Blame, BlameHunk, BlameSource, Change, ChangeKind, ChangeList, Commit, CommitLog, LOOKUPS_MAX,
    Lookup, LookupAnswer, LookupOf, LookupProblem, LookupProblemKind, LookupReply, LookupRequest,
    Reference, ReferenceKind, ReferenceList, Signature,
};
pub use manifest::{Facet, SPOOL_VERSION, SYMBOL_KINDS_MAX, SpoolFacets, SpoolManifest};
pub use recorded::{
    Recorded, RecordedError, RecordedRepository, RecordedRevision, RecordedSource, SourceKind,
};
pub use reply::{
    End, Estimate, Failure, FailureKind, FileDefinition, FileReply, Hello, INDEXED_REVISIONS_MAX,
    IndexedRepository, IndexedRevision, ListEntry, ListReply, ListedPlace, Phases, Progress,
    ShardEnd, ShardInfo, Skip,
};
pub use request::{
    Excluded, FileRange, FileRequest, FileSource, ListKind, ListRequest, PHRASE_PATTERNS_MAX,
    ResumePoint, Search, TextOrder, TraceContext, VisibleShard, Want,
};
pub use text_batch::{TextBatch, TextParts, TextReader, TextRun, TextView};

/// Protocol version. Both sides must have the same.
pub const PROTOCOL: u32 = 7;

#[cfg(test)]
mod tests;
