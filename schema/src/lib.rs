//! Messages of Trawl's processes, and the rules they must agree on.
//!
//! A [`Frame`](frame::Frame) is the envelope of a Cap'n Proto message of `trawl.capnp`. [`message`]
//! converts to plain structs, such as [`Search`](message::Search) and [`Batch`](message::Batch), so
//! no other crate sees generated types. [`order`] orders matches, [`name`] has package names.
//! No I/O.
//!
//! ```
//! use schema::frame::{Decoder, Kind};
//! use schema::message::{Failure, FailureKind};
//!
//! let failure = Failure::new(FailureKind::Unavailable, "the index is gone");
//! let mut stream = Vec::new();
//! failure.encode(&mut stream).unwrap();
//!
//! let mut decoder = Decoder::new();
//! let space = decoder.space();
//! space[..stream.len()].copy_from_slice(&stream);
//! decoder.filled(stream.len());
//! let frame = decoder.decode().unwrap().expect("a whole frame");
//! assert_eq!(frame.kind, Kind::Error);
//! assert_eq!(Failure::decode(frame.payload).unwrap(), failure);
//! ```

#![deny(clippy::disallowed_methods)]

pub mod frame;
pub mod line_text;
pub mod message;
pub mod name;
pub mod order;

/// Generated from `trawl.capnp` by `scripts/tools/generate`.
#[rustfmt::skip]
#[allow(unreachable_pub, clippy::all, rust_2018_idioms)]
mod trawl_capnp;
