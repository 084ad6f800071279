//! Watched places: directories, and files that decide about searchability.

use super::references;
use index::corpus;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Each takes about a kilobyte of kernel memory.
const DIRECTORIES_MAX: usize = 500_000;

#[derive(Clone, Debug)]
pub(crate) struct WatchRoots {
    /// Watched recursively.
    pub(crate) roots: Vec<PathBuf>,
    /// Their references count.
    pub(crate) repositories: Vec<PathBuf>,
    /// This process writes there.
    pub(crate) without: Vec<PathBuf>,
    /// Watches directories that git ignores, too.
    pub(crate) no_ignore: bool,
}

#[derive(Debug, Default)]
pub(super) struct Places {
    /// Watched with every file.
    directories: HashSet<PathBuf>,
    /// Watched for deciding files.
    around: HashSet<PathBuf>,
    deciding: HashSet<PathBuf>,
    without: Vec<PathBuf>,
}

impl Places {
    pub(super) fn find(roots: &WatchRoots, git_dirs: &[PathBuf]) -> Places {
        let mut places = Places {
            without: roots.without.clone(),
            ..Places::default()
        };
        let references = git_dirs.iter().flat_map(|it| references::directories(it));
        places.directories.extend(references.take(DIRECTORIES_MAX));
        for root in &roots.roots {
            let watched = corpus::watched(root, roots.no_ignore);
            let room = DIRECTORIES_MAX.saturating_sub(places.directories.len());
            let outside = watched.directories.into_iter();
            let outside = outside.filter(|path| !places.is_without(path)).take(room);
            let outside: Vec<_> = outside.collect();
            places.directories.extend(outside);
            places.deciding.extend(watched.deciding);
        }
        let around = places.deciding.iter().filter_map(|file| file.parent());
        let around = around.filter(|it| it.is_dir() && !places.directories.contains(*it));
        places.around = around.map(Path::to_owned).collect();
        places
    }

    pub(super) fn watched(&self) -> impl Iterator<Item = &PathBuf> {
        self.directories.iter().chain(&self.around)
    }

    /// True if a change matters: in `around` only of deciding files, of `.git` only if made or
    /// removed (`is_entry`).
    pub(super) fn counts(&self, path: &Path, is_entry: bool) -> bool {
        if self.is_without(path) {
            return false;
        }
        if path.file_name().is_some_and(|name| name == ".git") {
            return is_entry;
        }
        let is_around = path.parent().is_some_and(|it| self.around.contains(it));
        !is_around || self.deciding.contains(path)
    }

    pub(super) fn decides(&self, path: &Path) -> bool {
        let name = path.file_name();
        name.is_some_and(|name| name == ".gitignore" || name == ".git")
            || self.deciding.contains(path)
    }

    fn is_without(&self, path: &Path) -> bool {
        self.without.iter().any(|without| path.starts_with(without))
    }
}
