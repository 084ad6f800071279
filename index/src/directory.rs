//! An index directory: a manifest and the files that it names: shards, their tables of revisions, and the
//! records of repositories and sources.
//!
//! The manifest is replaced atomically, so a reader sees one generation or the next, never a mixture.
//! Files that the new manifest does not name are removed afterwards; processes that have them open
//! keep them.

mod named_file;

pub use named_file::{
    is_named, read_recorded, read_revisions, recorded_name, write_recorded, write_revisions,
};

use crate::file::AtomicFile;
use crate::manifest::{self, Manifest, ShardEntry};
use crate::shard::{self, Shard};
use schema::message::Recorded;
use std::collections::HashSet;
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
    /// A table of revisions or the records of repositories cannot be used.
    #[error("{}: {reason}: remove it and build the index again with `trawl index`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
}

/// An open index: one generation of it.
pub struct Index {
    /// Its manifest.
    pub manifest: Manifest,
    /// The shards, in the manifest's order.
    pub shards: Vec<Arc<Shard>>,
    /// What is recorded of its repositories and sources.
    pub recorded: Arc<Recorded>,
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
                Err(error) if error.is_missing_file() && attempts < ATTEMPTS_MAX => attempts += 1,
                done => return done,
            }
        }
    }

    fn open_once(directory: &Path, open: &[Arc<Shard>]) -> Result<Index, IndexError> {
        let manifest = read_manifest(directory)?;
        let recorded = match &manifest.recorded {
            Some(named) => read_recorded(directory, named)?,
            None => Recorded::default(),
        };
        let mut opener = ShardOpener::new(directory, &recorded);
        let shards = manifest.shards.iter();
        let shards = shards.map(|entry| opener.open(entry, open));
        Ok(Index {
            shards: shards.collect::<Result<_, _>>()?,
            manifest,
            recorded: Arc::new(recorded),
        })
    }
}

impl IndexError {
    /// Whether a file that the manifest names is missing.
    fn is_missing_file(&self) -> bool {
        let (IndexError::Shard(shard::ShardError::Io { source, .. })
        | IndexError::Io { source, .. }) = self
        else {
            return false;
        };
        source.kind() == io::ErrorKind::NotFound
    }
}

/// Opens the shards of an index, in the manifest's order.
pub(crate) struct ShardOpener<'a> {
    directory: &'a Path,
    recorded: &'a Recorded,
    /// The live packages of earlier shards: the next ones have other parts of them.
    begun: HashSet<Vec<u8>>,
}

impl<'a> ShardOpener<'a> {
    pub(crate) fn new(directory: &'a Path, recorded: &'a Recorded) -> ShardOpener<'a> {
        ShardOpener {
            directory,
            recorded,
            begun: HashSet::new(),
        }
    }

    /// Opens the shard of a manifest's entry, or reuses it when it is among `open` and undamaged.
    pub(crate) fn open(
        &mut self,
        entry: &ShardEntry,
        open: &[Arc<Shard>],
    ) -> Result<Arc<Shard>, IndexError> {
        let path = self.directory.join(&entry.file);
        let mut open = open.iter();
        let shard = match open.find(|shard| shard.file_id() == entry.id && !shard.is_damaged()) {
            Some(shard) => shard.clone(),
            None => Arc::new(Shard::open(&path)?),
        };
        if shard.file_id() != entry.id || shard.package_count() as usize != entry.packages.len() {
            return Err(IndexError::Swapped { path });
        }
        let continued = self.continued(entry);
        let dead = entry.dead();
        let own_names: Arc<[u32]> = entry.own_names().into();
        let Some(named) = &entry.revisions else {
            let is_same = dead == shard.dead() && *own_names == *shard.own_names();
            if is_same && shard.revisions().is_none() {
                return Ok(shard);
            }
            let plain = shard.without_revisions();
            return Ok(Arc::new(plain.with_names(dead, Vec::new(), own_names)?));
        };
        let reused = (shard.revisions().is_some_and(|of| of.table() == named.hash))
            .then(|| shard.with_records(self.recorded, &dead))
            .transpose()?
            .flatten();
        let with_table = match reused {
            Some(shard) => shard,
            None => {
                let table = read_revisions(self.directory, named)?;
                shard.with_revisions(table, named.hash, self.recorded, dead.clone())?
            }
        };
        Ok(Arc::new(with_table.with_names(dead, continued, own_names)?))
    }

    /// Returns the numbers of live packages of which an earlier shard has a part.
    fn continued(&mut self, entry: &ShardEntry) -> Vec<u32> {
        let numbered = (0..).zip(&entry.packages);
        let live = numbered.filter(|(_, package)| !package.is_dead);
        let begun = &mut self.begun;
        live.filter_map(|(number, package)| {
            let is_new = begun.insert(package.directory.clone());
            (!is_new).then_some(number)
        })
        .collect()
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

/// Replaces the manifest of `directory` by `text`, atomically.
pub fn write_manifest(directory: &Path, text: &str) -> io::Result<()> {
    let file = AtomicFile::create(directory, MANIFEST)?;
    file.file().write_all(text.as_bytes())?;
    file.rename(MANIFEST)
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
