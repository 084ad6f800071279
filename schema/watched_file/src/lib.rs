//! Value of a file that is read again when it changes: keys, secrets, certificates.
//!
//! A thread polls once a second. A change of several files counts after two equal polls, as they
//! are replaced one by one. Unusable contents are logged once, and retried each minute.
//!
//! **Invariant:** a value in use is replaced only by one that was read without errors.
//!
//! ```
//! use watched_file::{BadFile, WatchedFile, read_text};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("limit");
//! std::fs::write(&path, "7")?;
//! let limit = WatchedFile::open(&path, "limits", |path| {
//!     let text = read_text(path, "the limit", 20)?;
//!     text.parse::<u32>().map_err(|error| BadFile::unusable(path, error))
//! })?;
//! assert_eq!(*limit.current(), 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::error::Error;
use std::fmt::{self, Display};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::sync::watch;

/// Changes take at most two polls.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A rejected certificate may become valid.
const RETRY_LOOKS: u32 = 60;

/// Current value of files. They are polled while it, or a receiver of it, exists.
pub struct WatchedFile<T> {
    current: watch::Receiver<Arc<T>>,
    reader: Arc<Mutex<Reader<T>>>,
}

impl<T> fmt::Debug for WatchedFile<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedFile").finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> WatchedFile<T> {
    /// Reads a file now, and after changes. `what` are its contents in the log, as in `keys`.
    pub fn open<E: Error + Send + Sync + 'static>(
        path: &Path,
        what: &'static str,
        read: impl Fn(&Path) -> Result<T, E> + Send + 'static,
    ) -> Result<WatchedFile<T>, E> {
        let file = path.to_owned();
        WatchedFile::open_all(vec![path.to_owned()], what, move || read(&file))
    }

    /// Like `open`, for a value of several files.
    ///
    /// # Panics
    /// If the system cannot start a thread.
    pub fn open_all<E: Error + Send + Sync + 'static>(
        files: Vec<PathBuf>,
        what: &'static str,
        read: impl Fn() -> Result<T, E> + Send + 'static,
    ) -> Result<WatchedFile<T>, E> {
        let stamps = stamps(&files);
        let (sender, current) = watch::channel(Arc::new(read()?));
        let reader = Arc::new(Mutex::new(Reader {
            files,
            what,
            read: Box::new(move || read().map_err(Into::into)),
            sender,
            used: stamps.clone(),
            seen: stamps,
            refused: None,
            looks: 0,
        }));
        let polled = Arc::clone(&reader);
        let thread = thread::Builder::new().name("watched-file".to_owned());
        let started = thread.spawn(move || poll(&polled));
        started.expect("the system can start a thread");
        Ok(WatchedFile { current, reader })
    }

    /// Value of the last usable contents.
    pub fn current(&self) -> Arc<T> {
        Arc::clone(&self.current.borrow())
    }

    pub fn receiver(&self) -> watch::Receiver<Arc<T>> {
        self.current.clone()
    }

    /// Polls now.
    pub fn read_if_changed(&self) {
        lock(&self.reader).look();
    }
}

/// Ends when no receiver is left.
fn poll<T>(reader: &Mutex<Reader<T>>) {
    loop {
        thread::sleep(LOOK_EVERY);
        let mut reader = lock(reader);
        if reader.sender.is_closed() {
            return;
        }
        reader.look();
    }
}

fn lock<T>(reader: &Mutex<Reader<T>>) -> MutexGuard<'_, Reader<T>> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Identity, size and times. `None` if unavailable.
type Stamp = Option<[i64; 7]>;

type Read<T> = Box<dyn Fn() -> Result<T, Box<dyn Error + Send + Sync>> + Send>;

struct Reader<T> {
    files: Vec<PathBuf>,
    what: &'static str,
    read: Read<T>,
    sender: watch::Sender<Arc<T>>,
    used: Vec<Stamp>,
    seen: Vec<Stamp>,
    /// Already logged.
    refused: Option<Vec<Stamp>>,
    looks: u32,
}

impl<T> Reader<T> {
    fn look(&mut self) {
        let now = stamps(&self.files);
        let has_settled = self.files.len() == 1 || now == self.seen;
        self.seen = now;
        self.looks += 1;
        let was_refused = self.refused.as_ref() == Some(&self.seen);
        if !has_settled || self.seen == self.used || (was_refused && self.looks < RETRY_LOOKS) {
            return;
        }
        self.looks = 0;
        // The next poll sees changes meanwhile.
        match (self.read)() {
            Ok(value) => {
                self.sender.send_replace(Arc::new(value));
                self.used.clone_from(&self.seen);
                self.refused = None;
                tracing::info!(files = ?self.files, "{} were read again", self.what);
            }
            Err(_) if was_refused => {}
            Err(error) => {
                tracing::error!(
                    files = ?self.files,
                    reason = chain(&*error),
                    "cannot use changed {}; the old ones stay in use",
                    self.what
                );
                self.refused = Some(self.seen.clone());
            }
        }
    }
}

/// An error and its sources. A log of JSON would leave them out.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    files.iter().map(|file| stamp(file)).collect()
}

fn stamp(file: &Path) -> Stamp {
    let file = std::fs::metadata(file).ok()?;
    Some([
        file.dev().cast_signed(),
        file.ino().cast_signed(),
        file.size().cast_signed(),
        file.mtime(),
        file.mtime_nsec(),
        file.ctime(),
        file.ctime_nsec(),
    ])
}

#[derive(Debug, thiserror::Error)]
pub enum BadFile {
    #[error("cannot read {what} {}", path.display())]
    Unreadable {
        /// Contents, as in `the secrets`.
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The contents are unusable. Names the file and the fault.
    #[error("{0}")]
    Unusable(String),
}

impl BadFile {
    pub fn unusable(path: &Path, fault: impl Display) -> BadFile {
        BadFile::Unusable(format!("{}: {fault}", path.display()))
    }
}

/// Errors call it `what`.
pub fn read_text(path: &Path, what: &'static str, bytes_max: u64) -> Result<String, BadFile> {
    let mut text = String::new();
    let file = File::open(path);
    let read = file.and_then(|file| file.take(bytes_max + 1).read_to_string(&mut text));
    read.map_err(|source| BadFile::Unreadable {
        what,
        path: path.to_owned(),
        source,
    })?;
    if text.len() as u64 > bytes_max {
        let fault = format_args!("at most {bytes_max} bytes are allowed");
        return Err(BadFile::unusable(path, fault));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

    /// Counts reads, which fail unless good. Not polled.
    struct Fixture {
        file: tempfile::NamedTempFile,
        reads: Arc<AtomicU32>,
        is_good: Arc<AtomicBool>,
        reader: Reader<u32>,
    }

    impl Fixture {
        fn new(copies: usize) -> Fixture {
            let file = tempfile::NamedTempFile::new().unwrap();
            let files = vec![file.path().to_owned(); copies];
            let (reads, is_good) = (Arc::<AtomicU32>::default(), Arc::<AtomicBool>::default());
            let (count, accepts) = (Arc::clone(&reads), Arc::clone(&is_good));
            let reader = Reader {
                used: stamps(&files),
                seen: stamps(&files),
                files,
                what: "numbers",
                read: Box::new(move || {
                    let number = count.fetch_add(1, Relaxed) + 1;
                    let value = accepts.load(Relaxed).then_some(number);
                    value.ok_or_else(|| "it is faulty".into())
                }),
                sender: watch::Sender::new(Arc::new(0)),
                refused: None,
                looks: 0,
            };
            Fixture {
                file,
                reads,
                is_good,
                reader,
            }
        }

        fn look(&mut self) -> (u32, u32) {
            self.reader.look();
            (self.reads.load(Relaxed), **self.reader.sender.borrow())
        }
    }

    #[test]
    fn changed_files_are_read_when_they_have_settled_and_faulty_ones_again_each_minute() {
        let mut files = Fixture::new(2);
        files.look();
        std::fs::write(files.file.path(), "new").unwrap();
        assert_eq!(files.look().0, 0, "unchanged, and then not settled");
        let last = (0..RETRY_LOOKS).map(|_| files.look()).last();
        assert_eq!(last, Some((1, 0)));
        files.is_good.store(true, Relaxed);
        assert_eq!(files.look(), (2, 2));
        assert_eq!(files.look().0, 2);
        std::fs::remove_file(files.file.path()).unwrap();
        files.is_good.store(false, Relaxed);
        let last = (0..3).map(|_| files.look()).last();
        assert_eq!(last, Some((3, 2)));
    }

    #[test]
    fn a_single_file_is_read_at_once() {
        let mut file = Fixture::new(1);
        file.is_good.store(true, Relaxed);
        assert_eq!(file.look(), (0, 0));
        std::fs::write(file.file.path(), "new").unwrap();
        assert_eq!(file.look(), (1, 1));
    }
}
