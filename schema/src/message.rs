//! Plain structs for the messages of `trawl.capnp`, each with `encode` (to a whole frame) and
//! `decode` (from a frame's payload).
//!
//! A batch is the one message there are millions of: it is read in place, through [`BatchReader`],
//! and written from borrowed slices ([`Batch`]). All others are small and owned.
//! **Invariant:** decoding never panics and never allocates more than a small multiple of the
//! payload's length, whatever the bytes are: a reader's traversal limit is tied to that length.

mod batch;
mod expr;
mod manifest;
mod reply;
mod request;

pub use batch::{Batch, BatchReader, BatchView, Line, LineView, Lines, Range, Span, Window};
pub use expr::{ATOMS_MAX, DEPTH_MAX, Expr, Field, Filter, Pattern, Reading, Syntax};
pub use manifest::{Facet, SPOOL_VERSION, SpoolFacets, SpoolManifest};
pub use reply::{
    End, Estimate, Failure, FailureKind, FileReply, Hello, ListEntry, ListReply, Phases, Progress,
    ShardEnd, ShardInfo, Skip,
};
pub use request::{FileRange, FileRequest, ListKind, ListRequest, Search, Want};

use crate::frame::{self, Kind};
use capnp::message::{Allocator, Builder, HeapAllocator, Reader, ReaderOptions};
use capnp::serialize::BufferSegments;

/// The version of the messages and of what is expected of whom. Both sides must have the same.
pub const PROTOCOL: u32 = 3;

/// How often a reader may look at each word of a message. A batch is looked at once or twice; a
/// message whose pointers make it look larger than this is an attack.
const TRAVERSALS_MAX: usize = 16;

/// How deep structs and lists may nest: an expression's each have a list around them.
const NESTING_MAX: i32 = 2 * DEPTH_MAX as i32 + 16;

/// Why a payload is not the message it should be.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// Cap'n Proto's own reason.
    #[error("a malformed message: {0}")]
    Malformed(#[from] capnp::Error),
    /// The message is well formed and says what cannot be.
    #[error("a message with an impossible {0}")]
    Impossible(&'static str),
    /// Text that is not UTF-8.
    #[error("a message with text that is not UTF-8")]
    NotUtf8,
    /// A frame that is too long to be sent.
    #[error(transparent)]
    Frame(#[from] frame::FrameError),
}

impl From<std::str::Utf8Error> for MessageError {
    fn from(_: std::str::Utf8Error) -> Self {
        MessageError::NotUtf8
    }
}

impl From<capnp::NotInSchema> for MessageError {
    fn from(_: capnp::NotInSchema) -> Self {
        MessageError::Impossible("enumeration value")
    }
}

type Segments<'a> = BufferSegments<&'a [u8]>;

fn reader(payload: &[u8]) -> Result<Reader<Segments<'_>>, MessageError> {
    let mut options = ReaderOptions::new();
    options.traversal_limit_in_words(Some(payload.len() / 8 * TRAVERSALS_MAX + 64));
    options.nesting_limit(NESTING_MAX);
    Ok(Reader::new(BufferSegments::new(payload, options)?, options))
}

/// Appends the message as a frame of `kind` to `out`.
fn finish<A: Allocator>(
    kind: Kind,
    message: &Builder<A>,
    out: &mut Vec<u8>,
) -> Result<(), MessageError> {
    Ok(frame::encode_with(kind, out, |out| {
        capnp::serialize::write_message(out, message).expect("writing to memory does not fail");
    })?)
}

fn builder() -> Builder<HeapAllocator> {
    Builder::new_default()
}

/// A builder of a message that takes `words` words.
fn builder_of(words: usize) -> Builder<HeapAllocator> {
    Builder::new(HeapAllocator::new().first_segment_words(length(words)))
}

fn text(reader: capnp::text::Reader<'_>) -> Result<String, MessageError> {
    Ok(reader.to_str()?.to_owned())
}

/// A list's length for capnp, which counts in u32: a message is far below that (a frame is 1 MiB).
fn length(items: usize) -> u32 {
    u32::try_from(items).expect("a frame's bound is far below 2^32 items")
}

#[cfg(test)]
mod tests;
