//! An index directory: a manifest and the shards that it names.
//!
//! The manifest is replaced atomically, so a reader sees one generation or the next, never a mixture.
//! Shards that the new manifest does not name are removed afterwards; processes that have them open
//! keep them.

use crate::manifest::{self, Manifest, ShardEntry};
use crate::shard::{self, Shard};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The manifest's name in the directory.
pub const MANIFEST: &str = "manifest";

/// The name of the file that is locked while an index is built.
const LOCK: &str = "lock";

/// The content of that file, which is created before any other.
const MARK: &[u8; 22] = b"a Trawl index's lock.\n";

/// Attempts to open an index that is replaced meanwhile, at most.
const ATTEMPTS_MAX: usize = 5;

/// Why an index cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// There is no such directory, or it holds no index.
    #[error("{}: no Trawl index here; build one with `trawl index --out {} SOURCE...`",
            path.display(), path.display())]
    NotAnIndex {
        /// The directory.
        path: PathBuf,
    },
    /// Another process is building here.
    #[error("{}: another process is building this index: wait until it ends, or choose another directory", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// The file system refuses.
    #[error("{}: cannot be read or written", path.display())]
    Io {
        /// What could not be read or written.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The manifest cannot be parsed.
    #[error("{}: {reason}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The reason.
        reason: manifest::ManifestError,
    },
    /// A shard cannot be used.
    #[error(transparent)]
    Shard(#[from] shard::ShardError),
    /// A shard is not the one that the manifest names.
    #[error("{}: not the shard that the manifest names: remove it and build the index again with \
             `trawl index`", path.display())]
    Swapped {
        /// The shard.
        path: PathBuf,
    },
}

/// An open index: one generation of it.
pub struct Index {
    /// Its manifest.
    pub manifest: Manifest,
    /// The shards, in the manifest's order.
    pub shards: Vec<Arc<Shard>>,
}

impl Index {
    /// Opens the index in `directory`.
    pub fn open(directory: &Path) -> Result<Index, IndexError> {
        Index::reopen(directory, &[])
    }

    /// Like [`open`](Self::open), but reuses the undamaged shards among `open`: their files stay open,
    /// checked pages stay checked, and only their sets of dead packages change.
    pub fn reopen(directory: &Path, open: &[Arc<Shard>]) -> Result<Index, IndexError> {
        let mut attempts = 1;
        loop {
            match Self::open_once(directory, open) {
                // The manifest was replaced after it was read.
                Err(IndexError::Shard(shard::ShardError::Io { source, .. }))
                    if source.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS_MAX =>
                {
                    attempts += 1;
                }
                done => return done,
            }
        }
    }

    fn open_once(directory: &Path, open: &[Arc<Shard>]) -> Result<Index, IndexError> {
        let manifest = read_manifest(directory)?;
        let shards = manifest.shards.iter();
        let shards = shards.map(|entry| open_shard(directory, entry, open));
        Ok(Index {
            shards: shards.collect::<Result<_, _>>()?,
            manifest,
        })
    }
}

/// Opens the shard of a manifest's entry, or reuses it when it is among `open` and undamaged.
pub(crate) fn open_shard(
    directory: &Path,
    entry: &ShardEntry,
    open: &[Arc<Shard>],
) -> Result<Arc<Shard>, IndexError> {
    let path = directory.join(&entry.file);
    let mut open = open.iter();
    let shard = match open.find(|shard| shard.file_id() == entry.id && !shard.is_damaged()) {
        Some(shard) => shard.clone(),
        None => Arc::new(Shard::open(&path)?),
    };
    if shard.file_id() != entry.id || shard.package_count() as usize != entry.packages.len() {
        return Err(IndexError::Swapped { path });
    }
    match entry.dead() {
        dead if dead == shard.dead() => Ok(shard),
        dead => Ok(Arc::new(shard.with_dead(dead)?)),
    }
}

/// Reads the manifest of the index in `directory`.
pub fn read_manifest(directory: &Path) -> Result<Manifest, IndexError> {
    let path = directory.join(MANIFEST);
    let text = fs::read(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => IndexError::NotAnIndex {
            path: directory.to_owned(),
        },
        _ => IndexError::Io {
            path: path.clone(),
            source,
        },
    })?;
    Manifest::parse(&text).map_err(|reason| IndexError::Manifest { path, reason })
}

/// Returns a value that changes when, and only when, the manifest in `directory` is replaced, so that
/// a new one is noticed without reading it.
pub fn manifest_stamp(directory: &Path) -> io::Result<(u64, i64, i64)> {
    let metadata = fs::metadata(directory.join(MANIFEST))?;
    Ok((metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}

/// Whether `directory` is an index directory. A corpus skips it.
pub fn is_index(directory: &Path) -> bool {
    let mut mark = [0; MARK.len()];
    let lock = File::open(directory.join(LOCK));
    lock.is_ok_and(|mut lock| lock.read_exact(&mut mark).is_ok()) && mark == *MARK
}

/// Removes a directory that holds nothing but a lock. One that holds more stays.
pub(crate) fn remove_empty(directory: &Path) -> io::Result<()> {
    fs::remove_file(directory.join(LOCK))?;
    match fs::remove_dir(directory) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => Ok(()),
    }
}

/// The exclusive right to write to an index directory, until it is dropped.
pub struct Lock(File);

impl Lock {
    /// Takes the lock of `directory`, which must exist.
    pub fn take(directory: &Path) -> Result<Lock, IndexError> {
        let path = directory.join(LOCK);
        let open = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path);
        let file = open.map_err(|source| IndexError::Io {
            path: path.clone(),
            source,
        })?;
        match file.try_lock() {
            Ok(()) => {
                let marked = file.set_len(0).and_then(|()| (&file).write_all(MARK));
                marked.map_err(|source| IndexError::Io { path, source })?;
                Ok(Lock(file))
            }
            Err(TryLockError::WouldBlock) => Err(IndexError::Locked {
                path: directory.to_owned(),
            }),
            Err(TryLockError::Error(source)) => Err(IndexError::Io { path, source }),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that another thread is starting has it open
        // too, for a moment. If unlocking fails, closing is all that remains.
        let _ = self.0.unlock();
    }
}
