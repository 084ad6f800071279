//! What a caller decides about a build.

use super::repository::RepositorySource;
use crate::block::BLOCK_BYTES;
use crate::codec::ContentCodec;
use crate::document::Popularity;
use crate::manifest::{Beside, Options};
use schema::message::RecordedSource;
use std::collections::HashMap;
use std::path::PathBuf;
use std::thread;

/// How an index is built.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// The options that decide what is in the index; the manifest records them.
    pub options: Options,
    /// Approximate limit of the memory to use, in bytes; see [`MEMORY_BYTES_MIN`].
    pub memory_bytes: usize,
    /// Number of worker threads.
    pub jobs: usize,
    /// How the texts of new shards are stored; `None` as in the newest shard of the index, or raw if it has
    /// none. Shards that exist stay as they are until they are merged.
    pub content: Option<ContentCodec>,
    /// Bytes of text after which the next package goes to another shard; it does so earlier if the tables of the shard
    /// would take too much of the memory.
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
    /// The codec of new shards.
    pub(super) fn codec(&self) -> ContentCodec {
        self.content.unwrap_or_default()
    }
}

/// The default limit of memory.
pub const MEMORY_BYTES: usize = 512 << 20;

/// The least memory that a build needs: the tables for sorting, the buffers, and a segment of the
/// smallest useful size.
pub const MEMORY_BYTES_MIN: usize = 64 << 20;

/// The default amount of text in a shard. Its tables, which are in memory while it is written, then
/// take 170 MB; with less memory than the default a shard ends before it has so much text.
pub const SHARD_BYTES: u64 = 4 << 30;

/// What an update does besides reading what has changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Packages to drop: names of directories, or names without version for all versions.
    pub remove: Vec<Vec<u8>>,
    /// Drop every package that is not among the sources.
    pub prune: bool,
    /// Drop other versions of the packages that are given.
    pub replace_versions: bool,
    /// Directories whose subdirectories are packages. What lies beside their packages is replaced.
    pub parents: Vec<PathBuf>,
    /// What lies beside the packages of these directories.
    pub beside: Vec<Beside>,
    /// Git repositories that are packages, beside the sources.
    pub repositories: Vec<RepositorySource>,
    /// What the index records as its sources. With `prune` they replace the recorded ones.
    pub recorded: Vec<RecordedSource>,
    /// Compare the bytes of everything that counts as unchanged, and read again what differs.
    pub verify: bool,
    /// Compare the bytes of these, too.
    pub suspects: Suspects,
}

/// Files of sources that may have another text although size and times are as before: a store through a mapping
/// moves no time while the page is dirty, and none at all on some file systems.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    /// Those that were modified at this time or later, in nanoseconds since 1970.
    pub modified_from_ns: Option<i128>,
    /// Those at these absolute paths.
    pub paths: Vec<PathBuf>,
}
