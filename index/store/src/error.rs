//! Errors of stores.

use index::directory::IndexError;
use std::io;
use std::path::{Path, PathBuf};

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{0}: not a store; give a directory, or s3://BUCKET/PREFIX")]
    BadUrl(String),
    #[error("{0}: this build has no buckets; build Trawl with `--features s3`")]
    NoBuckets(String),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{object}: {reason}")]
    Storage { object: String, reason: String },
    #[error(
        "{object}: access is denied: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and that this key may read, \
         write, list and delete here ({reason})"
    )]
    Denied { object: String, reason: String },
    #[error(
        "{0}: this storage accepts a write whose condition (If-Match, If-None-Match) does not hold, so two indexers \
         could overwrite each other; use a storage with conditional writes"
    )]
    NoConditions(String),
    #[error("{0}: no index has been published here; publish one with `trawl index --store`")]
    Empty(String),
    #[error("{object}: {reason}")]
    Damaged { object: String, reason: String },
    #[error("{object}: format {version}; this version of Trawl reads format {known}: update Trawl")]
    Newer {
        object: String,
        version: u32,
        known: u32,
    },
    #[error(
        "{store}: HEAD names generation {head}, but generation {seen} was seen here before; if the store was restored \
         from a backup on purpose, start once with --accept-older-head"
    )]
    Older { store: String, head: u64, seen: u64 },
    #[error("{}: holds a part of another store; give an empty directory, or the store that it is of", .0.display())]
    OtherStore(PathBuf),
    #[error(
        "the store has an index with other options ({theirs}, this one {ours}); build this one with the same \
         --block-size and --no-ignore, or use another store"
    )]
    OtherOptions { theirs: String, ours: String },
    #[error("{store}: HEAD was changed by others {attempts} times in a row; try again")]
    Contended { store: String, attempts: u32 },
    #[error(
        "{store}: its clock and that of this machine differ by {minutes} minutes, so the age of files is unknown; set the \
         clocks right, then collect"
    )]
    Clocks { store: String, minutes: u64 },
    #[error("{store}: no generation {number}; `trawl store history` lists them")]
    NoGeneration { store: String, number: u64 },
    #[error("{}: {needed} bytes are to be fetched, and {free} are free; --data needs a larger disk, or the cluster more nodes", path.display())]
    DiskFull {
        path: PathBuf,
        needed: u64,
        free: u64,
    },
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl StoreError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.to_owned();
        move |source| StoreError::Io { path, source }
    }

    pub(crate) fn damaged(object: impl Into<String>, reason: impl Into<String>) -> StoreError {
        StoreError::Damaged {
            object: object.into(),
            reason: reason.into(),
        }
    }

    /// Another generation may be intact.
    pub fn is_damage(&self) -> bool {
        matches!(self, StoreError::Damaged { .. })
    }
}
