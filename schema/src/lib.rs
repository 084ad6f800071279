//! What Trawl's processes exchange, and the rules on which they must agree.
//!
//! A *frame* ([`frame`]) is the envelope: length, type, checksum. What it carries is one Cap'n
//! Proto message, of a struct of `trawl.capnp`; [`message`] turns those to plain Rust structs and
//! back, so that Cap'n Proto types appear at the two ends of a stream and nowhere else.
//! Rules that every process must apply alike are here too: the order of matches ([`order`]) and
//! the names of packages ([`name`]).
//! This crate does no I/O: a socket, a pair of pipes and a test vector are read alike.
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

pub mod frame;
pub mod message;
pub mod name;
pub mod order;

/// Generated from `trawl.capnp` by `scripts/generate`.
#[rustfmt::skip]
#[allow(missing_docs, unreachable_pub, clippy::all, rust_2018_idioms)]
mod trawl_capnp;
