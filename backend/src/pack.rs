//! Matches of a document with context, packed for frames.

pub mod batch;
pub(crate) mod text_batch;
