//! A store: an index in objects, which any number of machines write and read.
//!
//! Files of an index never change, so each is an object that is named by its hash. A *generation* names the files
//! of one state of the index, and one pointer, HEAD, names the current generation. Whoever publishes uploads what is
//! new and changes HEAD by compare-and-swap, so no lock and no server of our own is needed.
//!
//! [`Objects`] is a directory or a bucket. [`publish`] merges an index directory with what others have published,
//! [`replica`] keeps a part of the newest generation in an index directory, [`claims`] shares work between machines
//! that build, and [`collect`], [`verify`] and [`rollback`] are for operators.

pub mod claims;
mod error;
mod generation;
mod groups;
mod maintenance;
mod merge;
mod node_status;
mod objects;
mod publish;
mod replica;
mod served;
mod transition;

pub use error::StoreError;
pub use generation::{Generation, GenerationId, Head, REPLICAS, REPLICAS_MAX, StoredFile, written};
pub use groups::{Group, groups};
pub use maintenance::{Collected, Damage, Keep, Verified, collect, history, rollback, verify};
pub use node_status::{NODES_MAX, NodeStatus};
pub use objects::{Object, Objects, Put, Version};
pub use publish::{Published, Publishing, publish};
pub use replica::{Everything, FetchOptions, Fetching, Lag, Replica, Share, Synced};
pub use served::ServedShards;
