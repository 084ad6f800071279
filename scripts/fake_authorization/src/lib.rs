//! An authorization service that answers from a list and fails on demand, and a signer of tokens.
//!
//! [`FakeService`] speaks just enough HTTP, a thread for each connection. What it answers ([`Mode`]), how long it
//! takes and what callers see can be changed while it runs, also over HTTP (`GET /control?mode=hang`).

mod request;
mod service;
mod token;

pub use service::{FakeService, Mode};
pub use token::{Signer, claims};
