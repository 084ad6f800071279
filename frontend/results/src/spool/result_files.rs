//! The files of one result.
//!
//! ```text
//! 0, 1, …      frames of each stream, as received
//! order-0, …   pointers in total order, in blocks (see `pointers`), one part after the other
//! packages     packages with matches, best first (see `results::packages`), then the documents (see
//!              `results::documents`)
//! facets       matches by language and by directory: one frame
//! folded       which matches are of folded documents (see `results::folded`)
//! copies, copy-groups, copy-frames
//!              the documents that have copies (see `results::copies`)
//! manifest     everything else: one frame, written last
//! run-s-n      sorted run n of stream s, spilled when memory was full, until it is merged
//! documents-s-n, texts-n, frames-n
//!              documents of stream s, and sorted runs of them, until their copies are found
//! ```
//!
//! A small result stays in memory without a directory. If results are not durable, each file's
//! first bytes stay in memory as the result's share allows. A result finished on disk survives its
//! drop; others remove their directory.

use super::blob::Blob;
use super::error::{SpoolError, io_error};
use super::pointers::OrderFiles;
use crate::order::FrameAt;
use schema::frame;
use schema::message::SpoolManifest;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;
use zerocopy::IntoBytes;

pub struct ResultFiles {
    directory: PathBuf,
    frames: Vec<Blob>,
    pub order: OrderFiles,
    pub packages: Blob,
    /// Counts by language, kind and directory.
    pub facets: Blob,
    pub folded: Blob,
    pub copies: Blob,
    pub copy_groups: Blob,
    pub copy_frames: Blob,
    disk_bytes: AtomicU64,
    memory_bytes: AtomicU64,
    /// The files outlive this process.
    finished: AtomicBool,
    budget: Arc<Budget>,
}

impl std::fmt::Debug for ResultFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ResultFiles").field(&self.directory).finish()
    }
}

impl ResultFiles {
    pub(super) fn new(budget: &Arc<Budget>, directory: PathBuf, streams: usize) -> ResultFiles {
        let nothing = SpoolManifest {
            frame_bytes: vec![0; streams],
            ..SpoolManifest::default()
        };
        let files = ResultFiles::of(budget, directory, &nothing);
        files.expect("empty files are not opened")
    }

    /// Opens a finished result of an earlier process; `None` if it is not whole.
    pub(super) fn open(
        budget: &Arc<Budget>,
        directory: &Path,
    ) -> Option<(ResultFiles, SpoolManifest)> {
        let bytes = fs::read(directory.join("manifest")).ok()?;
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        words.as_mut_bytes()[..bytes.len()].copy_from_slice(&bytes);
        let frame = frame::decode(words.as_bytes()).ok()??;
        if frame.kind != frame::Kind::Manifest || frame.bytes != bytes.len() {
            return None;
        }
        let manifest = SpoolManifest::decode(frame.payload).ok()?;
        let files = ResultFiles::of(budget, directory.to_owned(), &manifest)?;
        // The caller removes the directory of a result that is not whole.
        files.finished.store(true, Relaxed);
        if files.order.len() != manifest.pointers {
            return None;
        }
        // May exceed a budget that has shrunk; then older results are evicted first.
        let total = files.blobs().map(Blob::len).sum::<u64>() + bytes.len() as u64;
        files.disk_bytes.store(total, Relaxed);
        budget.disk_bytes.fetch_add(total, Relaxed);
        Some((files, manifest))
    }

    /// Files of these lengths; empty ones do not exist.
    fn of(
        budget: &Arc<Budget>,
        directory: PathBuf,
        lengths: &SpoolManifest,
    ) -> Option<ResultFiles> {
        let open = |name: &str, bytes: u64| Blob::open(directory.join(name), bytes);
        let frames = (0_usize..).zip(&lengths.frame_bytes);
        let frames = frames.map(|(n, &bytes)| open(&n.to_string(), bytes));
        Some(ResultFiles {
            frames: frames.collect::<Option<_>>()?,
            order: OrderFiles::open(&directory, &lengths.order_bytes)?,
            packages: open("packages", lengths.packages_bytes)?,
            facets: open("facets", lengths.facets_bytes)?,
            folded: open("folded", lengths.folded_bytes)?,
            copies: open("copies", lengths.copies_bytes)?,
            copy_groups: open("copy-groups", lengths.copy_groups_bytes)?,
            copy_frames: open("copy-frames", lengths.copy_frames_bytes)?,
            disk_bytes: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            finished: AtomicBool::new(false),
            budget: Arc::clone(budget),
            directory,
        })
    }

    fn blobs(&self) -> impl Iterator<Item = &Blob> {
        let lists = [
            &self.packages,
            &self.facets,
            &self.folded,
            &self.copies,
            &self.copy_groups,
            &self.copy_frames,
        ];
        let parts = self.frames.iter().chain(&self.order.parts);
        parts.chain(lists)
    }

    pub fn append_frames(&self, stream: u16, frames: &[u8]) -> Result<(), SpoolError> {
        self.append(self.frames_of(stream), frames)
    }

    pub fn append(&self, to: &Blob, bytes: &[u8]) -> Result<(), SpoolError> {
        if to.is_in_memory() {
            if self.append_to_memory(to, bytes) {
                return Ok(());
            }
            self.move_to_disk(to)?;
        }
        let file = to.file().expect("a finished result is not appended to");
        self.reserve(bytes.len() as u64)?;
        let checked = self.budget.check_write();
        let written = checked.and_then(|()| (&*file).write_all(bytes));
        written.map_err(io_error(to.path()))?;
        metrics::counter!("trawl_frontend_spool_written_bytes_total").increment(bytes.len() as u64);
        to.grow(bytes.len() as u64);
        Ok(())
    }

    /// Releases frames before an offset, never read again. No effect on durable results.
    pub(crate) fn release(&self, (stream, offset): FrameAt) {
        if self.budget.config.durable {
            return;
        }
        let bytes = self.frames_of(stream).release(offset) as u64;
        self.memory_bytes.fetch_sub(bytes, Relaxed);
        self.budget.memory_bytes.fetch_sub(bytes, Relaxed);
    }

    /// Appends in memory if the result's share allows it.
    fn append_to_memory(&self, to: &Blob, bytes: &[u8]) -> bool {
        let more = bytes.len() as u64;
        let most = self.budget.config.result_memory_max;
        let grow = |bytes: u64| Some(bytes + more).filter(|&bytes| bytes <= most);
        let reserved = self.memory_bytes.fetch_update(Relaxed, Relaxed, grow);
        if reserved.is_ok() {
            self.budget.memory_bytes.fetch_add(more, Relaxed);
            to.append_to_memory(bytes);
        }
        reserved.is_ok()
    }

    fn move_to_disk(&self, blob: &Blob) -> Result<(), SpoolError> {
        if self.directory.as_os_str().is_empty() {
            let bytes_max = self.budget.config.result_memory_max;
            return Err(SpoolError::NoDirectory { bytes_max });
        }
        fs::create_dir_all(&self.directory).map_err(io_error(&self.directory))?;
        let created = self.budget.check_write().and_then(|()| blob.create());
        let file = created.map_err(io_error(blob.path()))?;
        if !self.budget.config.durable {
            blob.continue_in(file);
            return Ok(());
        }
        let bytes = blob.len();
        self.reserve(bytes)?;
        let moved = blob.move_to(file, |mut file, memory| {
            memory.chunks().try_for_each(|chunk| {
                self.budget.check_write()?;
                file.write_all(chunk)
            })
        });
        moved.map_err(io_error(blob.path()))?;
        self.memory_bytes.fetch_sub(bytes, Relaxed);
        self.budget.memory_bytes.fetch_sub(bytes, Relaxed);
        Ok(())
    }

    fn reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        self.budget.reserve(bytes)?;
        self.disk_bytes.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Creates a file for a sorted run, on disk. The caller [removes](Self::remove) it.
    pub fn scratch(&self, name: &str) -> Result<Blob, SpoolError> {
        let blob = Blob::new(self.directory.join(name));
        self.move_to_disk(&blob)?;
        Ok(blob)
    }

    /// Removes a scratch file; on failure it goes with the directory.
    pub fn remove(&self, scratch: &Blob) {
        self.disk_bytes.fetch_sub(scratch.len(), Relaxed);
        self.budget.disk_bytes.fetch_sub(scratch.len(), Relaxed);
        let _ = fs::remove_file(scratch.path());
    }

    /// Makes the result durable, unless it is all in memory. `manifest` is called after
    /// everything else is on disk.
    pub fn finish(&self, manifest: impl FnOnce() -> Vec<u8>) -> Result<(), SpoolError> {
        if !self.budget.config.durable || self.disk_bytes.load(Relaxed) == 0 {
            return Ok(());
        }
        let blobs = self.blobs().filter(|blob| !blob.is_empty());
        for blob in blobs.filter(|blob| blob.is_in_memory()) {
            self.move_to_disk(blob)?;
        }
        let new = self.scratch("manifest.new")?;
        self.append(&new, &manifest())?;
        let renamed = fs::rename(new.path(), self.directory.join("manifest"));
        renamed.map_err(io_error(new.path()))?;
        self.finished.store(true, Relaxed);
        Ok(())
    }

    /// Closes complete files. Readers open them.
    pub fn close(&self) {
        self.blobs().for_each(Blob::close);
    }

    /// Lets drop remove the files of a finished result.
    pub fn forget(&self) {
        self.finished.store(false, Relaxed);
    }

    pub(super) fn frames_of(&self, stream: u16) -> &Blob {
        &self.frames[usize::from(stream)]
    }

    pub(crate) fn streams(&self) -> u16 {
        self.frames.len() as u16
    }

    pub fn received(&self, stream: u16) -> u64 {
        self.frames_of(stream).len()
    }

    pub(crate) fn corrupt(&self, (stream, offset): FrameAt) -> SpoolError {
        match self.frames.get(usize::from(stream)) {
            Some(frames) => frames.corrupt(offset),
            None => self.order.corrupt(),
        }
    }

    pub fn frame_bytes(&self) -> u64 {
        self.frames.iter().map(Blob::len).sum()
    }

    pub fn frame_bytes_by_backend(&self) -> Vec<u64> {
        self.frames.iter().map(Blob::len).collect()
    }

    pub fn held_bytes(&self) -> (u64, u64) {
        let [disk, memory] = [&self.disk_bytes, &self.memory_bytes];
        (disk.load(Relaxed), memory.load(Relaxed))
    }
}

impl Drop for ResultFiles {
    /// If removing the directory fails, the next start removes it.
    fn drop(&mut self) {
        let (disk, memory) = self.held_bytes();
        self.budget.disk_bytes.fetch_sub(disk, Relaxed);
        self.budget.memory_bytes.fetch_sub(memory, Relaxed);
        let is_on_disk = disk > 0 || self.blobs().any(|blob| !blob.is_in_memory());
        if is_on_disk && !self.finished.load(Relaxed) {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// Called before every write to disk; its error replaces the write. For tests.
pub type BeforeWrite = Arc<dyn Fn() -> io::Result<()> + Send + Sync>;

#[derive(Clone)]
pub struct SpoolConfig {
    pub disk_bytes_max: u64,
    pub result_memory_max: u64,
    /// Finished results survive a restart.
    pub durable: bool,
    pub before_write: Option<BeforeWrite>,
}

/// Pauses after repeated evictions for one reservation, since other results may take the bytes, and
/// results stay in use for a moment after their answer.
const EVICTION_PAUSES_MS: [u64; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128];

pub(super) struct Budget {
    pub(super) config: SpoolConfig,
    pub(super) disk_bytes: AtomicU64,
    pub(super) memory_bytes: AtomicU64,
    pub(super) evict: OnceLock<Box<dyn Fn(u64) + Send + Sync>>,
}

impl Budget {
    pub(super) fn new(config: SpoolConfig) -> Budget {
        Budget {
            config,
            disk_bytes: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            evict: OnceLock::new(),
        }
    }

    /// Reserves bytes on disk. Evicts older results as needed, repeatedly. Blocks for a quarter of
    /// a second before it fails.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        let Some(evict) = self.evict.get() else {
            return self.try_reserve(bytes);
        };
        for pause in EVICTION_PAUSES_MS.map(Duration::from_millis) {
            if let Ok(()) = self.try_reserve(bytes) {
                return Ok(());
            }
            evict(bytes);
            if !pause.is_zero() {
                thread::sleep(pause);
            }
        }
        self.try_reserve(bytes)
    }

    fn try_reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        let bytes_max = self.config.disk_bytes_max;
        let add = |used: u64| used.checked_add(bytes).filter(|used| *used <= bytes_max);
        let reserved = self.disk_bytes.fetch_update(Relaxed, Relaxed, add);
        reserved.map_or(Err(SpoolError::Full { bytes_max }), |_| Ok(()))
    }

    pub(super) fn check_write(&self) -> io::Result<()> {
        let check = self.config.before_write.as_ref();
        check.map_or(Ok(()), |check| check())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    const BYTES_MAX: u64 = 10;

    /// A full budget. `freed` lists the bytes that each eviction leaves in use.
    fn full(freed: Vec<u64>) -> Arc<Budget> {
        let budget = Arc::new(Budget::new(SpoolConfig {
            disk_bytes_max: BYTES_MAX,
            result_memory_max: 0,
            durable: false,
            before_write: None,
        }));
        budget.disk_bytes.store(BYTES_MAX, Relaxed);
        let (weak, freed) = (Arc::downgrade(&budget), Mutex::new(freed.into_iter()));
        let evict = move |_| {
            let left = freed.lock().unwrap().next().unwrap_or(BYTES_MAX);
            weak.upgrade().unwrap().disk_bytes.store(left, Relaxed);
        };
        assert!(budget.evict.set(Box::new(evict)).is_ok());
        budget
    }

    #[test]
    fn results_are_evicted_again_if_another_result_takes_their_bytes() {
        let budget = full(vec![BYTES_MAX, BYTES_MAX, 6]);
        assert!(budget.reserve(3).is_ok());
        assert_eq!(budget.disk_bytes.load(Relaxed), 9);
        assert!(full(Vec::new()).reserve(1).is_err());
    }

    #[test]
    fn a_reservation_waits_for_results_that_are_in_use_for_a_moment() {
        let mut in_use = vec![BYTES_MAX; EVICTION_PAUSES_MS.len() - 1];
        in_use.push(0);
        assert!(full(in_use).reserve(3).is_ok());
    }
}
