//! A source backend: verifies candidates, and streams what matches.
//!
//! [`compiled_query`] compiles what is searched for, once a query, of [`pattern`]s to judges of a line ([`line_matcher`]) or
//! of a document ([`document_matcher`]); [`search`] goes through a shard's candidates, verifies them on the blocks' bytes
//! ([`scan`]), ranks ([`rank`]) and packs matches
//! with their context into batches ([`batch`]), in the order of the documents whatever the number
//! of workers; [`live_shards`] holds the shards that are live; [`server`] speaks frames.
//!
//! **Invariant:** nothing here grows with the number of matches: a worker waits when the frames
//! that it has made are not taken, and they are not taken when the other end does not read.

mod bad_expr;
pub mod batch;
pub mod compiled_query;
pub mod document_matcher;
pub mod line_matcher;
pub mod live_shards;
mod metrics;
pub mod pattern;
pub mod rank;
pub mod scan;
pub mod search;
pub mod server;

pub use bad_expr::BadExpr;
pub use server::Backend;
