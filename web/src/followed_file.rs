//! A file that is read again when it changes, so that keys and secrets can be replaced while the server runs.
//!
//! **Invariant:** contents that cannot be used change nothing: what was read last stays, and the log says why. So a
//! file that is being written never locks anybody out.

use frontend::joined;
use std::error::Error;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// How often the file is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// What a file has, read by `read`.
pub(crate) struct FollowedFile<T, E> {
    path: PathBuf,
    /// What the file is, for the log.
    what: &'static str,
    read: fn(&Path) -> Result<T, E>,
    current: RwLock<Arc<T>>,
    /// The version of the file that was read last, or tried.
    seen: Mutex<Option<Version>>,
}

/// What changes when a file is written or replaced: device, inode, length, and when it changed.
type Version = (u64, u64, u64, i64, i64);

impl<T, E> std::fmt::Debug for FollowedFile<T, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FollowedFile").field(&self.path).finish()
    }
}

impl<T, E> FollowedFile<T, E>
where
    T: Send + Sync + 'static,
    E: Error + 'static,
{
    /// Reads a file.
    pub(crate) fn open(
        path: &Path,
        what: &'static str,
        read: fn(&Path) -> Result<T, E>,
    ) -> Result<FollowedFile<T, E>, E> {
        let seen = version(path);
        Ok(FollowedFile {
            current: RwLock::new(Arc::new(read(path)?)),
            seen: Mutex::new(seen),
            path: path.to_owned(),
            what,
            read,
        })
    }

    /// What was read last.
    pub(crate) fn current(&self) -> Arc<T> {
        let current = self.current.read();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the file again whenever it changes, while anybody uses it. Needs a tokio runtime.
    pub(crate) fn follow(file: &Arc<FollowedFile<T, E>>) {
        let file = Arc::downgrade(file);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(EVERY).await;
                let Some(file) = file.upgrade() else { return };
                let read = tokio::task::spawn_blocking(move || file.read_if_changed());
                joined(read).await;
            }
        });
    }

    pub(crate) fn read_if_changed(&self) {
        let now = version(&self.path);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == now {
            return;
        }
        *seen = now;
        let file = self.path.display();
        match (self.read)(&self.path) {
            Ok(read) => {
                tracing::info!(%file, "read the file of {} again", self.what);
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                *current = Arc::new(read);
            }
            Err(error) => {
                let error: &dyn Error = &error;
                tracing::error!(
                    error,
                    "cannot use the changed file of {0}; the earlier {0} stay",
                    self.what
                );
            }
        }
    }
}

/// `None` if there is no such file.
fn version(path: &Path) -> Option<Version> {
    let about = fs::metadata(path).ok()?;
    let (at, at_ns) = (about.ctime(), about.ctime_nsec());
    Some((about.dev(), about.ino(), about.len(), at, at_ns))
}
