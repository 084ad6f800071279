//! Detects changed files below directories.
//!
//! A notification only triggers a comparison of all files with the index. Rescans find lost
//! notifications, so these cost time, not correctness. Watches directories of searchable files, and
//! git's patterns and indexes anywhere.

mod changes;
mod places;

use changes::FileChanges;
use frontend::CorpusWatch;
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
pub(crate) use places::WatchRoots;
use places::{Places, git_dir, reference_stamp};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

const REFERENCES_EVERY: Duration = Duration::from_secs(1);

/// Listing passes until none is new: directories may appear unwatched.
const PASSES_MAX: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    Changed,
    Elapsed,
}

pub(crate) struct FileWatch {
    roots: WatchRoots,
    /// None if the system has no notifications.
    watcher: Option<RecommendedWatcher>,
    watched: HashSet<PathBuf>,
    /// Git directories, with reference stamps.
    stamps: Vec<(PathBuf, u64)>,
    changes: Arc<FileChanges>,
    /// Files to compare by text: size and times may be unchanged.
    pub(crate) suspects: Vec<PathBuf>,
    pub(crate) listed_in: Duration,
    /// Logged once.
    problem: String,
}

impl FileWatch {
    /// Unwatchable places are logged and rescanned.
    pub(crate) fn start(roots: WatchRoots) -> FileWatch {
        let changes = Arc::new(FileChanges::new());
        let noticed = Arc::clone(&changes);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            noticed.add(&event);
        });
        let git_dirs = roots.repositories.iter().map(|it| git_dir(it));
        let stamps = git_dirs.map(|path| (path.clone(), reference_stamp(&path)));
        let mut watch = FileWatch {
            stamps: stamps.collect(),
            roots,
            watcher: None,
            watched: HashSet::new(),
            changes,
            suspects: Vec::new(),
            listed_in: Duration::ZERO,
            problem: String::new(),
        };
        match watcher {
            Ok(watcher) => watch.watcher = Some(watcher),
            Err(error) => watch.report(&error.to_string()),
        }
        watch.add_directories();
        watch
    }

    pub(crate) fn freshness(&self) -> Arc<dyn CorpusWatch> {
        Arc::clone(&self.changes) as Arc<dyn CorpusWatch>
    }

    /// Waits at most `max` for a change and then a quiet moment. New directories are then watched.
    pub(crate) fn wait(&mut self, max: Duration) -> Woken {
        let deadline = Instant::now() + max;
        loop {
            let step = match &self.stamps[..] {
                [] => deadline,
                _ => deadline.min(Instant::now() + REFERENCES_EVERY),
            };
            for git_dir in self.references_have_changed() {
                self.changes.add_unnotified(&git_dir);
            }
            let taken = self.changes.take(step);
            let is_changed = taken.is_some();
            let is_late = Instant::now() >= deadline;
            // A rescan adds unnoticed or replaced directories.
            let is_new = taken.as_ref().is_some_and(|taken| taken.directories);
            if is_new || (is_late && !is_changed) {
                self.add_directories();
            }
            if let Some(taken) = taken {
                self.suspects.extend(taken.suspects);
                self.references_have_changed();
                return Woken::Changed;
            }
            if is_late {
                return Woken::Elapsed;
            }
        }
    }

    /// Marks changes before the end of the last wait as searched.
    pub(crate) fn searched(&mut self) {
        self.suspects.clear();
        self.changes.searched();
    }

    /// Git directories with changed references.
    fn references_have_changed(&mut self) -> Vec<PathBuf> {
        let stamps = self.stamps.iter_mut();
        let changed = stamps.filter_map(|(git_dir, last)| {
            let stamp = reference_stamp(git_dir);
            (std::mem::replace(last, stamp) != stamp).then(|| git_dir.clone())
        });
        changed.collect()
    }

    fn add_directories(&mut self) {
        let Some(mut watcher) = self.watcher.take() else {
            return;
        };
        let started = Instant::now();
        for _ in 0..PASSES_MAX {
            if !self.add_once(&mut watcher) {
                break;
            }
        }
        self.watcher = Some(watcher);
        self.listed_in = started.elapsed();
    }

    /// Watches existing directories. Returns true if some are new.
    fn add_once(&mut self, watcher: &mut RecommendedWatcher) -> bool {
        let git_dirs: Vec<_> = self.stamps.iter().map(|(path, _)| path.clone()).collect();
        let places = Places::find(&self.roots, &git_dirs);
        let found: HashSet<PathBuf> = places.watched().cloned().collect();
        self.changes.set_places(places);
        let mut problem = None;
        for directory in found.iter().map(|it| &**it).chain(self.changes.questions()) {
            // Includes known ones: the name may be of another directory.
            if let Err(error) = watcher.watch(directory, RecursiveMode::NonRecursive) {
                problem = Some(format!("{}: {error}", directory.display()));
            }
        }
        for gone in self.watched.difference(&found) {
            // Fails if it was removed, which ended its watch.
            let _ = watcher.unwatch(gone);
        }
        let is_new = !found.is_subset(&self.watched);
        self.watched = found;
        self.changes.set_whole(problem.is_none());
        match problem {
            Some(problem) => self.report(&problem),
            None => self.problem.clear(),
        }
        is_new
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    const LONG: Duration = Duration::from_secs(60);

    /// Long enough for a notification that should not come.
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
    fn a_file_that_is_closed_after_a_mapping_is_a_suspect() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mapped");
        fs::write(&path, "x").unwrap();
        let mut watch = watch(directory.path());
        // A mapping is closed like an unwritten file.
        drop(fs::File::options().write(true).open(&path).unwrap());
        assert_eq!(watch.wait(LONG), Woken::Changed);
        assert_eq!(watch.suspects, std::slice::from_ref(&path));
        watch.searched();
        drop(fs::File::open(&path).unwrap());
        assert_eq!(watch.wait(SHORT), Woken::Elapsed);
        assert!(watch.suspects.is_empty());
    }

    #[test]
    fn a_question_waits_for_what_was_written_before() {
        let directory = tempfile::tempdir().unwrap();
        let mut watch = watch(directory.path());
        let freshness = watch.freshness();
        let mut answered = freshness.answered();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let mut wait = |question| {
            runtime
                .block_on(answered.wait_for(|answered| *answered >= question))
                .unwrap();
        };
        let question = freshness.ask();
        wait(question);
        fs::write(directory.path().join("a"), "x").unwrap();
        let question = freshness.ask();
        assert_eq!(watch.wait(LONG), Woken::Changed);
        assert_eq!(freshness.pending(), 1);
        watch.searched();
        wait(question);
        assert_eq!(freshness.pending(), 0);
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
        // References are polled now.
        watch.watcher = None;
        fs::write(path(".git/packed-refs"), "1234 refs/heads/x\n").unwrap();
        watch.changes.take(Instant::now());
        assert_eq!(watch.wait(LONG), Woken::Changed);
    }
}
