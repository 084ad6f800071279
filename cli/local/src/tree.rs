//! A tree with an index: which of its files can match, at this moment.
//!
//! A file can match if its document is a candidate, if it changed since the index was brought up
//! to date, or if the index has no text of it. There is no table of the other files: the client
//! walks the tree itself, and enters the directories of the answer.
//!
//! **Invariant:** a changed path stays changed until an update that began after the change is
//! complete. With [`Lost`] changes there is no answer until then.

mod comparison;
mod record;
mod snapshot;
mod update;

pub(crate) use comparison::Comparison;
pub(crate) use update::index;

use crate::message::{Directories, Narrowed, Reply};
use crate::watch::{Added, Lost, Watch, absolute, join, split};
use index::plan::DocumentQuery;
use rustix::io::Errno;
use snapshot::Snapshot;
use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Changed paths; beyond, all files are compared.
const CHANGED_MAX: usize = 50_000;

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
    mount_namespace: u64,
    watches_max: usize,
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
    snapshot: Option<Arc<Snapshot>>,
    /// Changed since the last update began.
    changed: HashSet<Vec<u8>>,
    /// Changed before; the update that runs clears it.
    updating: HashSet<Vec<u8>>,
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
    mounts: Vec<u8>,
    questions: u64,
    narrowed: u64,
    problem: Option<String>,
}

impl Tree {
    /// Watches a directory; the first update indexes it.
    pub(crate) fn new(
        root: &Path,
        directory: PathBuf,
        mount_namespace: u64,
        watches_max: usize,
    ) -> io::Result<Tree> {
        let found = fs::symlink_metadata(root)?;
        if !found.is_dir() {
            return Err(io::Error::other("not a directory"));
        }
        let now = Instant::now();
        Ok(Tree {
            root: root.to_owned(),
            directory,
            device: found.dev(),
            inode: found.ino(),
            mount_namespace,
            watches_max,
            state: Mutex::new(State {
                watch: Watch::new(root)?,
                snapshot: None,
                changed: HashSet::new(),
                updating: HashSet::new(),
                is_lost: true,
                was_lost: true,
                change_times: None,
                next_update: now,
                updated: now,
                asked: now,
                mounts: Vec::new(),
                questions: 0,
                narrowed: 0,
                problem: None,
            }),
        })
    }

    /// Directories to enter at or below `directory`, a relative path, for matches of at least
    /// `match_bytes`.
    pub(crate) fn narrowed(
        &self,
        directory: &[u8],
        query: &DocumentQuery,
        match_bytes: usize,
    ) -> Reply {
        let (snapshot, changed) = {
            let mut state = self.state();
            state.asked = Instant::now();
            state.questions += 1;
            state.drain();
            if query.is_all() {
                return Reply::All;
            }
            let snapshot = state.snapshot.clone();
            let Some(snapshot) = snapshot.filter(|_| !state.is_lost && !state.was_lost) else {
                return Reply::Stale;
            };
            let changed = state.updating.iter().chain(&state.changed);
            let changed: HashSet<Vec<u8>> = changed.cloned().collect();
            (snapshot, changed)
        };
        let mut answer = Answer {
            scope: directory,
            open: [&snapshot.open, &changed],
            // A directory without a key is one that the index does not know.
            directories: Directories::from([(directory.to_vec(), HashSet::new())]),
            count: 0,
        };
        let is_complete = answer.is_searchable(directory)
            && snapshot
                .open
                .iter()
                .chain(&changed)
                .all(|path| answer.add(path))
            && snapshot
                .binary
                .iter()
                .all(|(path, head)| *head < match_bytes || answer.add(path))
            && snapshot
                .each_candidate(query, |path| answer.add(path))
                .unwrap_or(false);
        if !is_complete {
            return Reply::All;
        }
        self.state().narrowed += 1;
        Reply::Narrowed(Narrowed {
            root: self.root.as_os_str().as_bytes().to_vec(),
            device: self.device,
            inode: self.inode,
            mount_namespace: self.mount_namespace,
            directories: answer.directories,
        })
    }

    /// Takes notifications, so that their queue does not overflow.
    pub(crate) fn drain(&self) {
        self.state().drain();
    }

    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.state().watch.descriptor().try_clone_to_owned()
    }

    /// Compares all files if another set of mounts is seen below the root.
    pub(crate) fn check_mounts(&self, all: &[u8]) {
        let root = escaped(self.root.as_os_str().as_bytes());
        let is_below = |line: &&[u8]| {
            let point = line.split(|&byte| byte == b' ').nth(4);
            point.is_some_and(|point| point.len() > root.len() && point.starts_with(&root))
        };
        let lines = all.split(|&byte| byte == b'\n').filter(is_below);
        let mounts = lines.collect::<Vec<_>>().join(&b'\n');
        let mut state = self.state();
        if state.mounts != mounts {
            state.mounts = mounts;
            state.is_lost = true;
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
        if state.is_lost || state.was_lost || state.snapshot.is_none() {
            return is_asked || state.problem.is_none();
        }
        match state.change_times {
            Some((first, last)) => {
                let has_pause = now - last >= PAUSE || now - first >= PAUSE_WAIT_MAX;
                let is_many = state.changed.len() >= MANY_CHANGED;
                has_pause && (is_many || now - first >= FEW_CHANGED_WAIT)
            }
            None => is_asked && now - state.updated >= COMPARE_INTERVAL,
        }
    }

    pub(crate) fn asked(&self) -> Instant {
        self.state().asked
    }

    pub(crate) fn is_ready(&self) -> bool {
        let state = self.state();
        state.snapshot.is_some() && !state.is_lost && !state.was_lost
    }

    /// A line for the user.
    pub(crate) fn status(&self, index_bytes: u64) -> String {
        let mut state = self.state();
        state.drain();
        let mode = match &state.problem {
            Some(problem) => problem.clone(),
            None if state.snapshot.is_none() => "being indexed".to_owned(),
            None if state.is_lost || state.was_lost => "being compared".to_owned(),
            None => "watched".to_owned(),
        };
        let files = state.snapshot.as_ref().map_or(0, |snapshot| snapshot.files);
        format!(
            "{}\n  {mode}, {files} files, {} directories watched, {} changed, index {} MB, {} of \
             {} searches narrowed",
            self.root.display(),
            state.watch.len(),
            state.changed.len() + state.updating.len(),
            index_bytes / 1_000_000,
            state.narrowed,
            state.questions,
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
        let changed = &mut self.changed;
        let mut has_changes = false;
        let drained = self.watch.drain(|path| {
            has_changes = true;
            changed.insert(path);
        });
        if has_changes {
            let now = Instant::now();
            let first = self.change_times.map_or(now, |(first, _)| first);
            self.change_times = Some((first, now));
        }
        if matches!(drained, Err(Lost)) || self.changed.len() > CHANGED_MAX {
            self.is_lost = true;
            self.changed.clear();
        }
    }
}

/// Escapes a path as `/proc/self/mountinfo` does.
fn escaped(path: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(path.len());
    for &byte in path {
        match byte {
            b' ' | b'\t' | b'\n' | b'\\' => escaped.extend(format!("\\{byte:03o}").bytes()),
            _ => escaped.push(byte),
        }
    }
    escaped
}

/// Directories to enter, in progress.
struct Answer<'a> {
    scope: &'a [u8],
    /// Paths without a document, or with one that is out of date.
    open: [&'a HashSet<Vec<u8>>; 2],
    directories: Directories,
    count: usize,
}

impl Answer<'_> {
    /// Adds a path with the directories above it. Returns false once there are too many.
    fn add(&mut self, path: &[u8]) -> bool {
        let (directory, name) = split(path);
        let is_in_scope = self.scope.is_empty()
            || (directory.starts_with(self.scope)
                && [None, Some(&b'/')].contains(&directory.get(self.scope.len())));
        if !is_in_scope {
            return true;
        }
        if let Some(names) = self.directories.get_mut(directory) {
            names.insert(name.to_vec());
        } else {
            // Searched as a whole, since a directory above is open.
            if !self.is_searchable(directory) {
                return true;
            }
            let names = HashSet::from([name.to_vec()]);
            self.directories.insert(directory.to_vec(), names);
            let mut above = directory;
            while !above.is_empty() {
                above = split(above).0;
                self.directories.entry(above.to_vec()).or_default();
            }
        }
        self.count += 1;
        self.count <= CANDIDATES_MAX
    }

    /// Tests that a directory and all above it are known.
    fn is_searchable(&self, directory: &[u8]) -> bool {
        let mut path = directory;
        while !path.is_empty() {
            if self.open.iter().any(|open| open.contains(path)) {
                return false;
            }
            path = split(path).0;
        }
        // The root itself.
        !self.open.iter().any(|open| open.contains(&b""[..]))
    }
}

#[cfg(test)]
mod tests;
