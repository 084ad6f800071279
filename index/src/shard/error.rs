//! Why a shard cannot be read.

use crate::format::VERSION;
use std::path::{Path, PathBuf};

/// Why a shard cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// The file system refuses to open or to map the file.
    #[error("{}: cannot be read", path.display())]
    Io {
        /// The shard.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The file does not begin as a shard does.
    #[error("{}: not a shard of a Trawl index: remove it and build the index again with \
             `trawl index`",
            path.display())]
    NotAShard {
        /// The file.
        path: PathBuf,
    },
    /// A later version of Trawl has written it.
    #[error("{}: a shard of format {version}; this version of Trawl reads formats 1 to \
             {VERSION}: update Trawl, or build the index again", path.display())]
    Newer {
        /// The shard.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// A checksum is wrong, or two tables contradict each other.
    #[error("{}: damaged at byte {offset} ({what}): remove it and build the index again with \
             `trawl index`",
            path.display())]
    Corrupt {
        /// The shard.
        path: PathBuf,
        /// Where, in bytes from the file's start.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// Its table of revisions does not fit it, or has revisions that are not recorded.
    #[error("{}: its table of revisions cannot be used ({reason}): build the index again with \
             `trawl index`",
            path.display())]
    Revisions {
        /// The shard.
        path: PathBuf,
        /// What is wrong with the table.
        reason: &'static str,
    },
    /// Somebody has written to the file after it was opened.
    #[error("{}: was changed while it was in use: remove it and build the index again with \
             `trawl index`",
            path.display())]
    Changed {
        /// The shard.
        path: PathBuf,
    },
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
