//! What several machines agree on without asking each other: which of them has which shard.
//!
//! [`placement`] computes it from the names of the nodes alone, so it is stored nowhere, and nobody decides it.
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

pub mod placement;
