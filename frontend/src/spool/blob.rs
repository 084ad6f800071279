//! One file of a result: in memory while it is small, then on disk. If the result does not outlive the process,
//! the bytes that are in memory stay there, and the file has those after them. What nobody will read again can be
//! released while it is in memory.
//!
//! The files of a running query are open. Readers open the files of a finished one, so that descriptors
//! do not grow with the results that are cached.

use super::error::{SpoolError, io_error};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

/// One file of a result. One thread appends; any number read.
#[derive(Debug)]
pub(crate) struct Blob {
    path: PathBuf,
    state: RwLock<Storage>,
    bytes: AtomicU64,
}

/// Where the bytes are.
#[derive(Debug)]
enum Storage {
    Memory(Kept),
    /// A file that is appended to, and the bytes before it.
    Open(Arc<Kept>, Arc<File>),
    /// A complete file, and the bytes before it. Readers open it and share the descriptor.
    Closed(Arc<Kept>, Mutex<Weak<File>>),
}

/// Bytes in memory.
#[derive(Debug, Default)]
struct Kept {
    /// The offset of the first of them: those before it were released.
    start: u64,
    bytes: Vec<u8>,
}

impl Kept {
    /// The offset behind the last byte.
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Copies bytes from `offset` on into `space`, as many as there are: none if they were released.
    fn copy_to(&self, space: &mut [u8], offset: u64) -> usize {
        let Some(start) = offset.checked_sub(self.start) else {
            return 0;
        };
        let start = usize::try_from(start).map_or(self.bytes.len(), |at| at.min(self.bytes.len()));
        let bytes = space.len().min(self.bytes.len() - start);
        space[..bytes].copy_from_slice(&self.bytes[start..start + bytes]);
        bytes
    }
}

/// A file that a reader keeps open, and the bytes before it.
#[derive(Debug, Default)]
pub(crate) struct OpenFile(Option<(Arc<Kept>, Arc<File>)>);

impl Blob {
    /// An empty file, in memory.
    pub(super) fn new(path: PathBuf) -> Blob {
        Blob {
            path,
            state: RwLock::new(Storage::Memory(Kept::default())),
            bytes: AtomicU64::new(0),
        }
    }

    /// Opens an existing file; `None` unless it has `bytes` bytes.
    pub(super) fn open(path: PathBuf, bytes: u64) -> Option<Blob> {
        let is_whole = path.metadata().is_ok_and(|meta| meta.len() == bytes);
        is_whole.then(|| Blob {
            path,
            state: RwLock::new(Storage::Closed(Arc::default(), Mutex::default())),
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

    pub(super) fn is_in_memory(&self) -> bool {
        matches!(*self.read_state(), Storage::Memory(_))
    }

    /// The file that is appended to.
    pub(super) fn file(&self) -> Option<Arc<File>> {
        match &*self.read_state() {
            Storage::Open(_, file) => Some(Arc::clone(file)),
            Storage::Memory(_) | Storage::Closed(..) => None,
        }
    }

    /// Counts bytes that were appended to the file.
    pub(super) fn grow(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    /// Appends in memory, if the blob is there.
    pub(super) fn append_to_memory(&self, bytes: &[u8]) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Storage::Memory(memory) = &mut *state {
            memory.bytes.extend_from_slice(bytes);
            self.grow(bytes.len() as u64);
        }
    }

    /// Releases bytes before `offset`, if they are in memory, and as many as those after it. Nobody may read them again.
    /// Returns how many.
    pub(super) fn release(&self, offset: u64) -> usize {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let Storage::Memory(memory) = &mut *state else {
            return 0;
        };
        let bytes = offset.min(memory.end()).saturating_sub(memory.start) as usize;
        // What is left is moved.
        if bytes < memory.bytes.len() / 2 {
            return 0;
        }
        memory.bytes.drain(..bytes);
        memory.start += bytes as u64;
        bytes
    }

    /// Opens an empty file; a failed attempt may have left one.
    pub(super) fn create(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true);
        let file = file.open(&self.path)?;
        // Only when needed: ext4 flushes a truncated file when it is closed, which took 0.6 s for the
        // 1.4 GB of ten million matches.
        if file.metadata()?.len() > 0 {
            file.set_len(0)?;
        }
        Ok(file)
    }

    /// Calls `write` with the bytes in memory, and uses the file if that succeeds.
    pub(super) fn move_to(
        &self,
        file: File,
        write: impl FnOnce(&File, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Storage::Memory(memory) = &*state {
            write(&file, &memory.bytes)?;
        }
        *state = Storage::Open(Arc::default(), Arc::new(file));
        Ok(())
    }

    /// Uses the file, which is empty, for what comes after the bytes in memory.
    pub(super) fn continue_in(&self, file: File) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Storage::Memory(memory) = &mut *state {
            let memory = Arc::new(std::mem::take(memory));
            *state = Storage::Open(memory, Arc::new(file));
        }
    }

    /// Closes the file, which is complete. Readers open it.
    pub(super) fn close(&self) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Storage::Open(memory, file) = &*state {
            *state = Storage::Closed(Arc::clone(memory), Mutex::new(Arc::downgrade(file)));
        }
    }

    /// Reads into `space` from `offset` on and returns the bytes read: fewer than `space` only at the
    /// end. `held` keeps the file open for the caller's next reads.
    pub(crate) fn read_at(
        &self,
        space: &mut [u8],
        offset: u64,
        held: &mut OpenFile,
    ) -> Result<usize, SpoolError> {
        if held.0.is_none() {
            held.0 = Some(match &*self.read_state() {
                Storage::Memory(memory) => return Ok(memory.copy_to(space, offset)),
                Storage::Open(memory, file) => (Arc::clone(memory), Arc::clone(file)),
                Storage::Closed(memory, open) => (Arc::clone(memory), self.reopen(open)?),
            });
        }
        let Some((memory, file)) = &held.0 else {
            return Ok(0);
        };
        let copied = memory.copy_to(space, offset);
        if copied == space.len() {
            return Ok(copied);
        }
        let (in_file, in_memory) = (offset + copied as u64, memory.end());
        let file_len = self.len().saturating_sub(in_memory);
        let read = self.read_file(file, file_len, &mut space[copied..], in_file - in_memory)?;
        Ok(copied + read)
    }

    fn reopen(&self, open: &Mutex<Weak<File>>) -> Result<Arc<File>, SpoolError> {
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.upgrade() {
            return Ok(file);
        }
        let file = Arc::new(File::open(&self.path).map_err(io_error(&self.path))?);
        *open = Arc::downgrade(&file);
        Ok(file)
    }

    fn read_file(
        &self,
        file: &File,
        file_len: u64,
        space: &mut [u8],
        offset: u64,
    ) -> Result<usize, SpoolError> {
        let mut at = 0;
        while at < space.len() {
            metrics::counter!("trawl_frontend_spool_reads_total").increment(1);
            match file.read_at(&mut space[at..], offset + at as u64) {
                Ok(0) => break,
                Ok(bytes) => at += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error(&self.path)(error)),
            }
            // Do not call again just to see the end of the file.
            if offset + at as u64 >= file_len {
                break;
            }
        }
        Ok(at)
    }

    fn read_state(&self) -> std::sync::RwLockReadGuard<'_, Storage> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error for bytes at `offset` that fail their checksum.
    pub(crate) fn corrupt(&self, offset: u64) -> SpoolError {
        SpoolError::Corrupt {
            path: self.path.clone(),
            offset,
        }
    }
}
