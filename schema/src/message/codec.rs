//! Errors, readers, builders and decoder limits shared by all messages.

use crate::frame::{self, FrameError, Kind};
use capnp::message::{Allocator, Builder, HeapAllocator, Reader, ReaderOptions};
use capnp::serialize::BufferSegments;

/// Each has a compiled expression, and sets of patterns are 64-bit.
pub const ATOMS_MAX: usize = 64;

/// Nesting of an expression; a pattern alone has depth 1.
pub const DEPTH_MAX: usize = 32;

/// A batch is traversed once or twice; more is an attack.
const TRAVERSALS_MAX: usize = 16;

/// Each level of an expression is in a list.
const NESTING_MAX: i32 = 2 * DEPTH_MAX as i32 + 16;

#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// Cap'n Proto cannot read it.
    #[error("a malformed message: {0}")]
    Malformed(#[from] capnp::Error),
    /// A value is out of range or contradicts another.
    #[error("a message with an invalid {0}")]
    Impossible(&'static str),
    #[error("a message with text that is not UTF-8")]
    NotUtf8,
    #[error(transparent)]
    Frame(#[from] FrameError),
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

pub(super) type Segments<'a> = BufferSegments<&'a [u8]>;

pub(super) fn reader(payload: &[u8]) -> Result<Reader<Segments<'_>>, MessageError> {
    let mut options = ReaderOptions::new();
    options.traversal_limit_in_words(Some(payload.len() / 8 * TRAVERSALS_MAX + 64));
    options.nesting_limit(NESTING_MAX);
    Ok(Reader::new(BufferSegments::new(payload, options)?, options))
}

pub(super) fn finish<A: Allocator>(
    kind: Kind,
    message: &Builder<A>,
    out: &mut Vec<u8>,
) -> Result<(), MessageError> {
    Ok(frame::encode_with(kind, out, |out| {
        capnp::serialize::write_message(out, message).expect("writing to memory does not fail");
    })?)
}

pub(super) fn builder() -> Builder<HeapAllocator> {
    Builder::new_default()
}

pub(super) fn builder_of(words: usize) -> Builder<HeapAllocator> {
    Builder::new(HeapAllocator::new().first_segment_words(length(words)))
}

/// A frame of 1 MiB has far fewer than 2^32 items.
pub(super) fn length(items: usize) -> u32 {
    u32::try_from(items).expect("a frame's bound is far below 2^32 items")
}
