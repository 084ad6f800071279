//! One query, from its first client's request to its result.
//!
//! [`state`] does no I/O: it takes an event and returns actions. [`driver`] carries them out:
//! it opens streams ([`stream`], [`ingest`], [`replicas`], [`hedge`], [`stream_trace`]), waits for
//! [`admission`], and orders the pointers ([`finalize`]). Clients hold a [`handle`]. The
//! [`result_cache`] keeps results until eviction, and deletes their files.

pub(crate) mod admission;
pub(crate) mod collector;
mod copies;
pub(crate) mod driver;
pub(crate) mod fair_slots;
pub(crate) mod finalize;
pub(crate) mod handle;
mod hedge;
pub(crate) mod ingest;
pub(crate) mod memory;
mod replicas;
pub(crate) mod result_cache;
mod sorter;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod stream_stats;
mod stream_trace;
