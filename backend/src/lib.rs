//! A source backend: verifies candidates, and streams what matches.
//!
//! [`pattern`] compiles what is searched for, once a query; [`search`] goes through a shard's
//! candidates, verifies them on the blocks' bytes ([`scan`]), ranks ([`rank`]) and packs matches
//! with their context into batches ([`batch`]), in the order of the documents whatever the number
//! of workers; [`snapshot`] holds the shards that are live; [`server`] speaks frames.
//!
//! **Invariant:** nothing here grows with the number of matches: a worker waits when the frames
//! that it has made are not taken, and they are not taken when the other end does not read.

pub mod batch;
mod measures;
pub mod pattern;
pub mod rank;
pub mod scan;
pub mod search;
pub mod server;
pub mod snapshot;

pub use server::Backend;
