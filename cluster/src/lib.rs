//! Agreement without a coordinator: [`membership`] keeps a map of the nodes, with a list, DNS or
//! etcd as a hint; [`placement`] computes the owners of a shard from their names.
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
