//! Which places count: directories with all in them, and single files that decide what is searchable.

use super::references;
use index::corpus;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Directories that are watched at most; each takes about a kilobyte of the kernel's memory.
const DIRECTORIES_MAX: usize = 500_000;

/// What is watched.
#[derive(Clone, Debug)]
pub(crate) struct WatchRoots {
    /// Directories, with all below them.
    pub(crate) roots: Vec<PathBuf>,
    /// Git repositories. Their references count.
    pub(crate) repositories: Vec<PathBuf>,
    /// Directories inside them that do not count: those that this process writes to.
    pub(crate) without: Vec<PathBuf>,
    /// Watch directories that git ignores, too.
    pub(crate) no_ignore: bool,
}

/// The places that are watched.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Directories in which every file counts.
    directories: HashSet<PathBuf>,
    /// Directories in which only files count that decide.
    around: HashSet<PathBuf>,
    deciding: HashSet<PathBuf>,
    /// Directories that do not count: this process writes to them.
    without: Vec<PathBuf>,
}

impl Places {
    /// Finds the places that are there now.
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

    /// The directories to watch.
    pub(super) fn watched(&self) -> impl Iterator<Item = &PathBuf> {
        self.directories.iter().chain(&self.around)
    }

    /// Whether a change of this path counts. Of what is inside of `.git`, only what decides does; `is_entry`: of
    /// `.git` itself, that it was made or removed.
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

    /// Whether a file decides which others are searchable.
    pub(super) fn decides(&self, path: &Path) -> bool {
        let name = path.file_name();
        name.is_some_and(|name| name == ".gitignore" || name == ".git")
            || self.deciding.contains(path)
    }

    fn is_without(&self, path: &Path) -> bool {
        self.without.iter().any(|without| path.starts_with(without))
    }
}
