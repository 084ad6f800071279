//! A tree with an index, and the paths of it that changed since.
//!
//! A file can match if its document is a candidate, if it changed since the index was brought up
//! to date, or if the index has no text of it. The process [publishes](published) index and paths
//! at each ring of the tree's [`Doorbell`]; a client [reads](narrowed) them.
//!
//! **Invariant:** a changed path stays changed until an update that began after the change is
//! complete. With [`Lost`] changes nothing is published until then.

mod changes;
mod comparison;
mod narrowed;
mod published;
mod record;
mod similar;
mod snapshot;
mod text;
mod update;

pub(crate) use comparison::Comparison;
pub(crate) use narrowed::{Answer, Directories, ask};
pub(crate) use similar::root_of;
pub(crate) use update::index;

use crate::doorbell::Doorbell;
use crate::mounts;
use crate::place::Place;
use crate::watch::{Added, Lost, Watch, absolute, join};
use changes::Changes;
use published::{Base, Publications};
use rustix::io::Errno;
use std::collections::HashSet;
use std::fs::{self, DirEntry, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// With more files than this, a scan is as fast.
const CANDIDATES_MAX: usize = 50_000;

/// Changed paths that are indexed soon, fewer later.
const MANY_CHANGED: usize = 32;

/// An update waits for a pause of this length, but not for ever.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_WAIT_MAX: Duration = Duration::from_secs(10);
const FEW_CHANGED_WAIT: Duration = Duration::from_secs(30);

/// Multiple of its own time that passes after an update: a share of a tenth of a core.
const REST: u32 = 10;
const REST_MIN: Duration = Duration::from_secs(2);
const FAILED_REST: Duration = Duration::from_secs(60);

/// A tree in use is compared with its index, for changes without notification.
const COMPARE_INTERVAL: Duration = Duration::from_secs(600);

pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    directory: PathBuf,
    device: u64,
    inode: u64,
    watches_max: usize,
    bell: Doorbell,
    publications: Publications,
    state: Mutex<State>,
}

enum Coverage {
    /// To be watched.
    Directory,
    /// Changes are seen in its directory.
    File,
    None,
}

struct State {
    watch: Watch,
    /// Index of the last update.
    base: Option<Base>,
    files: u64,
    publication: u64,
    /// Nothing is new since.
    is_published: bool,
    changes: Changes,
    /// Changes were lost since the last update began.
    is_lost: bool,
    /// Answers need an update that began after a loss.
    was_lost: bool,
    /// Times of the first and last change since the last update began.
    change_times: Option<(Instant, Instant)>,
    next_update: Instant,
    updated: Instant,
    asked: Instant,
    /// Mounts below the root.
    mounts: Vec<Vec<u8>>,
    problem: Option<String>,
}

impl Tree {
    /// Watches a directory; the first update indexes it.
    pub(crate) fn new(root: &Path, place: &Place, watches_max: usize) -> io::Result<Tree> {
        let found = fs::symlink_metadata(root)?;
        if !found.is_dir() {
            return Err(io::Error::other("not a directory"));
        }
        let publications = Publications::new(place.publications_of(root));
        place.remove_unserved(root);
        publications.create()?;
        let now = Instant::now();
        Ok(Tree {
            root: root.to_owned(),
            directory: place.directory_of(root),
            device: found.dev(),
            inode: found.ino(),
            watches_max,
            bell: Doorbell::create(&publications.bell())?,
            publications,
            state: Mutex::new(State {
                watch: Watch::new(root)?,
                base: None,
                files: 0,
                publication: 0,
                is_published: false,
                changes: Changes::default(),
                is_lost: true,
                was_lost: true,
                change_times: None,
                next_update: now,
                updated: now,
                asked: now,
                mounts: Vec::new(),
                problem: None,
            }),
        })
    }

    /// Publishes all changes until now for the clients that rang, after `check`.
    pub(crate) fn answer(&self, check: impl FnOnce()) {
        // After a failure the clients compare.
        let _ = self.bell.answer(|| {
            check();
            let mut state = self.state();
            state.asked = Instant::now();
            state.drain();
            state.publish(&self.root, &self.publications)
        });
    }

    pub(crate) fn bell(&self) -> PathBuf {
        self.publications.bell()
    }

    /// Withdraws everything that is published.
    pub(crate) fn end(&self) {
        self.publications.end();
    }

    /// Takes notifications, so that their queue does not overflow.
    pub(crate) fn drain(&self) {
        self.state().drain();
    }

    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.state().watch.descriptor().try_clone_to_owned()
    }

    /// Compares all files if another set of mounts is seen below the root.
    pub(crate) fn check_mounts(&self, table: &mut File) {
        let mounts = mounts::below(table, self.root.as_os_str().as_bytes());
        let mut state = self.state();
        match mounts {
            Ok(mounts) if mounts == state.mounts => {}
            Ok(mounts) => {
                state.mounts = mounts;
                state.is_lost = true;
            }
            Err(_) => state.is_lost = true,
        }
    }

    pub(crate) fn is_due(&self) -> bool {
        let mut state = self.state();
        state.drain();
        let now = Instant::now();
        if now < state.next_update {
            return false;
        }
        let is_asked = state.asked > state.updated;
        if state.is_lost || state.was_lost || state.base.is_none() {
            return is_asked || state.problem.is_none();
        }
        match state.change_times {
            Some((first, last)) => {
                let has_pause = now - last >= PAUSE || now - first >= PAUSE_WAIT_MAX;
                let is_many = state.changes.new_len() >= MANY_CHANGED;
                has_pause && (is_many || now - first >= FEW_CHANGED_WAIT)
            }
            None => is_asked && now - state.updated >= COMPARE_INTERVAL,
        }
    }

    pub(crate) fn asked(&self) -> Instant {
        self.state().asked
    }

    pub(crate) fn status(&self, index_bytes: u64) -> String {
        let mut state = self.state();
        state.drain();
        let mode = match &state.problem {
            Some(problem) => problem.clone(),
            None if state.base.is_none() => "being indexed".to_owned(),
            None if state.is_lost || state.was_lost => "being compared".to_owned(),
            None => "watched".to_owned(),
        };
        format!(
            "{}\n  {mode}, {} files, {} directories watched, {} changed, index {} MB",
            self.root.display(),
            state.files,
            state.watch.len(),
            state.changes.len(),
            index_bytes / 1_000_000,
        )
    }

    /// Watches all directories. Returns paths that notifications do not cover.
    fn watch(&self) -> io::Result<HashSet<Vec<u8>>> {
        let mut uncovered = HashSet::new();
        self.state().watch.begin_round();
        let mut pending = vec![Vec::new()];
        while let Some(path) = pending.pop() {
            let (added, count) = {
                let mut state = self.state();
                (state.watch.add(&path), state.watch.len())
            };
            if count > self.watches_max {
                return Err(io::Error::other(format!(
                    "more than {} directories (half of fs.inotify.max_user_watches)",
                    self.watches_max
                )));
            }
            match added {
                Ok(Added::New) => {}
                Ok(Added::Twice(other)) => {
                    uncovered.extend([path, other]);
                    continue;
                }
                Err(error @ (Errno::NOSPC | Errno::NOMEM)) => return Err(error.into()),
                // Gone, or not readable.
                Err(_) => {
                    uncovered.insert(path);
                    continue;
                }
            }
            let Ok(entries) = fs::read_dir(absolute(&self.root, &path)) else {
                uncovered.insert(path);
                continue;
            };
            for entry in entries {
                let Ok(entry) = entry else {
                    uncovered.insert(path.clone());
                    continue;
                };
                let inner = join(&path, entry.file_name().as_bytes());
                match self.coverage(&entry) {
                    Coverage::Directory => pending.push(inner),
                    Coverage::File => {}
                    Coverage::None => drop(uncovered.insert(inner)),
                }
            }
        }
        self.state().watch.end_round();
        Ok(uncovered)
    }

    fn coverage(&self, entry: &DirEntry) -> Coverage {
        let Ok(found) = entry.metadata() else {
            return Coverage::None;
        };
        // Another file system may have no notifications; git's own data changes often.
        let is_covered = match found.is_dir() {
            true => found.dev() == self.device && entry.file_name() != ".git",
            // A store through another name notifies the directory of that name alone.
            false => found.nlink() == 1,
        };
        match is_covered {
            false => Coverage::None,
            true if found.is_dir() => Coverage::Directory,
            true => Coverage::File,
        }
    }

    /// Tests if the root is still the directory that was offered.
    pub(crate) fn is_present(&self) -> bool {
        let found = fs::symlink_metadata(&self.root);
        found.is_ok_and(|found| (found.dev(), found.ino()) == (self.device, self.inode))
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn drain(&mut self) {
        let mut has_changes = false;
        let drained = self.watch.drain(|path| {
            has_changes = true;
            self.changes.add(path);
        });
        if has_changes {
            self.is_published = false;
            let now = Instant::now();
            let first = self.change_times.map_or(now, |(first, _)| first);
            self.change_times = Some((first, now));
        }
        if matches!(drained, Err(Lost)) || self.changes.is_full() {
            self.is_lost = true;
            self.changes.clear();
        }
    }

    /// Publishes what is new. Returns the number of the publication, or 0 if there is none: the
    /// index is not current, or the disk is full. Clients then compare.
    fn publish(&mut self, root: &Path, publications: &Publications) -> io::Result<u64> {
        let is_current = !self.is_lost && !self.was_lost;
        let Some(base) = self.base.as_ref().filter(|_| is_current) else {
            return Ok(0);
        };
        if !self.is_published {
            self.changes.read(root);
            let number = self.publication + 1;
            if publications
                .write(number, base, &self.changes, &self.mounts)
                .is_err()
            {
                return Ok(0);
            }
            self.publication = number;
            self.is_published = true;
        }
        Ok(self.publication)
    }
}

#[cfg(test)]
mod tests;
