//! One query, from the request of its first client to its result.
//!
//! [`state`] decides and does no I/O: it takes an [`event`] and returns actions. [`driver`] carries
//! them out: it opens streams ([`stream`], whose frames go through an [`ingest`]; [`replicas`] go on with one that breaks, and a
//! [`hedge`] races one that is slow; [`stream_trace`] records each), waits for [`admission`], and puts the collected
//! pointers in order at the end ([`finalize`]). Clients hold a [`handle`]; results are kept in the
//! [`result_cache`] until they are evicted; [`removals`] then deletes their files.

pub(crate) mod admission;
mod begun_document;
pub(crate) mod collector;
mod copies;
mod document_log;
pub(crate) mod driver;
pub(crate) mod event;
pub(crate) mod fair_slots;
pub(crate) mod finalize;
pub(crate) mod handle;
mod hedge;
pub(crate) mod ingest;
pub(crate) mod memory;
pub(crate) mod removals;
mod replicas;
pub(crate) mod result_cache;
mod sorter;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod stream_stats;
mod stream_trace;
