//! Backends as the frontend sees them: connections, health, shard routing.
//!
//! A [`Backend`] is a name and a way to connect. A [`Peer`] keeps one control connection to it, on which
//! the backend announces its shards and that it is alive. Each query, and each request for a file or a
//! list, uses a connection of its own, an idle one if possible. A [`PeerSet`] has all peers of a moment. [`overlap`] finds packages that several
//! shards have, [`shard_routing`] decides which backend searches which shard, by their [`health`] if there is a choice,
//! [`account`] checks what a
//! stream sends, [`answer`] that it goes on. [`tls`] encrypts a connection.
//!
//! Sockets block and have threads of their own: a stream waits for nothing but its socket and the disk.

pub(crate) mod account;
mod announced;
pub(crate) mod answer;
mod backend;
mod connection;
pub(crate) mod health;
pub(crate) mod overlap;
mod packages;
mod peer;
mod peer_set;
mod request;
pub(crate) mod shard_routing;
mod tls;
pub(crate) mod visible;

pub use announced::announced_shards;
pub use backend::{Backend, Socket};
pub(crate) use connection::{Connection, PeerError, check_semantics, hello};
pub(crate) use packages::PackageInfo;
pub(crate) use peer::{Link, Peer, PeerSettings, PeerStatus};
pub(crate) use peer_set::{PeerSet, Peers};
pub(crate) use request::{Decode, request};
