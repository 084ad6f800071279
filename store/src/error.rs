//! Errors of stores.

use index::directory::IndexError;
use std::io;
use std::path::{Path, PathBuf};

/// Error of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Neither a directory nor a bucket.
    #[error("{0}: not a store; give a directory, or s3://BUCKET/PREFIX")]
    BadUrl(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The object storage is unreachable, or refuses a request.
    #[error("{object}: {reason}")]
    Storage {
        /// Name of the object.
        object: String,
        /// Error of the storage.
        reason: String,
    },
    /// The object storage refuses the credentials or the operation.
    #[error(
        "{object}: access is denied: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and that this key may read, \
         write, list and delete here ({reason})"
    )]
    Denied {
        /// Name of the object.
        object: String,
        /// Error of the storage.
        reason: String,
    },
    /// Two writers could change HEAD at once.
    #[error(
        "{0}: this storage accepts a write whose condition (If-Match, If-None-Match) does not hold, so two indexers \
         could overwrite each other; use a storage with conditional writes"
    )]
    NoConditions(String),
    /// The store is empty.
    #[error("{0}: no index has been published here; publish one with `trawl index --store`")]
    Empty(String),
    /// An object is unparsable, or does not match its name.
    #[error("{object}: {reason}")]
    Damaged {
        /// Name of the object.
        object: String,
        /// Description of the damage.
        reason: String,
    },
    /// Written by a later version of Trawl.
    #[error("{object}: format {version}; this version of Trawl reads format {known}: update Trawl")]
    Newer {
        /// Name of the object.
        object: String,
        /// Format of the object.
        version: u32,
        /// Newest readable format.
        known: u32,
    },
    /// HEAD names an earlier generation than one seen before.
    #[error(
        "{store}: HEAD names generation {head}, but generation {seen} was seen here before; if the store was restored \
         from a backup on purpose, start once with --accept-older-head"
    )]
    Older {
        /// URL of the store.
        store: String,
        /// Generation that HEAD names.
        head: u64,
        /// Generation seen before.
        seen: u64,
    },
    /// Another store was used here before.
    #[error("{}: holds a part of another store; give an empty directory, or the store that it is of", .0.display())]
    OtherStore(PathBuf),
    /// An index with other options cannot be added.
    #[error(
        "the store has an index with other options ({theirs}, this one {ours}); build this one with the same \
         --block-size and --no-ignore, or use another store"
    )]
    OtherOptions {
        /// Options in the store.
        theirs: String,
        /// Options of the index directory.
        ours: String,
    },
    /// Other writers won every attempt.
    #[error("{store}: HEAD was changed by others {attempts} times in a row; try again")]
    Contended {
        /// URL of the store.
        store: String,
        /// Number of attempts.
        attempts: u32,
    },
    /// The clock of the store or of this machine is wrong.
    #[error(
        "{store}: its clock and that of this machine differ by {minutes} minutes, so nobody knows which files are old; set the \
         clocks right, then collect"
    )]
    Clocks {
        /// URL of the store.
        store: String,
        /// Difference of the clocks.
        minutes: u64,
    },
    /// No such generation.
    #[error("{store}: no generation {number}; `trawl store history` lists them")]
    NoGeneration {
        /// URL of the store.
        store: String,
        /// Number of the generation.
        number: u64,
    },
    /// The disk has no room for the download.
    #[error("{}: {needed} bytes are to be fetched, and {free} are free; --data needs a larger disk, or the cluster more nodes", path.display())]
    DiskFull {
        /// Path of the directory.
        path: PathBuf,
        /// Missing bytes.
        needed: u64,
        /// Free bytes.
        free: u64,
    },
    /// An index directory cannot be used.
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

    /// Returns true if an object is missing or damaged; another generation may be intact.
    pub fn is_damage(&self) -> bool {
        matches!(self, StoreError::Damaged { .. })
    }
}
