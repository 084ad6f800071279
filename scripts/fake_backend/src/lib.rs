//! A backend without an index, for tests and measurements of a frontend.
//!
//! - [`Fake`] serves documents from memory and misbehaves as its [`Fault`] says. The tests of `web`
//!   run against it.
//! - `synthetic_backend` (a program) sends as many matches as a query names, as fast as the frontend
//!   reads. `scripts/bench stream` and `overload` run against it; `drain` (a program) reads from a
//!   backend and discards, to measure a stream without a frontend.
//!
//! Both answer on a [`session`]. Every frame is encoded by `schema`: without a fault, keys ascend,
//! checksums are right, and END counts and hashes what was sent.

mod document;
mod fake;
mod listing;
mod repository;
pub mod session;

pub use document::Document;
pub use fake::{Fake, Fault, NextFault, Shards};
pub use repository::{FakeRepository, commit_id};
