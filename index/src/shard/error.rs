//! Errors of reading a shard.

use crate::format::VERSION;
use std::path::{Path, PathBuf};

/// Result of reading a shard.
pub(super) type Result<T, E = ShardError> = std::result::Result<T, E>;

/// A shard that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// The file cannot be opened or mapped.
    #[error("{}: cannot be read", path.display())]
    Io {
        /// Shard path.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// Wrong magic number.
    #[error("{}: not a shard of a Trawl index: remove it and build the index again with \
             `trawl index`",
            .0.display())]
    NotAShard(PathBuf),
    /// Written by a later version of Trawl.
    #[error("{}: a shard of format {version}; this version of Trawl reads formats 1 to \
             {VERSION}: update Trawl, or build the index again", path.display())]
    Newer {
        /// Shard path.
        path: PathBuf,
        /// Format version.
        version: u32,
    },
    /// Wrong checksum, or contradictory tables.
    #[error("{}: damaged at byte {offset} ({what}): remove it and build the index again with \
             `trawl index`",
            path.display())]
    Corrupt {
        /// Shard path.
        path: PathBuf,
        /// Byte offset in the file.
        offset: u64,
        /// Kind of damage.
        what: &'static str,
    },
    /// Table of revisions of another shard, or with unrecorded revisions.
    #[error("{}: its table of revisions cannot be used ({reason}): build the index again with \
             `trawl index`",
            path.display())]
    Revisions {
        /// Shard path.
        path: PathBuf,
        /// Kind of mismatch.
        reason: &'static str,
    },
    /// The file was written to after opening.
    #[error("{}: was changed while it was in use: remove it and build the index again with \
             `trawl index`",
            .0.display())]
    Changed(PathBuf),
}

impl ShardError {
    pub(super) fn corrupt(path: &Path, offset: u64, what: &'static str) -> ShardError {
        ShardError::Corrupt {
            path: path.to_owned(),
            offset,
            what,
        }
    }
}
