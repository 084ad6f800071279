//! What was received, on disk: append-only while a query runs, read at a pointer's offset when a page
//! is asked for, and known again after a restart.
//!
//! ```text
//! <spool>/lock                held while a frontend lives
//! <spool>/<run id>-<n>/       a run: `run` says what is in it
//! ```
//!
//! A run that is finished and complete has a manifest; what a crash leaves without one is removed at
//! the next start: there is nothing in a spool that a search cannot make again.
//! **Invariant:** what is read back has passed its checksum a second time, and the bytes of all run
//! directories together never exceed the budget.

mod blob;
mod order;
mod pointers;
mod reader;
mod result_files;

pub(crate) use blob::{Blob, OpenFile};
pub(crate) use order::{ORDER_PARTS_MAX, OrderFiles};
pub(crate) use pointers::{BLOCKS_AT_ONCE, PointerReader, PointerWriter, partition_pointers};
pub(crate) use reader::FrameReader;
pub(crate) use result_files::ResultFiles;

use crate::order::Collision;
use schema::message::SpoolManifest;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Is asked before every write to the disk; what it says instead is the write's error. For tests.
pub type BeforeWrite = Arc<dyn Fn() -> io::Result<()> + Send + Sync>;

/// Why a spool cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// Another frontend has it.
    #[error("the spool directory {0} is in use by another frontend")]
    Locked(PathBuf),
    /// The disk budget is used up by queries that still run or are being read.
    #[error("the spool is full: its budget of {bytes_max} bytes is used up")]
    Full {
        /// The budget.
        bytes_max: u64,
    },
    /// The operating system's reason.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// What was written is not what is read.
    #[error("{path}: what is at {offset} is not what was written there")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where in it.
        offset: u64,
    },
    /// More matches than memory can hold are of documents that only their names can order.
    #[error("too many matches of documents whose names have the same hash")]
    Collision,
}

impl From<Collision> for SpoolError {
    fn from(Collision: Collision) -> Self {
        SpoolError::Collision
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> SpoolError + use<> {
    let path = path.to_owned();
    move |source| SpoolError::Io { path, source }
}

/// How a spool is set up.
#[derive(Clone)]
pub(crate) struct SpoolConfig {
    /// Bytes on the disk, over all runs.
    pub(crate) disk_bytes_max: u64,
    /// Bytes that a run has in memory before any of it goes to the disk.
    pub(crate) result_memory_max: u64,
    /// Whether finished runs outlive the process.
    pub(crate) durable: bool,
    pub(crate) before_write: Option<BeforeWrite>,
}

/// A directory that holds one frontend's runs.
pub(crate) struct Spool {
    directory: PathBuf,
    limits: SpoolConfig,
    /// Bytes on the disk.
    disk_bytes: AtomicU64,
    /// Bytes in memory.
    memory_bytes: AtomicU64,
    /// Numbers run directories: one query may have several, one after the other.
    sequence: AtomicU64,
    /// Frees at least so many bytes if it can.
    make_room: OnceLock<Box<dyn Fn(u64) + Send + Sync>>,
    /// Locked as long as it is open.
    _lock: File,
}

/// A finished run of an earlier process.
pub(crate) struct Recovered {
    /// The run's id.
    pub(crate) id: String,
    pub(crate) run: ResultFiles,
    pub(crate) manifest: SpoolManifest,
}

impl Spool {
    /// Takes the directory, making it when it is not there; finds the finished runs in it, and clears
    /// it of all others.
    pub(crate) fn open(
        directory: &Path,
        limits: SpoolConfig,
    ) -> Result<(Arc<Spool>, Vec<Recovered>), SpoolError> {
        fs::create_dir_all(directory).map_err(io_error(directory))?;
        let path = directory.join("lock");
        let lock = File::create(&path).map_err(io_error(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(SpoolError::Locked(directory.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io_error(&path)(error)),
        }
        let spool = Arc::new(Spool {
            directory: directory.to_owned(),
            limits,
            disk_bytes: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            sequence: AtomicU64::new(0),
            make_room: OnceLock::new(),
            _lock: lock,
        });
        let recovered = spool.recover()?;
        Ok((spool, recovered))
    }

    fn recover(self: &Arc<Self>) -> Result<Vec<Recovered>, SpoolError> {
        let mut recovered = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(io_error(&self.directory))? {
            let path = entry.map_err(io_error(&self.directory))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            // Anything else in the directory is not ours.
            let Some((id, number)) = name.and_then(parse_run_directory) else {
                continue;
            };
            self.sequence.fetch_max(number + 1, Relaxed);
            match ResultFiles::open(self, &path).filter(|_| self.limits.durable) {
                Some((run, manifest)) => recovered.push(Recovered {
                    id: id.to_owned(),
                    run,
                    manifest,
                }),
                None => fs::remove_dir_all(&path).map_err(io_error(&path))?,
            }
        }
        recovered.sort_by_key(|run| run.manifest.finished);
        Ok(recovered)
    }

    /// Room for a run with frames of `backends` backends. Touches no disk until there are some.
    pub(crate) fn run(self: &Arc<Self>, id: &str, backends: usize) -> ResultFiles {
        let number = self.sequence.fetch_add(1, Relaxed);
        ResultFiles::new(
            self,
            self.directory.join(format!("{id}-{number}")),
            backends,
        )
    }

    /// Sets what is called, with a number of bytes, when the budget is used up: to forget older runs.
    pub(crate) fn on_full(&self, make_room: impl Fn(u64) + Send + Sync + 'static) {
        let set = self.make_room.set(Box::new(make_room));
        assert!(set.is_ok(), "a spool has one frontend");
    }

    fn make_room(&self, bytes: u64) {
        if let Some(make_room) = self.make_room.get() {
            make_room(bytes);
        }
    }

    fn reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        let before = self.disk_bytes.fetch_add(bytes, Relaxed);
        if before + bytes > self.limits.disk_bytes_max {
            self.disk_bytes.fetch_sub(bytes, Relaxed);
            let bytes_max = self.limits.disk_bytes_max;
            return Err(SpoolError::Full { bytes_max });
        }
        Ok(())
    }

    /// How many bytes are held above the budget of the disk if `more` are added.
    pub(crate) fn excess(&self, more: u64) -> u64 {
        (self.disk_bytes() + more).saturating_sub(self.limits.disk_bytes_max)
    }

    /// Bytes on the disk.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.disk_bytes.load(Relaxed)
    }

    /// Bytes of runs that are in memory.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes.load(Relaxed)
    }

    fn check_write(&self) -> io::Result<()> {
        self.limits
            .before_write
            .as_ref()
            .map_or(Ok(()), |ask| ask())
    }
}

/// The id and the number in a name that [`Spool::run`] gives.
fn parse_run_directory(name: &str) -> Option<(&str, u64)> {
    let hex = |byte: u8| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase();
    let (id, number) = name.split_once('-')?;
    let is_id = id.len() == 16 && id.bytes().all(hex);
    is_id.then_some((id, number.parse().ok()?))
}

#[cfg(test)]
mod tests;
