//! Errors of stores.

use index::directory::IndexError;
use std::io;
use std::path::{Path, PathBuf};

/// Store error.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Not a store.
    #[error("{0}: not a store; give a directory, or s3://BUCKET/PREFIX")]
    BadUrl(String),
    /// File I/O failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// File path.
        path: PathBuf,
        /// OS error.
        source: io::Error,
    },
    /// A request to the storage failed.
    #[error("{object}: {reason}")]
    Storage {
        /// Object name.
        object: String,
        /// Storage error.
        reason: String,
    },
    /// The storage refuses access.
    #[error(
        "{object}: access is denied: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and that this key may read, \
         write, list and delete here ({reason})"
    )]
    Denied {
        /// Object name.
        object: String,
        /// Storage error.
        reason: String,
    },
    /// The storage ignores conditions.
    #[error(
        "{0}: this storage accepts a write whose condition (If-Match, If-None-Match) does not hold, so two indexers \
         could overwrite each other; use a storage with conditional writes"
    )]
    NoConditions(String),
    /// The store is empty.
    #[error("{0}: no index has been published here; publish one with `trawl index --store`")]
    Empty(String),
    /// An object is damaged.
    #[error("{object}: {reason}")]
    Damaged {
        /// Object name.
        object: String,
        /// The damage.
        reason: String,
    },
    /// Written by a later version.
    #[error("{object}: format {version}; this version of Trawl reads format {known}: update Trawl")]
    Newer {
        /// Object name.
        object: String,
        /// Object format.
        version: u32,
        /// Newest known format.
        known: u32,
    },
    /// HEAD was set back.
    #[error(
        "{store}: HEAD names generation {head}, but generation {seen} was seen here before; if the store was restored \
         from a backup on purpose, start once with --accept-older-head"
    )]
    Older {
        /// Store URL.
        store: String,
        /// Generation of HEAD.
        head: u64,
        /// Known generation.
        seen: u64,
    },
    /// Part of another store.
    #[error("{}: holds a part of another store; give an empty directory, or the store that it is of", .0.display())]
    OtherStore(PathBuf),
    /// Index options differ.
    #[error(
        "the store has an index with other options ({theirs}, this one {ours}); build this one with the same \
         --block-size and --no-ignore, or use another store"
    )]
    OtherOptions {
        /// The store's options.
        theirs: String,
        /// The index's options.
        ours: String,
    },
    /// Every swap of HEAD was lost.
    #[error("{store}: HEAD was changed by others {attempts} times in a row; try again")]
    Contended {
        /// Store URL.
        store: String,
        /// Attempts made.
        attempts: u32,
    },
    /// A clock is wrong.
    #[error(
        "{store}: its clock and that of this machine differ by {minutes} minutes, so the age of files is unknown; set the \
         clocks right, then collect"
    )]
    Clocks {
        /// Store URL.
        store: String,
        /// Clock difference.
        minutes: u64,
    },
    /// No such generation.
    #[error("{store}: no generation {number}; `trawl store history` lists them")]
    NoGeneration {
        /// Store URL.
        store: String,
        /// Requested number.
        number: u64,
    },
    /// The disk is full.
    #[error("{}: {needed} bytes are to be fetched, and {free} are free; --data needs a larger disk, or the cluster more nodes", path.display())]
    DiskFull {
        /// Directory path.
        path: PathBuf,
        /// Needed bytes.
        needed: u64,
        /// Free bytes.
        free: u64,
    },
    /// Bad index directory.
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

    /// Returns true for damage that another generation may not have.
    pub fn is_damage(&self) -> bool {
        matches!(self, StoreError::Damaged { .. })
    }
}
