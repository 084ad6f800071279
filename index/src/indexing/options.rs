//! Options of a build.

use super::repository::RepositorySource;
use crate::block::BLOCK_BYTES;
use crate::codec::ContentCodec;
use crate::document::Popularity;
use crate::manifest::{Beside, Options};
use schema::message::RecordedSource;
use std::collections::HashMap;
use std::path::PathBuf;
use std::thread;

#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// Options that decide the content; recorded in the manifest.
    pub options: Options,
    /// Approximate memory limit in bytes; see [`MEMORY_BYTES_MIN`].
    pub memory_bytes: usize,
    /// Worker threads.
    pub jobs: usize,
    /// Codec of new shards; by default that of the newest, or raw. Others keep theirs until merged.
    pub content: Option<ContentCodec>,
    /// Bytes of text per shard, unless its tables take too much memory.
    pub shard_bytes: u64,
    /// Popularity by package name, without version.
    pub popularity: HashMap<Vec<u8>, Popularity>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            options: Options {
                block_bytes: BLOCK_BYTES,
                no_ignore: false,
            },
            memory_bytes: MEMORY_BYTES,
            jobs: thread::available_parallelism().map_or(1, |jobs| jobs.get()),
            content: None,
            shard_bytes: SHARD_BYTES,
            popularity: HashMap::new(),
        }
    }
}

impl BuildOptions {
    pub(super) fn codec(&self) -> ContentCodec {
        self.content.unwrap_or_default()
    }
}

/// Default memory limit.
pub const MEMORY_BYTES: usize = 512 << 20;

/// Minimum memory: sorting tables, buffers, and the smallest useful segment.
pub const MEMORY_BYTES_MIN: usize = 64 << 20;

/// Default text per shard. Its tables take 170 MB; with less memory it ends earlier.
pub const SHARD_BYTES: u64 = 4 << 30;

/// Effects of an update besides reading changes.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Packages to drop: directory names, or names for all versions.
    pub remove: Vec<Vec<u8>>,
    /// Drops packages not given.
    pub prune: bool,
    pub replace_versions: bool,
    /// Parents of packages; their entries beside packages are replaced.
    pub parents: Vec<PathBuf>,
    pub beside: Vec<Beside>,
    pub repositories: Vec<RepositorySource>,
    /// Recorded sources; with `prune` the only ones.
    pub recorded: Vec<RecordedSource>,
    /// Compares unchanged files by their bytes.
    pub verify: bool,
    /// Files to compare too.
    pub suspects: Suspects,
}

/// Files that may differ at equal size and times: a store through a mapping moves no time while the
/// page is dirty, on some file systems never.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    /// Modified at or after this time, in nanoseconds since 1970.
    pub modified_from_ns: Option<i128>,
    /// Absolute paths.
    pub paths: Vec<PathBuf>,
}
