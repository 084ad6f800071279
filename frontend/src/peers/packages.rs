//! The live packages of shards, as backends list them.

use crate::results::ShardId;
use schema::name::name_of;
use std::collections::HashMap;
use std::sync::Arc;

/// The packages of shards, by their ids.
pub(crate) type PackagesByShard = HashMap<ShardId, Arc<ShardPackages>>;

/// The live packages of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardPackages {
    /// When the shard was written, in seconds since 1970.
    pub(crate) indexed: u64,
    pub(crate) packages: Vec<PackageInfo>,
}

/// A package of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackageInfo {
    /// The name of its directory.
    pub(crate) name: Box<[u8]>,
    /// Its number in the shard.
    pub(crate) number: u32,
    pub(crate) documents: u32,
    pub(crate) text_bytes: u64,
    pub(crate) is_repository: bool,
    /// Whether no version is split from its name.
    pub(crate) has_own_name: bool,
}

impl PackageInfo {
    /// The name to which rights are given.
    pub(crate) fn package_name(&self) -> &[u8] {
        name_of(&self.name, self.has_own_name || self.is_repository)
    }
}
