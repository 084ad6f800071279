//! Locates a repository's references, and detects changes.
//!
//! A push changes `HEAD`, `packed-refs`, `refs` or `reftable`. These are watched, and polled every
//! second, as not every file system notifies.

use fnv::FnvHasher;
use std::fs::{self, Metadata};
use std::hash::{Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files and directories per repository.
const ENTRIES_MAX: usize = 100_000;

const DEPTH_MAX: usize = 32;

/// Git directory of a work tree, or the path itself.
pub(super) fn git_dir(path: &Path) -> PathBuf {
    let inner = Some(path.join(".git")).filter(|it| it.is_dir());
    inner.unwrap_or_else(|| path.to_owned())
}

pub(super) fn directories(git_dir: &Path) -> Vec<PathBuf> {
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
pub(super) fn stamp(git_dir: &Path) -> u64 {
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
        let mut last = stamp(directory.path());
        assert_eq!(stamp(directory.path()), last);
        fs::write(path("objects/x"), "x").unwrap();
        assert_eq!(stamp(directory.path()), last);
        for name in ["refs/heads/main", "refs/heads/a/b", "packed-refs", "HEAD"] {
            fs::write(path("new"), "1234\n").unwrap();
            fs::rename(path("new"), path(name)).unwrap();
            let next = stamp(directory.path());
            assert_ne!(next, last, "{name}");
            last = next;
        }
        let found = directories(directory.path());
        assert_eq!(found.len(), 4, "{found:?}");
    }
}
