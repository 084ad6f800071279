//! What several machines agree on without a coordinator: which nodes there are, and which of them has which shard.
//!
//! [`membership`] keeps a map of the nodes, for which a list, the DNS or etcd is a hint. [`placement`] computes from their
//! names who has a shard, so it is stored nowhere, and nobody decides it.
//!
//! ```
//! use cluster::placement::{Node, Placement};
//!
//! let node = |name: &str, zone: &str| Node {
//!     name: name.to_owned(),
//!     zone: zone.to_owned(),
//!     weight: 1,
//! };
//! let nodes = [node("a", "east"), node("b", "east"), node("c", "west")];
//! let placement = Placement::new(nodes, 2);
//! let owners = placement.owners(&[7; 32]);
//! assert_eq!(owners.len(), 2);
//! assert!(owners.iter().any(|owner| owner.zone == "west"));
//! ```

pub mod membership;
pub mod placement;
