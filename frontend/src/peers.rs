//! The backends, and the connections to them.
//!
//! A [`Backend`] is a name and a way to connect. The frontend holds one standing connection to each
//! ([`Peer`]), on which it hears which shards the backend serves and that it is alive; a query or
//! a request for a file or a list has a connection of its own for its time, taken from the idle ones when
//! there is one.
//! Sockets block and have threads of their own: a stream is one loop that reads, walks frames and
//! writes, and never waits for anything but its socket and the disk.

mod backend;
mod connection;
mod ingest;
mod peer;
mod receive;
mod request;
pub(crate) mod shard_routing;

pub use backend::{Backend, Socket};
pub(crate) use connection::PeerError;
#[cfg(test)]
pub(crate) use ingest::{Ingest, Ingested, Now, Target};
pub(crate) use peer::{Link, Peer};
pub(crate) use receive::receive;
pub(crate) use request::{Request, request};
