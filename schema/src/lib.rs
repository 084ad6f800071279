//! The messages that Trawl's processes exchange, and the rules on which all processes must agree.
//!
//! A [`Frame`](frame::Frame) is the envelope: length, type, checksum. Its payload is one Cap'n Proto
//! message of `trawl.capnp`. [`message`] converts these to plain Rust structs, such as
//! [`Search`](message::Search) and [`Batch`](message::Batch), and back, so no other crate sees
//! generated types. [`order`] has the order of matches, [`name`] the names of packages, [`definition`] the
//! looks of a definition.
//! This crate does no I/O: bytes come from a socket, a file or a test alike.
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

pub mod definition;
pub mod frame;
pub mod line_text;
pub mod message;
pub mod name;
pub mod order;

/// Generated from `trawl.capnp` by `scripts/generate`.
#[rustfmt::skip]
#[allow(missing_docs, unreachable_pub, clippy::all, rust_2018_idioms)]
mod trawl_capnp;
