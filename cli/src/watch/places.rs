//! Watched places: directories, files that decide about searchability, and references.
//!
//! A push changes `HEAD`, `packed-refs`, `refs` or `reftable`. These are watched, and polled every
//! second, as not every file system notifies.

use fnv::FnvHasher;
use index::corpus;
use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::hash::{Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Each takes about a kilobyte of kernel memory.
const DIRECTORIES_MAX: usize = 500_000;

#[derive(Clone, Debug)]
pub(crate) struct WatchRoots {
    /// Watched recursively.
    pub(crate) roots: Vec<PathBuf>,
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
        let references = git_dirs.iter().flat_map(|it| reference_directories(it));
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

/// Files and directories per repository.
const ENTRIES_MAX: usize = 100_000;

const DEPTH_MAX: usize = 32;

/// Git directory of a work tree, or the path itself.
pub(super) fn git_dir(path: &Path) -> PathBuf {
    let inner = Some(path.join(".git")).filter(|it| it.is_dir());
    inner.unwrap_or_else(|| path.to_owned())
}

fn reference_directories(git_dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![git_dir.to_owned()];
    for name in ["refs", "reftable"] {
        let mut entries = found.len();
        let mut take = |path: &Path, metadata: &Metadata| {
            found.extend(metadata.is_dir().then(|| path.to_owned()));
        };
        visit(&git_dir.join(name), 0, &mut entries, &mut take);
    }
    found
}

/// Hash that changes with the references.
pub(super) fn reference_stamp(git_dir: &Path) -> u64 {
    let mut hasher = FnvHasher::default();
    let mut entries = 0;
    let mut take = |path: &Path, metadata: &Metadata| {
        path.hash(&mut hasher);
        let modified = [metadata.mtime(), metadata.mtime_nsec()];
        let changed = [metadata.ctime(), metadata.ctime_nsec()];
        (modified, changed, metadata.ino(), metadata.len()).hash(&mut hasher);
    };
    for name in ["HEAD", "packed-refs", "refs", "reftable"] {
        visit(&git_dir.join(name), 0, &mut entries, &mut take);
    }
    hasher.finish()
}

/// Follows no symbolic links.
fn visit(path: &Path, depth: usize, entries: &mut usize, take: &mut impl FnMut(&Path, &Metadata)) {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return;
    };
    *entries += 1;
    if *entries > ENTRIES_MAX || depth > DEPTH_MAX {
        return;
    }
    take(path, &metadata);
    if metadata.is_dir() {
        let inside = fs::read_dir(path).into_iter().flatten().take(ENTRIES_MAX);
        let mut paths: Vec<PathBuf> = inside.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            visit(&path, depth + 1, entries, take);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_reference_changes_the_stamp_and_an_object_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir_all(path("refs/heads/a")).unwrap();
        fs::create_dir_all(path("objects")).unwrap();
        fs::write(path("HEAD"), "ref: refs/heads/main\n").unwrap();
        let mut last = reference_stamp(directory.path());
        assert_eq!(reference_stamp(directory.path()), last);
        fs::write(path("objects/x"), "x").unwrap();
        assert_eq!(reference_stamp(directory.path()), last);
        for name in ["refs/heads/main", "refs/heads/a/b", "packed-refs", "HEAD"] {
            fs::write(path("new"), "1234\n").unwrap();
            fs::rename(path("new"), path(name)).unwrap();
            let next = reference_stamp(directory.path());
            assert_ne!(next, last, "{name}");
            last = next;
        }
        let found = reference_directories(directory.path());
        assert_eq!(found.len(), 4, "{found:?}");
    }
}
