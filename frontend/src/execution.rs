//! One query, from the request of its first client to its result.
//!
//! [`state`] decides and does no I/O. [`driver`] carries out what it says: it opens streams
//! ([`receive`], [`stream`]), waits for admission ([`admission`]), and puts the collected pointers
//! ([`collector`]) in order at the end ([`finalize`]). Clients hold a [`handle`]; finished results
//! stay in the [`result_cache`] until they are evicted.

pub(crate) mod admission;
pub(crate) mod collector;
pub(crate) mod driver;
pub(crate) mod finalize;
pub(crate) mod handle;
pub(crate) mod ingest;
pub(crate) mod memory;
pub(crate) mod receive;
pub(crate) mod result_cache;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod stream_stats;
