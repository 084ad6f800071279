//! A store: an index in objects, for any number of reading and writing machines.
//!
//! Files of an index never change: each is an object named by its hash. A *generation* names the
//! files of one state, and HEAD the current generation. A publisher uploads new files and swaps
//! HEAD, without locks or a server of our own.
//!
//! [`Objects`] is a directory or a bucket. [`publish`] merges an index directory with the published
//! one, [`replica`] keeps a part of the current generation, [`claims`] shares work between building
//! machines. [`collect`], [`verify`] and [`rollback`] are for operators.

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
mod transition;

pub use error::{Result, StoreError};
pub use generation::{Generation, GenerationId, Head, REPLICAS, REPLICAS_MAX, StoredFile, written};
pub use groups::{Group, groups};
pub use maintenance::{Collected, Damage, Keep, Verified, collect, history, rollback, verify};
pub use node_status::{NODES_MAX, NodeStatus, ServedShards};
pub use objects::{Object, Objects, Storage, Version};
pub use publish::{Published, Transfer, publish};
pub use replica::{FetchOptions, Replica, Share, Synced};
