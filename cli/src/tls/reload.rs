//! Reads files again when they change.
//!
//! Files are looked at once a second. A change counts when the files have stayed the same from one look to
//! the next, because a certificate and its key are replaced one after the other. What cannot be read is
//! logged once, tried again, and leaves in use what was read before.

use crate::terminal::sentence;
use anyhow::Result;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::watch;

/// How often files are looked at. A change is in use after two looks at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What changes when a file does: identity, size and times. `None` if it cannot be looked at.
type Stamp = Option<[i64; 7]>;

/// Calls `load`, and again when one of the files has changed.
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
    /// The stamps of the files that are in use.
    used: Vec<Stamp>,
    /// The stamps at the last look.
    seen: Vec<Stamp>,
    /// The stamps of the last files that could not be used, which the log has said.
    refused: Option<Vec<Stamp>>,
}

impl<T, L: Fn() -> Result<T>> Watcher<T, L> {
    /// Looks at the files until nobody uses them.
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
        if !has_settled || self.seen == self.used {
            return;
        }
        // If they change while they are read, the next look sees it.
        match (self.load)() {
            Ok(loaded) => {
                self.sender.send_replace(Arc::new(loaded));
                self.used.clone_from(&self.seen);
                self.refused = None;
                tracing::info!(files = ?self.files, "certificates were read again");
            }
            Err(error) if self.refused.as_ref() != Some(&self.seen) => {
                let reason = sentence(&error);
                tracing::error!(
                    reason,
                    "cannot use changed certificates; the old ones stay in use"
                );
                self.refused = Some(self.seen.clone());
            }
            Err(_) => {}
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
