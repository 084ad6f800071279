//! Reloads changed files.
//!
//! Polls once a second. A change counts after two equal polls, as certificate and key are replaced
//! one by one. Errors are logged once and retried each minute; the old values stay in use.

use crate::terminal::sentence;
use anyhow::Result;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::watch;

/// Changes take at most two polls.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A rejected certificate may become valid.
const RETRY_LOOKS: u32 = 60;

/// Identity, size and times. `None` if unavailable.
type Stamp = Option<[i64; 7]>;

/// Calls `load` now, and after changes.
pub(super) fn watched<T: Send + Sync + 'static>(
    files: Vec<PathBuf>,
    load: impl Fn() -> Result<T> + Send + 'static,
) -> Result<watch::Receiver<Arc<T>>> {
    let stamps = stamps(&files);
    let (sender, receiver) = watch::channel(Arc::new(load()?));
    let watcher = Watcher {
        used: stamps.clone(),
        seen: stamps,
        files,
        load,
        sender,
        refused: None,
        looks: 0,
    };
    thread::Builder::new()
        .name("certificates".to_owned())
        .spawn(move || watcher.run())?;
    Ok(receiver)
}

struct Watcher<T, L> {
    files: Vec<PathBuf>,
    load: L,
    sender: watch::Sender<Arc<T>>,
    used: Vec<Stamp>,
    seen: Vec<Stamp>,
    /// Already logged.
    refused: Option<Vec<Stamp>>,
    looks: u32,
}

impl<T, L: Fn() -> Result<T>> Watcher<T, L> {
    fn run(mut self) {
        while !self.sender.is_closed() {
            thread::sleep(LOOK_EVERY);
            self.look();
        }
    }

    fn look(&mut self) {
        let now = stamps(&self.files);
        let has_settled = now == self.seen;
        self.seen = now;
        self.looks += 1;
        let was_refused = self.refused.as_ref() == Some(&self.seen);
        if !has_settled || self.seen == self.used || (was_refused && self.looks < RETRY_LOOKS) {
            return;
        }
        self.looks = 0;
        // The next poll sees changes meanwhile.
        match (self.load)() {
            Ok(loaded) => {
                self.sender.send_replace(Arc::new(loaded));
                self.used.clone_from(&self.seen);
                self.refused = None;
                tracing::info!(files = ?self.files, "certificates were read again");
            }
            Err(_) if was_refused => {}
            Err(error) => {
                let reason = sentence(&error);
                tracing::error!(
                    reason,
                    "cannot use changed certificates; the old ones stay in use"
                );
                self.refused = Some(self.seen.clone());
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::ensure;
    use std::cell::Cell;

    #[test]
    fn changed_files_are_read_when_they_have_settled_and_faulty_ones_again_each_minute() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = vec![file.path().to_owned()];
        let (sender, receiver) = watch::channel(Arc::new(0));
        let (loads, is_good) = (Cell::new(0), Cell::new(false));
        let mut watcher = Watcher {
            used: stamps(&files),
            seen: stamps(&files),
            files,
            load: || {
                loads.set(loads.get() + 1);
                ensure!(is_good.get(), "it is faulty");
                Ok(loads.get())
            },
            sender,
            refused: None,
            looks: 0,
        };
        watcher.look();
        std::fs::write(file.path(), "new").unwrap();
        watcher.look();
        assert_eq!(loads.get(), 0, "unchanged, and then not settled");
        (0..RETRY_LOOKS).for_each(|_| watcher.look());
        assert_eq!((loads.get(), **receiver.borrow()), (1, 0));
        is_good.set(true);
        watcher.look();
        assert_eq!((loads.get(), **receiver.borrow()), (2, 2));
        watcher.look();
        assert_eq!(loads.get(), 2);
        std::fs::remove_file(file.path()).unwrap();
        is_good.set(false);
        (0..3).for_each(|_| watcher.look());
        assert_eq!((loads.get(), **receiver.borrow()), (3, 2));
    }
}
