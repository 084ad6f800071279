//! Frames on disk, as they were received: append-only while a query runs, read at a pointer's
//! offset when a page is asked for.
//!
//! ```text
//! <spool>/lock                      held while a frontend lives
//! <spool>/<run id>-<n>/0, 1, …      one file a backend, frame after frame
//! ```
//!
//! A run's directory goes when its last user does. What a crash leaves behind is removed at the
//! next start: there is nothing in a spool that a search cannot make again.
//! **Invariant:** a frame that is read back has passed its checksum a second time, and bytes of all
//! run directories together never exceed the budget.

use crate::rank::FrameAt;
use schema::frame::{self, FRAME_BYTES_MAX, Frame, HEADER_BYTES};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use zerocopy::IntoBytes;

/// What is read at a frame's offset before its length is known. Nearly all frames are shorter, so
/// one call has them whole; reading more would copy neighbours that nobody asked for.
const FIRST_READ_BYTES: usize = 16 << 10;

/// What is read at a time, at most, by who reads frame after frame. It stays in a processor's cache
/// until it is looked at.
const AHEAD_BYTES_MAX: usize = 256 << 10;

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
    #[error("{path}: no whole frame at {offset}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where the frame should be.
        offset: u64,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> SpoolError + use<> {
    let path = path.to_owned();
    move |source| SpoolError::Io { path, source }
}

/// A directory that holds the frames of one frontend's runs.
#[derive(Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    bytes_max: u64,
    /// Bytes in all run directories.
    bytes: AtomicU64,
    /// Numbers run directories: one query may have several, one after the other.
    sequence: AtomicU64,
    /// Locked as long as it is open.
    _lock: File,
}

impl Spool {
    /// Takes the directory, making it when it is not there, and clears it of earlier runs.
    pub(crate) fn open(directory: &Path, bytes_max: u64) -> Result<Arc<Spool>, SpoolError> {
        fs::create_dir_all(directory).map_err(io_error(directory))?;
        let path = directory.join("lock");
        let lock = File::create(&path).map_err(io_error(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(SpoolError::Locked(directory.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io_error(&path)(error)),
        }
        remove_left_overs(directory)?;
        Ok(Arc::new(Spool {
            directory: directory.to_owned(),
            bytes_max,
            bytes: AtomicU64::new(0),
            sequence: AtomicU64::new(0),
            _lock: lock,
        }))
    }

    /// Room for a run with frames of `backends` backends. Touches no disk until there are some.
    pub(crate) fn run(self: &Arc<Self>, id: &str, backends: usize) -> RunSpool {
        let number = self.sequence.fetch_add(1, Ordering::Relaxed);
        RunSpool {
            directory: self.directory.join(format!("{id}-{number}")),
            files: (0..backends).map(|_| OnceLock::new()).collect(),
            bytes: AtomicU64::new(0),
            spool: Arc::clone(self),
        }
    }

    fn reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > self.bytes_max {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
            let bytes_max = self.bytes_max;
            return Err(SpoolError::Full { bytes_max });
        }
        Ok(())
    }

    /// How many bytes are held above the budget if `more` are added.
    pub(crate) fn excess(&self, more: u64) -> u64 {
        (self.bytes.load(Ordering::Relaxed) + more).saturating_sub(self.bytes_max)
    }
}

fn remove_left_overs(directory: &Path) -> Result<(), SpoolError> {
    for entry in fs::read_dir(directory).map_err(io_error(directory))? {
        let path = entry.map_err(io_error(directory))?.path();
        if path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(is_run_directory)
        {
            fs::remove_dir_all(&path).map_err(io_error(&path))?;
        }
    }
    Ok(())
}

/// Whether a name is one that [`Spool::run`] gives. Anything else in the directory is not ours.
fn is_run_directory(name: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase();
    name.split_once('-').is_some_and(|(id, number)| {
        id.len() == 16 && id.bytes().all(hex) && number.parse::<u64>().is_ok()
    })
}

/// The frames of one run.
#[derive(Debug)]
pub(crate) struct RunSpool {
    directory: PathBuf,
    files: Vec<OnceLock<File>>,
    bytes: AtomicU64,
    spool: Arc<Spool>,
}

impl RunSpool {
    /// Appends whole frames to a backend's file: one write.
    pub(crate) fn append(&self, backend: u16, frames: &[u8]) -> Result<(), SpoolError> {
        self.spool.reserve(frames.len() as u64)?;
        self.bytes.fetch_add(frames.len() as u64, Ordering::Relaxed);
        metrics::counter!("trawl_frontend_spool_written_bytes_total")
            .increment(frames.len() as u64);
        let mut file = self.file(backend)?;
        file.write_all(frames)
            .map_err(io_error(&self.path(backend)))
    }

    fn file(&self, backend: u16) -> Result<&File, SpoolError> {
        let slot = &self.files[usize::from(backend)];
        if let Some(file) = slot.get() {
            return Ok(file);
        }
        fs::create_dir_all(&self.directory).map_err(io_error(&self.directory))?;
        let path = self.path(backend);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(io_error(&path))?;
        Ok(slot.get_or_init(|| file))
    }

    fn path(&self, backend: u16) -> PathBuf {
        self.directory.join(backend.to_string())
    }

    /// Reads frames of this run.
    pub(crate) fn reader(&self) -> FrameReader<'_> {
        FrameReader {
            spool: self,
            words: Vec::new(),
            held: (0, 0..0),
            ahead: FIRST_READ_BYTES,
        }
    }

    /// The error for a frame that is not what it was.
    pub(crate) fn corrupt(&self, (backend, offset): FrameAt) -> SpoolError {
        SpoolError::Corrupt {
            path: self.path(backend),
            offset,
        }
    }

    /// Bytes appended so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for RunSpool {
    /// Removing may fail, and nothing is lost when it does: the next start removes what is left.
    fn drop(&mut self) {
        self.spool.bytes.fetch_sub(self.bytes(), Ordering::Relaxed);
        if self.files.iter().any(|file| file.get().is_some()) {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// Reads one frame after the other. Who reads them in the order of the file reads the file in a few
/// large pieces.
pub(crate) struct FrameReader<'a> {
    spool: &'a RunSpool,
    /// A piece of a backend's file, aligned to words.
    words: Vec<u64>,
    /// Which one: the backend, and offsets in its file.
    held: (u16, Range<u64>),
    /// Bytes of the last read, or of the next.
    ahead: usize,
}

impl FrameReader<'_> {
    /// The frame at a place.
    pub(crate) fn read(&mut self, place: FrameAt) -> Result<Frame<'_>, SpoolError> {
        let at = match self.find(place) {
            Some(at) => at,
            None => self.load(place)?,
        };
        let bytes = &self.words.as_bytes()[at..][..(self.held.1.end - place.1) as usize];
        let frame = frame::decode(bytes).ok().flatten();
        frame.ok_or_else(|| self.spool.corrupt(place))
    }

    /// Where in the piece a frame is, when all of it is there.
    fn find(&self, (backend, offset): FrameAt) -> Option<usize> {
        let (of, held) = &self.held;
        if *of != backend || !held.contains(&offset) {
            return None;
        }
        let at = (offset - held.start) as usize;
        let bytes = &self.words.as_bytes()[at..][..(held.end - offset) as usize];
        (at.is_multiple_of(8) && bytes.len() >= frame_bytes(bytes)?).then_some(at)
    }

    /// Reads the piece that begins with a frame, and more of it when the last one was in front of
    /// it; the frame is at 0 then.
    fn load(&mut self, place: FrameAt) -> Result<usize, SpoolError> {
        let (backend, offset) = place;
        let (of, held) = &self.held;
        let goes_on = *of == backend && (held.start + 1..=held.end).contains(&offset);
        self.ahead = match goes_on {
            true => (2 * self.ahead).min(AHEAD_BYTES_MAX),
            false => FIRST_READ_BYTES,
        };
        self.held = (backend, offset..offset);
        let bytes = self.fill(0, self.ahead, place)?;
        let whole = frame_bytes(&self.words.as_bytes()[..bytes]);
        if let Some(whole) = whole.filter(|whole| (bytes + 1..=FRAME_BYTES_MAX).contains(whole)) {
            self.fill(bytes, whole, place)?;
        }
        Ok(0)
    }

    /// Reads on behind the first `have` bytes of the piece until there are `want`, or the file
    /// ends, and says how many there are.
    fn fill(
        &mut self,
        have: usize,
        want: usize,
        (backend, offset): FrameAt,
    ) -> Result<usize, SpoolError> {
        let file = self.spool.files[usize::from(backend)].get();
        let file = file.ok_or_else(|| self.spool.corrupt((backend, offset)))?;
        if self.words.len() * 8 < want {
            self.words.resize(want.div_ceil(8), 0);
        }
        let mut at = have;
        while at < want {
            let space = &mut self.words.as_mut_bytes()[at..want];
            metrics::counter!("trawl_frontend_spool_reads_total").increment(1);
            match file.read_at(space, offset + at as u64) {
                Ok(0) => break,
                Ok(bytes) => at += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error(&self.spool.path(backend))(error)),
            }
            // A short first read is the file's end or close to it: no second call to make sure
            // when the header already says that the frame is there.
            if have == 0 && at >= HEADER_BYTES {
                break;
            }
        }
        self.held.1.end = offset + at as u64;
        Ok(at)
    }
}

/// How long the frame is that begins here, if its header is there.
fn frame_bytes(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?);
    Some(HEADER_BYTES.saturating_add(length as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::frame::{Kind, encode};

    fn frame(payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(Kind::Batch, payload, &mut out).unwrap();
        out
    }

    fn spool(bytes_max: u64) -> (tempfile::TempDir, Arc<Spool>) {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::open(directory.path(), bytes_max).unwrap();
        (directory, spool)
    }

    fn runs(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count() - 1
    }

    #[test]
    fn frames_of_every_length_are_read_back() {
        let (_directory, spool) = spool(1 << 30);
        let run = spool.run("0123456789abcdef", 2);
        let lengths = [
            0,
            8,
            FIRST_READ_BYTES - 16,
            FIRST_READ_BYTES,
            FRAME_BYTES_MAX - 16,
        ];
        let (mut offset, mut places) = (0, Vec::new());
        for (fill, length) in (1..).zip(lengths) {
            let bytes = frame(&vec![fill; length]);
            run.append(1, &bytes).unwrap();
            places.push((offset, fill, length));
            offset += bytes.len() as u64;
        }
        let mut reader = run.reader();
        for &(offset, fill, length) in places.iter().rev() {
            let frame = reader.read((1, offset)).unwrap();
            assert_eq!(frame.payload, vec![fill; length]);
            assert_eq!(frame.payload.as_ptr() as usize % 8, 0, "aligned");
        }
        assert!(reader.read((1, offset)).is_err(), "behind the end");
        assert!(reader.read((0, 0)).is_err(), "nothing was written");
    }

    #[test]
    fn what_changed_on_disk_is_not_shown() {
        let (directory, spool) = spool(1 << 30);
        let run = spool.run("0123456789abcdef", 1);
        run.append(0, &frame(&[7; 64])).unwrap();
        let path = directory.path().join("0123456789abcdef-0/0");
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_at(&[8], 40).unwrap();
        let mut reader = run.reader();
        let corrupt = reader.read((0, 0));
        assert!(matches!(
            corrupt,
            Err(SpoolError::Corrupt { offset: 0, .. })
        ));
    }

    #[test]
    fn a_spool_has_one_frontend() {
        let (directory, _spool) = spool(1);
        let second = Spool::open(directory.path(), 1);
        assert!(matches!(second, Err(SpoolError::Locked(_))));
    }

    #[test]
    fn left_overs_go_and_strangers_stay() {
        let directory = tempfile::tempdir().unwrap();
        for name in [
            "0123456789abcdef-7",
            "notes",
            "0123456789ABCDEF-7",
            "0123456789abcdef",
        ] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let _spool = Spool::open(directory.path(), 1).unwrap();
        assert_eq!(runs(directory.path()), 3);
    }

    #[test]
    fn the_budget_holds_and_comes_back() {
        let (directory, spool) = spool(100);
        let run = spool.run("0123456789abcdef", 1);
        run.append(0, &frame(&[1; 64])).unwrap();
        let full = run.append(0, &frame(&[1; 8]));
        assert!(matches!(full, Err(SpoolError::Full { bytes_max: 100 })));
        assert_eq!(runs(directory.path()), 1);
        drop(run);
        assert_eq!((spool.excess(100), runs(directory.path())), (0, 0));
    }
}
