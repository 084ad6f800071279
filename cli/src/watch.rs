//! Notices that files below some directories have changed.
//!
//! A notification of the file system only says that something changed; the caller then compares all
//! files with the index. The next rescan finds a change whose notification was lost, so a lost
//! notification costs time, not correctness. Directories that git ignores are not watched.
//! **Invariant:** nothing is queued. However many files change, this holds two times and a flag.

mod references;

use ignore::WalkBuilder;
use notify::event::{CreateKind, ModifyKind, RenameMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Changes that follow each other this closely are one: programs write a file in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// Longest time that a change waits for others.
const DELAY_MAX: Duration = Duration::from_millis(500);

/// How often the references of repositories are looked at, besides notifications.
const REFERENCES_EVERY: Duration = Duration::from_secs(1);

/// Directories that are watched at most; each takes about a kilobyte of the kernel's memory.
const DIRECTORIES_MAX: usize = 500_000;

/// What is watched.
#[derive(Clone, Debug)]
pub(crate) struct WatchRoots {
    /// Directories, with all below them.
    pub(crate) roots: Vec<PathBuf>,
    /// Git repositories, of which the references count.
    pub(crate) repositories: Vec<PathBuf>,
    /// Directories inside them that do not count: those that this process writes to.
    pub(crate) without: Vec<PathBuf>,
    /// Watch directories that git ignores, too.
    pub(crate) no_ignore: bool,
}

/// Why [`FileWatch::wait`] has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Something has changed.
    Changed,
    /// Nothing was noticed for as long as was asked.
    Elapsed,
}

/// Watches directories until it is dropped.
pub(crate) struct FileWatch {
    roots: WatchRoots,
    /// None if this system has no notifications.
    watcher: Option<RecommendedWatcher>,
    watched: HashSet<PathBuf>,
    /// The git directories of the repositories, each with the stamp of its references.
    stamps: Vec<(PathBuf, u64)>,
    changes: Arc<FileChanges>,
    /// The last problem, which is logged once.
    problem: String,
}

#[derive(Default)]
struct FileChanges {
    pending: Mutex<PendingChanges>,
    woken: Condvar,
}

#[derive(Default)]
struct PendingChanges {
    /// When the first and the last change were noticed that nobody has taken yet.
    times: Option<(Instant, Instant)>,
    /// A directory may have been added.
    directories: bool,
}

impl FileWatch {
    /// Begins to watch. What cannot be watched is logged, and found by rescans.
    pub(crate) fn start(roots: WatchRoots) -> FileWatch {
        let changes = Arc::new(FileChanges::default());
        let (noticed, without) = (Arc::clone(&changes), roots.without.clone());
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            noticed.add(&event, &without);
        });
        let git_dirs = roots
            .repositories
            .iter()
            .map(|path| references::git_dir(path));
        let stamps = git_dirs
            .map(|path| (path.clone(), references::stamp(&path)))
            .collect();
        let mut watch = FileWatch {
            roots,
            watcher: None,
            watched: HashSet::new(),
            stamps,
            changes,
            problem: String::new(),
        };
        match watcher {
            Ok(watcher) => watch.watcher = Some(watcher),
            Err(error) => watch.report(&error.to_string()),
        }
        watch.add_directories();
        watch
    }

    /// Waits until something has changed and then nothing for a moment; at most so long. Directories that
    /// are new are watched when it returns.
    pub(crate) fn wait(&mut self, max: Duration) -> Woken {
        let deadline = Instant::now() + max;
        loop {
            let step = match self.stamps.is_empty() {
                true => deadline,
                false => deadline.min(Instant::now() + REFERENCES_EVERY),
            };
            let taken = self.changes.take(step);
            let is_late = Instant::now() >= deadline;
            let is_changed = self.references_have_changed() || taken.is_some();
            // After a rescan also those whose notification was lost, or that replace a watched one.
            let is_new = taken.is_some_and(|taken| taken.directories);
            if is_new || (is_late && !is_changed) {
                self.add_directories();
            }
            if is_changed {
                return Woken::Changed;
            }
            if is_late {
                return Woken::Elapsed;
            }
        }
    }

    /// Whether a reference has changed since it was last asked.
    fn references_have_changed(&mut self) -> bool {
        let mut is_changed = false;
        for (git_dir, last) in &mut self.stamps {
            let stamp = references::stamp(git_dir);
            is_changed |= stamp != *last;
            *last = stamp;
        }
        is_changed
    }

    /// Watches the directories that are there.
    fn add_directories(&mut self) {
        let Some(mut watcher) = self.watcher.take() else {
            return;
        };
        let mut found = HashSet::new();
        let mut problem = None;
        for directory in self.directories().take(DIRECTORIES_MAX) {
            // Again, even if it is known: another directory may have its name now.
            if let Err(error) = watcher.watch(&directory, RecursiveMode::NonRecursive) {
                problem = Some(format!("{}: {error}", directory.display()));
            }
            found.insert(directory);
        }
        for gone in self.watched.difference(&found) {
            // Fails if it was removed, which ended its watch.
            let _ = watcher.unwatch(gone);
        }
        self.watched = found;
        self.watcher = Some(watcher);
        match problem {
            Some(problem) => self.report(&problem),
            None => self.problem.clear(),
        }
    }

    fn directories(&self) -> impl Iterator<Item = PathBuf> {
        let without = self.roots.without.clone();
        let no_ignore = self.roots.no_ignore;
        let git_dirs = self.stamps.iter();
        let of_references = git_dirs.flat_map(|(git_dir, _)| references::directories(git_dir));
        let of_files = self.roots.roots.iter().flat_map(move |root| {
            let without = without.clone();
            let walk = WalkBuilder::new(root)
                .hidden(false)
                .ignore(false)
                .git_global(false)
                .git_ignore(!no_ignore)
                .git_exclude(!no_ignore)
                .filter_entry(move |entry| counts(entry.path(), &without))
                .build();
            let entries = walk.filter_map(Result::ok);
            entries
                .filter(|entry| {
                    // A root may be a link.
                    entry.depth() == 0 || entry.file_type().is_some_and(|kind| kind.is_dir())
                })
                .map(ignore::DirEntry::into_path)
        });
        of_references.chain(of_files)
    }

    fn report(&mut self, problem: &str) {
        if self.problem != problem {
            tracing::warn!(
                %problem,
                "cannot watch all directories; changes there are found by rescans alone (see `max_user_watches` \
                 in `man 7 inotify`)"
            );
            problem.clone_into(&mut self.problem);
        }
    }
}

impl FileChanges {
    fn add(&self, event: &notify::Result<Event>, without: &[PathBuf]) {
        let directories = match event {
            Ok(event) if !is_change(event, without) => return,
            Ok(event) => may_add_directory(event),
            // Something was lost.
            Err(_) => true,
        };
        let now = Instant::now();
        let mut pending = self.lock();
        let first = pending.times.map_or(now, |(first, _)| first);
        pending.times = Some((first, now));
        pending.directories |= directories;
        self.woken.notify_all();
    }

    /// Takes the changes when they have come to rest. None: there were none until `deadline`.
    fn take(&self, deadline: Instant) -> Option<PendingChanges> {
        let mut pending = self.lock();
        loop {
            let now = Instant::now();
            let until = match pending.times {
                Some((first, last)) => (last + QUIET).min(first + DELAY_MAX),
                None => deadline,
            };
            if now >= until {
                let taken = std::mem::take(&mut *pending);
                return taken.times.is_some().then_some(taken);
            }
            let waited = self.woken.wait_timeout(pending, until - now);
            pending = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A panic leaves it valid.
    fn lock(&self) -> MutexGuard<'_, PendingChanges> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a path counts: neither git's own files, nor what this process writes.
fn counts(path: &Path, without: &[PathBuf]) -> bool {
    path.file_name().is_none_or(|name| name != ".git")
        && !without.iter().any(|without| path.starts_with(without))
}

fn is_change(event: &Event, without: &[PathBuf]) -> bool {
    let is_read = matches!(event.kind, EventKind::Access(_));
    // Without paths it says that notifications were lost.
    let any = event.paths.is_empty() || event.paths.iter().any(|path| counts(path, without));
    (!is_read && any) || event.need_rescan()
}

fn may_add_directory(event: &Event) -> bool {
    let moved_here = EventKind::Modify(ModifyKind::Name(RenameMode::To));
    let moved = EventKind::Modify(ModifyKind::Name(RenameMode::Both));
    let is_created = matches!(event.kind, EventKind::Create(kind) if kind != CreateKind::File);
    is_created || event.kind == moved_here || event.kind == moved || event.need_rescan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const LONG: Duration = Duration::from_secs(60);

    /// Short, but long enough for a notification that should not come.
    const SHORT: Duration = Duration::from_millis(300);

    fn watch(directory: &Path) -> FileWatch {
        FileWatch::start(WatchRoots {
            roots: vec![directory.to_owned()],
            repositories: Vec::new(),
            without: vec![directory.join("index")],
            no_ignore: false,
        })
    }

    #[test]
    fn a_changed_file_is_noticed_also_in_a_new_directory() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("a")).unwrap();
        let mut watch = watch(directory.path());
        fs::write(path("a/file"), "x").unwrap();
        assert_eq!(watch.wait(LONG), Woken::Changed);
        fs::create_dir_all(path("b/c")).unwrap();
        assert_eq!(watch.wait(LONG), Woken::Changed);
        fs::write(path("b/c/file"), "x").unwrap();
        assert_eq!(watch.wait(LONG), Woken::Changed);
        // One that replaces a directory of the same name.
        fs::remove_dir_all(path("b")).unwrap();
        assert_eq!(watch.wait(LONG), Woken::Changed);
        fs::create_dir_all(path("b/c")).unwrap();
        assert_eq!(watch.wait(LONG), Woken::Changed);
        fs::write(path("b/c/file"), "x").unwrap();
        assert_eq!(watch.wait(LONG), Woken::Changed);
        fs::rename(path("b/c/file"), path("b/file")).unwrap();
        assert_eq!(watch.wait(LONG), Woken::Changed);
        assert_eq!(watch.wait(SHORT), Woken::Elapsed);
    }

    #[test]
    fn what_git_ignores_and_what_this_process_writes_wakes_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in [".git", "target/debug", "index", "source"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        fs::write(path(".gitignore"), "target\n").unwrap();
        let mut watch = watch(directory.path());
        for name in [".git/HEAD", "target/debug/x", "index/manifest"] {
            fs::write(path(name), "x").unwrap();
        }
        fs::read(path(".gitignore")).unwrap();
        assert_eq!(watch.wait(SHORT), Woken::Elapsed);
        fs::write(path("source/x"), "x").unwrap();
        assert_eq!(watch.wait(LONG), Woken::Changed);
    }

    #[test]
    fn a_push_is_noticed_by_the_references_of_a_repository() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir_all(path(".git/refs/heads")).unwrap();
        fs::create_dir_all(path(".git/objects")).unwrap();
        fs::write(path(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let mut watch = FileWatch::start(WatchRoots {
            roots: Vec::new(),
            repositories: vec![directory.path().to_owned()],
            without: Vec::new(),
            no_ignore: false,
        });
        fs::write(path("file"), "x").unwrap();
        fs::write(path(".git/objects/x"), "x").unwrap();
        assert_eq!(watch.wait(SHORT), Woken::Elapsed);
        fs::write(path(".git/refs/heads/main"), "1234\n").unwrap();
        assert_eq!(watch.wait(LONG), Woken::Changed);
        // Without a notification the references are looked at.
        watch.watcher = None;
        fs::write(path(".git/packed-refs"), "1234 refs/heads/x\n").unwrap();
        watch.changes.take(Instant::now());
        assert_eq!(watch.wait(LONG), Woken::Changed);
    }

    #[test]
    fn steady_changes_are_taken_after_half_a_second() {
        let changes = FileChanges::default();
        let first = Instant::now();
        let last = first + LONG;
        changes.lock().times = Some((first, last));
        assert!(changes.take(first + LONG).is_some());
        let waited = first.elapsed();
        assert!((DELAY_MAX..LONG).contains(&waited), "{waited:?}");
        assert!(changes.take(Instant::now()).is_none());
    }
}
