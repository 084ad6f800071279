//! File that is reread when it changes, to replace keys and secrets at run time.
//!
//! **Invariant:** unusable contents are logged and change nothing: a half-written file locks out no
//! client.

use frontend::joined;
use std::error::Error;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(1);

pub(crate) struct FollowedFile<T, E> {
    path: PathBuf,
    /// Name in the log.
    what: &'static str,
    read: fn(&Path) -> Result<T, E>,
    current: RwLock<Arc<T>>,
    /// Version of the last read, successful or not.
    seen: Mutex<Option<Version>>,
}

/// Device, inode, length and change time.
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

    pub(crate) fn current(&self) -> Arc<T> {
        let current = self.current.read();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    /// Rereads the file while `file` is alive. Needs a tokio runtime.
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

/// `None` without a file.
fn version(path: &Path) -> Option<Version> {
    let about = fs::metadata(path).ok()?;
    let (at, at_ns) = (about.ctime(), about.ctime_nsec());
    Some((about.dev(), about.ino(), about.len(), at, at_ns))
}
