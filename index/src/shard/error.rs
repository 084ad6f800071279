//! Errors of reading a shard.

use crate::format::VERSION;
use std::path::{Path, PathBuf};

pub(super) type Result<T, E = ShardError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    #[error("{}: cannot be read", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: not a shard of a Trawl index: remove it and build the index again with \
             `trawl index`",
            .0.display())]
    NotAShard(PathBuf),
    #[error("{}: a shard of format {version}; this version of Trawl reads formats 1 to \
             {VERSION}: update Trawl, or build the index again", path.display())]
    Newer { path: PathBuf, version: u32 },
    #[error("{}: damaged at byte {offset} ({what}): remove it and build the index again with \
             `trawl index`",
            path.display())]
    Corrupt {
        path: PathBuf,
        offset: u64,
        what: &'static str,
    },
    /// Table of revisions of another shard, or with unrecorded revisions.
    #[error("{}: its table of revisions cannot be used ({reason}): build the index again with \
             `trawl index`",
            path.display())]
    Revisions { path: PathBuf, reason: &'static str },
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
