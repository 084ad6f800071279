//! The file of keys, which is read again when it changes, so that keys can be revoked while the server runs.
//!
//! **Invariant:** contents that cannot be used change nothing: the keys that were read last stay, and the log
//! says why. So a file that is being written never locks everybody out.

use super::keys::KnownKeys;
use frontend::joined;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use std::{fs, io};

/// How often the file is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// Bytes of the file: room for about two thousand keys, each of which is compared with every request.
const BYTES_MAX: u64 = 256 << 10;

/// Why a file of keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadKeyFile {
    /// It cannot be read.
    #[error("cannot read the file of keys {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It has other contents than keys.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line and its fault.
        reason: String,
    },
}

/// The keys in a file.
#[derive(Debug)]
pub struct ApiKeys {
    path: PathBuf,
    current: RwLock<Arc<KnownKeys>>,
    /// The version of the file that was read last, or tried.
    seen: Mutex<Option<Version>>,
}

/// What changes when a file is written or replaced: device, inode, length, and when it changed.
type Version = (u64, u64, u64, i64, i64);

impl ApiKeys {
    /// Reads the keys in a file.
    pub fn open(path: &Path) -> Result<ApiKeys, BadKeyFile> {
        let seen = version(path);
        Ok(ApiKeys {
            current: RwLock::new(Arc::new(read(path)?)),
            seen: Mutex::new(seen),
            path: path.to_owned(),
        })
    }

    pub(super) fn current(&self) -> Arc<KnownKeys> {
        let current = self.current.read();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the file again whenever it changes, while anybody uses these keys. Needs a tokio runtime.
    pub(super) fn follow(keys: &Arc<ApiKeys>) {
        let keys = Arc::downgrade(keys);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(EVERY).await;
                let Some(keys) = keys.upgrade() else { return };
                let read = tokio::task::spawn_blocking(move || keys.read_if_changed());
                joined(read).await;
            }
        });
    }

    fn read_if_changed(&self) {
        let now = version(&self.path);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == now {
            return;
        }
        *seen = now;
        match read(&self.path) {
            Ok(keys) => {
                tracing::info!(file = %self.path.display(), keys = keys.len(), "read the keys again");
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                *current = Arc::new(keys);
            }
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(
                    error,
                    "cannot use the changed file of keys; the earlier keys stay"
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

fn read(path: &Path) -> Result<KnownKeys, BadKeyFile> {
    let mut text = String::new();
    let file = fs::File::open(path).and_then(|file| {
        let mut file = file.take(BYTES_MAX + 1);
        file.read_to_string(&mut text)
    });
    file.map_err(|source| BadKeyFile::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let parsed = if text.len() as u64 > BYTES_MAX {
        Err(format!("at most {BYTES_MAX} bytes are allowed"))
    } else {
        KnownKeys::parse(&text)
    };
    parsed.map_err(|reason| BadKeyFile::Malformed {
        path: path.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::super::keys::NewKey;
    use super::*;

    #[test]
    fn a_changed_key_file_is_read_again_and_bad_contents_change_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let (a, b) = (NewKey::random("a").unwrap(), NewKey::random("b").unwrap());
        fs::write(&path, format!("{}\n{}\n", a.line, b.line)).unwrap();
        let keys = ApiKeys::open(&path).unwrap();
        let knows = |key: &NewKey| keys.current().name_of(key.key.as_bytes()).is_some();
        assert!(knows(&a) && knows(&b));
        // Other contents of the same length, in a new file as an editor writes it.
        let c = NewKey::random("c").unwrap();
        fs::write(
            directory.path().join("new"),
            format!("{}\n{}\n", c.line, b.line),
        )
        .unwrap();
        fs::rename(directory.path().join("new"), &path).unwrap();
        keys.read_if_changed();
        assert!(!knows(&a) && knows(&b) && knows(&c));
        for bad in ["", "b", &a.key] {
            fs::write(&path, bad).unwrap();
            keys.read_if_changed();
            assert!(knows(&b) && knows(&c), "{bad}");
        }
        fs::remove_file(&path).unwrap();
        keys.read_if_changed();
        assert!(knows(&b));
        fs::write(&path, a.line.as_bytes()).unwrap();
        keys.read_if_changed();
        assert!(knows(&a) && !knows(&b));
    }

    #[test]
    fn a_key_file_that_cannot_be_used_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let error = || ApiKeys::open(&path).unwrap_err().to_string();
        assert!(error().contains("cannot read the file of keys"));
        fs::write(&path, " \n").unwrap();
        assert!(error().contains("no keys"));
        fs::write(&path, "#".repeat(BYTES_MAX as usize + 1)).unwrap();
        assert!(error().contains("at most 262144 bytes"));
        fs::write(&path, b"\xff").unwrap();
        assert!(error().contains("cannot read"));
    }
}
