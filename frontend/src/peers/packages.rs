//! Live packages of shards, as listed by backends.

use results::ShardId;
use schema::name::name_of;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) type PackagesByShard = HashMap<ShardId, Arc<ShardPackages>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardPackages {
    /// Time of the shard's build, in seconds since 1970.
    pub(crate) indexed: u64,
    pub(crate) packages: Vec<PackageInfo>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackageInfo {
    pub(crate) name: Box<[u8]>,
    pub(crate) number: u32,
    pub(crate) documents: u32,
    pub(crate) text_bytes: u64,
    pub(crate) is_repository: bool,
    /// No version is split from its name.
    pub(crate) has_own_name: bool,
}

impl PackageInfo {
    /// Name for access rights.
    pub(crate) fn package_name(&self) -> &[u8] {
        name_of(&self.name, self.has_own_name || self.is_repository)
    }
}
