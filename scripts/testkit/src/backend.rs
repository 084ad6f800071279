//! Backends without an index, for tests and measurements of a frontend.
//!
//! - [`Fake`] serves documents from memory, with injected [`Fault`]s.
//! - `synthetic_backend` (a program) sends matches at full speed for `scripts/bench/bench stream`
//!   and `overload`; `drain` (a program) measures a stream.
//!
//! Both use [`session`]. `schema` encodes all frames: without a fault, they are consistent.

mod document;
mod fake;
mod listing;
mod repository;
pub mod session;
mod symbols;

pub use document::Document;
pub use fake::{Fake, Fault, NextFault, Shards};
pub use repository::{FakeRepository, commit_id};
