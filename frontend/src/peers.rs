//! The backends, and the connections to them.
//!
//! A [`Backend`] is a name and a way to connect. The frontend holds one standing connection to each
//! ([`Peer`]), on which it hears which shards the backend serves and that it is alive; a query or
//! a request for a file or a list has a connection of its own for its time, taken from the idle ones when
//! there is one.
//! Sockets block and have threads of their own: a stream is one loop that reads, walks frames and
//! writes, and never waits for anything but its socket and the disk.

pub(crate) mod account;
mod backend;
mod connection;
mod peer;
mod request;
pub(crate) mod shard_routing;

pub use backend::{Backend, Socket};
pub(crate) use connection::{Connection, PeerError, hello};
pub(crate) use peer::{Link, Peer};
pub(crate) use request::{Request, request};
