//! Bytes of a run that are appended and read: in memory while they are few, in a file from then on.

use super::{SpoolError, io_error};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{OnceLock, PoisonError, RwLock};

/// One file of a run. One thread appends; any number read.
#[derive(Debug)]
pub(crate) struct Blob {
    path: PathBuf,
    /// Once it is there, everything is in it.
    pub(super) file: OnceLock<File>,
    pub(super) memory: RwLock<Vec<u8>>,
    pub(super) bytes: AtomicU64,
}

impl Blob {
    /// Nothing yet, in memory.
    pub(super) fn new(path: PathBuf) -> Blob {
        Blob {
            path,
            file: OnceLock::new(),
            memory: RwLock::default(),
            bytes: AtomicU64::new(0),
        }
    }

    /// A file that is there, of this length.
    pub(super) fn open(path: PathBuf, bytes: u64) -> Option<Blob> {
        let file = File::open(&path).ok()?;
        let is_whole = file.metadata().is_ok_and(|meta| meta.len() == bytes);
        is_whole.then(|| Blob {
            path,
            file: OnceLock::from(file),
            memory: RwLock::default(),
            bytes: AtomicU64::new(bytes),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes appended so far.
    pub(crate) fn len(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Fills `space` from `offset` on and says how much of it: less than all only at the end.
    pub(crate) fn read_at(&self, space: &mut [u8], offset: u64) -> Result<usize, SpoolError> {
        if self.file.get().is_none() {
            let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
            // It may have gone to the file in between.
            if self.file.get().is_none() {
                let start = usize::try_from(offset).map_or(memory.len(), |at| at.min(memory.len()));
                let bytes = space.len().min(memory.len() - start);
                space[..bytes].copy_from_slice(&memory[start..start + bytes]);
                return Ok(bytes);
            }
        }
        let file = self.file.get().expect("it was there a moment ago");
        let mut at = 0;
        while at < space.len() {
            metrics::counter!("trawl_frontend_spool_reads_total").increment(1);
            match file.read_at(&mut space[at..], offset + at as u64) {
                Ok(0) => break,
                Ok(bytes) => at += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error(&self.path)(error)),
            }
            // A short read is the end or close to it: no second call to make sure.
            if offset + at as u64 >= self.len() {
                break;
            }
        }
        Ok(at)
    }

    /// The error for what is not as it was written.
    pub(crate) fn corrupt(&self, offset: u64) -> SpoolError {
        SpoolError::Corrupt {
            path: self.path.clone(),
            offset,
        }
    }
}
