//! Fake authorization service with fault injection, and a token signer.
//!
//! [`FakeService`] speaks minimal HTTP. Its [`Mode`], latency and rules can change, also over HTTP
//! (`GET /control?mode=hang`).

mod service;
mod token;

pub use service::{FakeService, Mode};
pub use token::{Signer, claims};
