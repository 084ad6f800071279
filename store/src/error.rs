//! Why a store cannot be used.

use index::directory::IndexError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is neither a directory nor a bucket.
    #[error("{0}: not a store; give a directory, or s3://BUCKET/PREFIX")]
    BadUrl(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The object storage cannot be reached, or refuses a request.
    #[error("{object}: {reason}")]
    Storage {
        /// The object.
        object: String,
        /// Why.
        reason: String,
    },
    /// The object storage does not accept the credentials, or they do not allow this.
    #[error(
        "{object}: access is denied: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and that this key may read, \
         write, list and delete here ({reason})"
    )]
    Denied {
        /// The object.
        object: String,
        /// What the storage says.
        reason: String,
    },
    /// Two writers could change HEAD at once.
    #[error(
        "{0}: this storage accepts a write whose condition (If-Match, If-None-Match) does not hold, so two indexers \
         could overwrite each other; use a storage with conditional writes"
    )]
    NoConditions(String),
    /// There is nothing in the store.
    #[error("{0}: no index has been published here; publish one with `trawl index --store`")]
    Empty(String),
    /// An object is not what its name says, or cannot be parsed.
    #[error("{object}: {reason}")]
    Damaged {
        /// The object.
        object: String,
        /// What is wrong.
        reason: String,
    },
    /// A later version of Trawl has written it.
    #[error("{object}: format {version}; this version of Trawl reads format {known}: update Trawl")]
    Newer {
        /// The object.
        object: String,
        /// Its format.
        version: u32,
        /// The newest format that can be read.
        known: u32,
    },
    /// HEAD names an earlier generation than one that was seen before.
    #[error(
        "{store}: HEAD names generation {head}, but generation {seen} was seen here before; if the store was restored \
         from a backup on purpose, start once with --accept-older-head"
    )]
    Older {
        /// The store.
        store: String,
        /// What HEAD names.
        head: u64,
        /// What was seen.
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
        /// The options in the store.
        theirs: String,
        /// Those of the index directory.
        ours: String,
    },
    /// Other writers were always faster.
    #[error("{store}: HEAD was changed by others {attempts} times in a row; try again")]
    Contended {
        /// The store.
        store: String,
        /// How often it was tried.
        attempts: u32,
    },
    /// The clock of the store or that of this machine is wrong.
    #[error(
        "{store}: its clock and that of this machine differ by {minutes} minutes, so nobody knows which files are old; set the \
         clocks right, then collect"
    )]
    Clocks {
        /// The store.
        store: String,
        /// How far they are apart.
        minutes: u64,
    },
    /// There is no such generation.
    #[error("{store}: no generation {number}; `trawl store history` lists them")]
    NoGeneration {
        /// The store.
        store: String,
        /// Its number.
        number: u64,
    },
    /// There is no room for what is to be fetched.
    #[error("{}: {needed} bytes are to be fetched, and {free} are free; --data needs a larger disk, or the cluster more nodes", path.display())]
    DiskFull {
        /// The directory.
        path: PathBuf,
        /// Bytes that are missing.
        needed: u64,
        /// Bytes that are free.
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

    /// Whether an object is missing or damaged, which another generation may not be.
    pub fn is_damage(&self) -> bool {
        matches!(self, StoreError::Damaged { .. })
    }
}
