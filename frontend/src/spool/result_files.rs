//! One run in the spool.
//!
//! ```text
//! 0, 1, …      the frames of each backend, as they were received, one after the other
//! order-0, …   the pointers in total order, in blocks (see `pointers`), one part after the other
//! packages     the packages with matches, by their best one (see `packages`), and behind them the
//!              documents (see `documents`)
//! facets       how many matches have which language and directory: one frame
//! manifest     what else there is to say: one frame. It is written last
//! run-b-n      sorted pointers of backend b that memory had no room for, until they are merged
//! ```
//!
//! A run that is small is in memory alone, and its directory does not exist. One that has been
//! finished on the disk stays there when it is dropped; all others take their directory with them.

use super::{Blob, FrameReader, OrderFiles, Spool, SpoolError, io_error};
use crate::order::FrameAt;
use schema::frame;
use schema::message::SpoolManifest;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use zerocopy::IntoBytes;

/// The files of one run.
pub(crate) struct ResultFiles {
    directory: PathBuf,
    frames: Vec<Blob>,
    pub(crate) order: OrderFiles,
    pub(crate) packages: Blob,
    pub(crate) facets: Blob,
    /// Of the spool's budgets.
    disk_bytes: AtomicU64,
    memory_bytes: AtomicU64,
    /// It outlives this process.
    finished: AtomicBool,
    spool: Arc<Spool>,
}

impl std::fmt::Debug for ResultFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ResultFiles").field(&self.directory).finish()
    }
}

impl ResultFiles {
    pub(super) fn new(spool: &Arc<Spool>, directory: PathBuf, backends: usize) -> ResultFiles {
        let blob = |name: &str| Blob::new(directory.join(name));
        ResultFiles {
            frames: (0..backends).map(|n| blob(&n.to_string())).collect(),
            order: OrderFiles::new(&directory),
            packages: blob("packages"),
            facets: blob("facets"),
            disk_bytes: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            finished: AtomicBool::new(false),
            spool: Arc::clone(spool),
            directory,
        }
    }

    /// The run that an earlier process has finished in a directory; `None` when there is no whole one.
    pub(super) fn open(
        spool: &Arc<Spool>,
        directory: &Path,
    ) -> Option<(ResultFiles, SpoolManifest)> {
        let manifest = fs::read(directory.join("manifest")).ok()?;
        let mut words = vec![0_u64; manifest.len().div_ceil(8)];
        words.as_mut_bytes()[..manifest.len()].copy_from_slice(&manifest);
        let frame = frame::decode(words.as_bytes()).ok()??;
        if frame.kind != frame::Kind::Manifest || frame.bytes != manifest.len() {
            return None;
        }
        let told = SpoolManifest::decode(frame.payload).ok()?;
        let open = |name: &str, bytes: u64| Blob::open(directory.join(name), bytes);
        let frames = (0_usize..).zip(&told.frame_bytes);
        let frames: Option<Vec<_>> = frames
            .map(|(n, &bytes)| match bytes {
                0 => Some(Blob::new(directory.join(n.to_string()))),
                _ => open(&n.to_string(), bytes),
            })
            .collect();
        let run = ResultFiles {
            frames: frames?,
            order: OrderFiles::open(directory, &told.order_bytes)?,
            packages: open("packages", told.packages_bytes)?,
            facets: open("facets", told.facets_bytes)?,
            disk_bytes: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            finished: AtomicBool::new(true),
            spool: Arc::clone(spool),
            directory: directory.to_owned(),
        };
        if run.order.len() != told.pointers {
            // It is dropped as a finished one: who opens it removes what it cannot use.
            return None;
        }
        // It may be above the budget, which may be another one now; then it is the first to go.
        let files: u64 = run.blobs().map(Blob::len).sum();
        let bytes = files + manifest.len() as u64;
        run.disk_bytes.store(bytes, Relaxed);
        spool.disk_bytes.fetch_add(bytes, Relaxed);
        Some((run, told))
    }

    fn blobs(&self) -> impl Iterator<Item = &Blob> {
        let others = [&self.packages, &self.facets];
        self.frames.iter().chain(self.order.parts()).chain(others)
    }

    /// Appends whole frames to those of a backend.
    pub(crate) fn append_frames(&self, backend: u16, frames: &[u8]) -> Result<(), SpoolError> {
        self.append(self.frames_of(backend), frames)
    }

    /// Appends to a file of this run: one write, when it goes to the disk.
    pub(crate) fn append(&self, to: &Blob, bytes: &[u8]) -> Result<(), SpoolError> {
        if to.is_in_memory() {
            if self.append_to_memory(to, bytes) {
                return Ok(());
            }
            self.move_to_disk(to)?;
        }
        let file = to.file().expect("nobody appends to a run that is finished");
        self.reserve(bytes.len() as u64)?;
        let written = self
            .spool
            .check_write()
            .and_then(|()| (&*file).write_all(bytes));
        written.map_err(io_error(to.path()))?;
        metrics::counter!("trawl_frontend_spool_written_bytes_total").increment(bytes.len() as u64);
        to.grow(bytes.len() as u64);
        Ok(())
    }

    fn append_to_memory(&self, to: &Blob, bytes: &[u8]) -> bool {
        let more = bytes.len() as u64;
        let most = self.spool.limits.result_memory_max;
        let grow = |bytes: u64| Some(bytes + more).filter(|&bytes| bytes <= most);
        if self
            .memory_bytes
            .fetch_update(Relaxed, Relaxed, grow)
            .is_err()
        {
            return false;
        }
        to.append_to_memory(bytes);
        self.spool.memory_bytes.fetch_add(more, Relaxed);
        true
    }

    /// Writes what a file has in memory to the disk, where it is from then on.
    fn move_to_disk(&self, blob: &Blob) -> Result<(), SpoolError> {
        self.create_directory()?;
        let created = self.spool.check_write().and_then(|()| blob.create());
        let file = created.map_err(io_error(blob.path()))?;
        let bytes = blob.len();
        self.reserve(bytes)?;
        let moved = blob.move_to(file, |mut file, memory| match memory.is_empty() {
            true => Ok(()),
            false => self
                .spool
                .check_write()
                .and_then(|()| file.write_all(memory)),
        });
        moved.map_err(io_error(blob.path()))?;
        self.memory_bytes.fetch_sub(bytes, Relaxed);
        self.spool.memory_bytes.fetch_sub(bytes, Relaxed);
        Ok(())
    }

    fn create_directory(&self) -> Result<(), SpoolError> {
        fs::create_dir_all(&self.directory).map_err(io_error(&self.directory))
    }

    fn reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        self.spool.reserve(bytes).or_else(|_| {
            self.spool.make_room(bytes);
            self.spool.reserve(bytes)
        })?;
        self.disk_bytes.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// A file for sorted pointers, on the disk; to be removed with [`remove`](Self::remove).
    pub(crate) fn scratch(&self, name: &str) -> Result<Blob, SpoolError> {
        let blob = Blob::new(self.directory.join(name));
        self.move_to_disk(&blob)?;
        Ok(blob)
    }

    /// Removes a scratch file. What cannot be removed goes with the directory.
    pub(crate) fn remove(&self, scratch: &Blob) {
        self.disk_bytes.fetch_sub(scratch.len(), Relaxed);
        self.spool.disk_bytes.fetch_sub(scratch.len(), Relaxed);
        let _ = fs::remove_file(scratch.path());
    }

    /// Makes a finished run one that outlives this process, unless all of it is in memory. `manifest`
    /// is asked once everything else is on the disk.
    pub(crate) fn finish(&self, manifest: impl FnOnce() -> Vec<u8>) -> Result<(), SpoolError> {
        if !self.spool.limits.durable || self.disk_bytes.load(Relaxed) == 0 {
            return Ok(());
        }
        let results = [&self.packages, &self.facets];
        let parts = self.frames.iter().chain(self.order.parts());
        let parts = parts.filter(|blob| blob.len() > 0);
        for blob in parts.chain(results).filter(|blob| blob.is_in_memory()) {
            self.move_to_disk(blob)?;
        }
        let whole = self.scratch("manifest.new")?;
        self.append(&whole, &manifest())?;
        let renamed = fs::rename(whole.path(), self.directory.join("manifest"));
        renamed.map_err(io_error(whole.path()))?;
        self.finished.store(true, Relaxed);
        Ok(())
    }

    /// Nothing more will be written: files are open only while they are read.
    pub(crate) fn close(&self) {
        self.blobs().for_each(Blob::close);
    }

    /// Lets the files go with the run, though it has been finished.
    pub(crate) fn forget(&self) {
        self.finished.store(false, Relaxed);
    }

    /// Reads frames of this run.
    pub(crate) fn reader(&self) -> FrameReader<'_> {
        FrameReader::new(self)
    }

    /// The file with the frames of a backend.
    pub(super) fn frames_of(&self, backend: u16) -> &Blob {
        &self.frames[usize::from(backend)]
    }

    /// How many backends it has frames of, at most.
    pub(crate) fn backends(&self) -> u16 {
        self.frames.len() as u16
    }

    /// Bytes of whole frames that a backend has sent so far.
    pub(crate) fn received(&self, backend: u16) -> u64 {
        self.frames_of(backend).len()
    }

    /// Whether there is a file for the frames of this backend.
    pub(super) fn has_frames_of(&self, backend: u16) -> bool {
        usize::from(backend) < self.frames.len()
    }

    /// The error for a frame that is not what it was.
    pub(crate) fn corrupt(&self, (backend, offset): FrameAt) -> SpoolError {
        match self.frames.get(usize::from(backend)) {
            Some(frames) => frames.corrupt(offset),
            None => self.order.corrupt(),
        }
    }

    /// Bytes of frames so far.
    pub(crate) fn frame_bytes(&self) -> u64 {
        self.frames.iter().map(Blob::len).sum()
    }

    /// The same of each backend.
    pub(crate) fn frame_bytes_by_backend(&self) -> Vec<u64> {
        self.frames.iter().map(Blob::len).collect()
    }

    /// Bytes on the disk, and in memory.
    pub(crate) fn held_bytes(&self) -> (u64, u64) {
        (
            self.disk_bytes.load(Relaxed),
            self.memory_bytes.load(Relaxed),
        )
    }
}

impl Drop for ResultFiles {
    /// Removing may fail, and nothing is lost when it does: the next start removes what is left.
    fn drop(&mut self) {
        let (disk, memory) = self.held_bytes();
        self.spool.disk_bytes.fetch_sub(disk, Relaxed);
        self.spool.memory_bytes.fetch_sub(memory, Relaxed);
        let is_on_disk = disk > 0 || self.blobs().any(|blob| !blob.is_in_memory());
        if is_on_disk && !self.finished.load(Relaxed) {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}
