//! One file of a result: in memory while small, then on disk. If results are not durable, bytes in
//! memory stay there and the file has the rest. Readers open the files of finished results, so
//! descriptors do not grow with cached ones.

use super::error::{SpoolError, io_error};
use super::kept::{Kept, MemoryChunk};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

/// One file of a result. One thread appends; any number read.
#[derive(Debug)]
pub struct Blob {
    path: PathBuf,
    state: RwLock<Storage>,
    bytes: AtomicU64,
}

#[derive(Debug)]
enum Storage {
    Memory(Kept),
    /// A file being appended to, and the bytes before it.
    Open(Arc<Kept>, Arc<File>),
    /// A complete file, and the bytes before it. Readers share its descriptor.
    Closed(Arc<Kept>, Mutex<Weak<File>>),
}

/// A file kept open by a reader, and the bytes before it.
#[derive(Debug, Default)]
pub struct OpenFile(Option<(Arc<Kept>, Arc<File>)>);

impl Blob {
    pub(super) fn new(path: PathBuf) -> Blob {
        Blob {
            path,
            state: RwLock::new(Storage::Memory(Kept::default())),
            bytes: AtomicU64::new(0),
        }
    }

    /// Opens a file of this length, if not 0; `None` if there is none.
    pub(super) fn open(path: PathBuf, bytes: u64) -> Option<Blob> {
        if bytes == 0 {
            return Some(Blob::new(path));
        }
        let is_whole = path.metadata().is_ok_and(|meta| meta.len() == bytes);
        is_whole.then(|| Blob {
            path,
            state: RwLock::new(Storage::Closed(Arc::default(), Mutex::default())),
            bytes: AtomicU64::new(bytes),
        })
    }

    /// Path, whether it exists or not.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// True if nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn is_in_memory(&self) -> bool {
        matches!(*self.read_state(), Storage::Memory(_))
    }

    pub(super) fn file(&self) -> Option<Arc<File>> {
        match &*self.read_state() {
            Storage::Open(_, file) => Some(Arc::clone(file)),
            Storage::Memory(_) | Storage::Closed(..) => None,
        }
    }

    pub(super) fn grow(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub(super) fn append_to_memory(&self, bytes: &[u8]) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Storage::Memory(memory) = &mut *state {
            memory.append(bytes);
            self.grow(bytes.len() as u64);
        }
    }

    /// Releases chunks before `offset`, which are never read again. Returns their bytes.
    pub(super) fn release(&self, offset: u64) -> usize {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            Storage::Memory(memory) => memory.release(offset),
            Storage::Open(..) | Storage::Closed(..) => 0,
        }
    }

    pub(super) fn chunk(&self, offset: u64) -> Option<MemoryChunk> {
        match &*self.read_state() {
            Storage::Memory(memory) => memory.chunk(offset).cloned(),
            Storage::Open(memory, _) | Storage::Closed(memory, _) => memory.chunk(offset).cloned(),
        }
    }

    /// Opens an empty file; a failed attempt may have left one.
    pub(super) fn create(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true);
        let file = file.open(&self.path)?;
        // Only when needed, since ext4 flushes truncated files on close.
        if file.metadata()?.len() > 0 {
            file.set_len(0)?;
        }
        Ok(file)
    }

    /// Calls `write` with the bytes in memory, and switches to the file on success.
    pub(super) fn move_to(
        &self,
        file: File,
        write: impl FnOnce(&File, &Kept) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Storage::Memory(memory) = &*state {
            write(&file, memory)?;
        }
        *state = Storage::Open(Arc::default(), Arc::new(file));
        Ok(())
    }

    pub(super) fn continue_in(&self, file: File) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Storage::Memory(memory) = &mut *state {
            let memory = Arc::new(memory.complete());
            *state = Storage::Open(memory, Arc::new(file));
        }
    }

    pub(super) fn close(&self) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Storage::Open(memory, file) = &*state {
            *state = Storage::Closed(Arc::clone(memory), Mutex::new(Arc::downgrade(file)));
        }
    }

    /// Returns the bytes read, fewer than `space` only at the end. `held` keeps the file open for
    /// further reads.
    pub fn read_at(
        &self,
        space: &mut [u8],
        offset: u64,
        held: &mut OpenFile,
    ) -> Result<usize, SpoolError> {
        Ok(self.read(space, offset, held)?.0)
    }

    /// A shorter file is corrupt.
    pub(crate) fn read_all(
        &self,
        space: &mut [u8],
        offset: u64,
        held: &mut OpenFile,
    ) -> Result<(), SpoolError> {
        let bytes = self.read_at(space, offset, held)?;
        let is_whole = bytes == space.len();
        is_whole.then_some(()).ok_or_else(|| self.corrupt(offset))
    }

    /// Like [`read_at`](Self::read_at). Also returns true if bytes were on disk.
    pub(super) fn read(
        &self,
        space: &mut [u8],
        offset: u64,
        held: &mut OpenFile,
    ) -> Result<(usize, bool), SpoolError> {
        if held.0.is_none() {
            held.0 = Some(match &*self.read_state() {
                Storage::Memory(memory) => return Ok((memory.copy_to(space, offset), false)),
                Storage::Open(memory, file) => (Arc::clone(memory), Arc::clone(file)),
                Storage::Closed(memory, open) => (Arc::clone(memory), self.reopen(open)?),
            });
        }
        let Some((memory, file)) = &held.0 else {
            return Ok((0, false));
        };
        let copied = memory.copy_to(space, offset);
        if copied == space.len() {
            return Ok((copied, false));
        }
        let (at, before_file) = (offset + copied as u64, memory.end);
        let file_len = self.len().saturating_sub(before_file);
        let read = self.read_file(file, file_len, &mut space[copied..], at - before_file)?;
        Ok((copied + read, true))
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
            // No further call just to see the end.
            if offset + at as u64 >= file_len {
                break;
            }
        }
        Ok(at)
    }

    fn read_state(&self) -> std::sync::RwLockReadGuard<'_, Storage> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn corrupt(&self, offset: u64) -> SpoolError {
        SpoolError::Corrupt {
            path: self.path.clone(),
            offset,
        }
    }
}
