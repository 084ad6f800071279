//! Backends as the frontend sees them: connections, health, shard routing.
//!
//! A [`Backend`] is a name and a way to connect. A [`Peer`] keeps a control connection, on
//! which the backend announces its shards; requests use connections of their own. A [`PeerSet`]
//! has all peers of a moment.
//!
//! [`overlap`] finds packages in several shards, [`shard_routing`] assigns shards by [`health`],
//! [`account`] checks a stream, the crate `tls` encrypts. Sockets block on their own threads: a
//! stream waits only for its socket and the disk.

pub(crate) mod account;
mod backend;
mod connection;
pub(crate) mod health;
pub(crate) mod overlap;
mod peer;
mod peer_set;
pub(crate) mod shard_routing;
pub(crate) mod visible;

pub(crate) use backend::AnswerHere;
pub use backend::{Backend, Socket};
pub use connection::announced_shards;
pub(crate) use connection::{Connection, Decode, PeerError, check_semantics, hello};
pub(crate) use peer::{Peer, PeerSettings, PeerStatus};
pub(crate) use peer_set::{PeerSet, Peers};
pub(crate) use visible::PackageInfo;
