//! Directory of a spool: its lock, new results, and those of an earlier process.

use super::error::{SpoolError, io_error};
use super::result_files::{Budget, ResultFiles, SpoolConfig};
use schema::message::SpoolManifest;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub struct Spool {
    directory: PathBuf,
    budget: Arc<Budget>,
    /// Numbers result directories, since a query may have several over time.
    pub(super) sequence: AtomicU64,
    /// Held while open; `None` without a directory.
    _lock: Option<File>,
}

/// Finished result of an earlier process.
pub struct Recovered {
    pub(crate) id: String,
    pub files: ResultFiles,
    pub(crate) manifest: SpoolManifest,
}

impl Spool {
    /// Opens or creates the directory. Returns its finished results, oldest first, and removes
    /// others. With an empty path, results stay in memory.
    pub fn open(
        directory: &Path,
        config: SpoolConfig,
    ) -> Result<(Arc<Spool>, Vec<Recovered>), SpoolError> {
        let in_memory = directory.as_os_str().is_empty();
        let lock = (!in_memory).then(|| lock(directory)).transpose()?;
        let spool = Arc::new(Spool {
            directory: directory.to_owned(),
            budget: Arc::new(Budget::new(config)),
            sequence: AtomicU64::new(0),
            _lock: lock,
        });
        let recovered = if in_memory {
            Vec::new()
        } else {
            spool.recover()?
        };
        Ok((spool, recovered))
    }

    fn recover(&self) -> Result<Vec<Recovered>, SpoolError> {
        let mut recovered = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(io_error(&self.directory))? {
            let path = entry.map_err(io_error(&self.directory))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            // Other entries of the directory are not ours.
            let Some((id, number)) = name.and_then(parse_result_directory) else {
                continue;
            };
            self.sequence.fetch_max(number + 1, Relaxed);
            let opened = ResultFiles::open(&self.budget, &path);
            match opened.filter(|_| self.budget.config.durable) {
                Some((files, manifest)) => recovered.push(Recovered {
                    id: id.to_owned(),
                    files,
                    manifest,
                }),
                None => fs::remove_dir_all(&path).map_err(io_error(&path))?,
            }
        }
        recovered.sort_by_key(|result| result.manifest.finished);
        Ok(recovered)
    }

    /// Files of a new result with `streams` streams. Nothing is on disk until memory is full.
    pub fn create(&self, id: &str, streams: usize) -> ResultFiles {
        let number = self.sequence.fetch_add(1, Relaxed);
        let has_directory = !self.directory.as_os_str().is_empty();
        let directory = has_directory.then(|| self.directory.join(format!("{id}-{number}")));
        ResultFiles::new(&self.budget, directory.unwrap_or_default(), streams)
    }

    /// Sets the eviction: it gets the bytes that do not fit.
    pub fn on_full(&self, evict: impl Fn(u64) + Send + Sync + 'static) {
        let set = self.budget.evict.set(Box::new(evict));
        assert!(set.is_ok(), "a spool has one frontend");
    }

    /// Bytes over the budget if `more` were added.
    pub fn excess(&self, more: u64) -> u64 {
        (self.disk_bytes() + more).saturating_sub(self.budget.config.disk_bytes_max)
    }

    pub fn disk_bytes(&self) -> u64 {
        self.budget.disk_bytes.load(Relaxed)
    }

    pub fn memory_bytes(&self) -> u64 {
        self.budget.memory_bytes.load(Relaxed)
    }
}

fn lock(directory: &Path) -> Result<File, SpoolError> {
    fs::create_dir_all(directory).map_err(io_error(directory))?;
    let path = directory.join("lock");
    let lock = File::create(&path).map_err(io_error(&path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(SpoolError::Locked(directory.to_owned())),
        Err(TryLockError::Error(error)) => Err(io_error(&path)(error)),
    }
}

fn parse_result_directory(name: &str) -> Option<(&str, u64)> {
    let hex = |byte: u8| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase();
    let (id, number) = name.split_once('-')?;
    let is_id = id.len() == 16 && id.bytes().all(hex);
    is_id.then_some((id, number.parse().ok()?))
}
