//! A git work tree: where git keeps what decides which of its files are searchable.
//!
//! **Invariant:** any `.git` marks a work tree, whether or not it is a valid repository. What cannot be read
//! there tracks and excludes nothing; a damaged or missing index is reported by [`WorkTree::problem`].

use std::cell::{Cell, OnceCell};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git::TrackedFiles;

use super::{SkipReason, Skipped};

/// Bytes of a `.git` or `commondir` file that are read: it holds a keyword and a path.
const LINK_BYTES_MAX: u64 = 8 << 10;

/// A work tree.
#[derive(Debug)]
pub(super) struct WorkTree {
    /// Length in bytes of the path of its root, with the last `/`.
    base: usize,
    /// Its root in messages: empty, or a relative path that ends with `/`.
    label: Vec<u8>,
    root: PathBuf,
    git: GitDirectories,
    /// Read when a pattern matches for the first time; the reason if that failed.
    tracked: OnceCell<Result<Option<TrackedFiles>, String>>,
    is_reported: Cell<bool>,
}

/// The directories of a repository, which are the same unless the work tree is a linked one.
#[derive(Debug)]
struct GitDirectories {
    /// Has the index.
    own: PathBuf,
    /// Has `info/exclude` and the branches.
    common: PathBuf,
}

impl WorkTree {
    /// Returns the work tree with this root; `None` if the directory is none.
    pub(super) fn at(root: &Path, label: &[u8]) -> Option<WorkTree> {
        fs::symlink_metadata(root.join(".git")).ok()?;
        Some(WorkTree {
            base: base(root),
            label: label.to_vec(),
            root: root.to_owned(),
            git: GitDirectories::of(&root.join(".git")),
            tracked: OnceCell::new(),
            is_reported: Cell::new(false),
        })
    }

    /// The file of patterns that is not in the work tree.
    pub(super) fn exclude_file(&self) -> PathBuf {
        self.git.common.join("info/exclude")
    }

    /// Files outside of the work tree that decide, and directories of which the creation does.
    pub(super) fn deciding(&self) -> [PathBuf; 5] {
        [
            self.root.join(".git"),
            self.git.own.join("index"),
            self.git.own.join("commondir"),
            self.git.common.join("info"),
            self.exclude_file(),
        ]
    }

    /// Whether git tracks the file at this absolute path, or anything below the directory.
    pub(super) fn tracks(&self, absolute: &Path, is_directory: bool) -> bool {
        let Ok(Some(tracked)) = self.tracked.get_or_init(|| self.git.read_index()) else {
            return false;
        };
        let path = &absolute.as_os_str().as_bytes()[self.base..];
        if is_directory {
            tracked.has_below(path)
        } else {
            tracked.has_file(path)
        }
    }

    /// Returns the index, if it cannot be read although a pattern has matched; once.
    pub(super) fn take_problem(&self) -> Option<Skipped> {
        let Some(Err(reason)) = self.tracked.get() else {
            return None;
        };
        (!self.is_reported.replace(true)).then_some(())?;
        let is_above = self.label.starts_with(b"../");
        let label = if is_above { &b""[..] } else { &self.label };
        Some(Skipped {
            path: [label, b".git/index"].concat(),
            reason: SkipReason::Unreadable(format!(
                "{reason}; tracked files that a pattern of .gitignore matches are left out"
            )),
        })
    }
}

impl GitDirectories {
    /// Finds the directories for a `.git`: itself, or, when it is a file (`gitdir: PATH`, in a submodule or a
    /// linked work tree), the one that it names. A `commondir` there names the common one.
    fn of(git: &Path) -> GitDirectories {
        let named = || {
            let text = bounded(git, LINK_BYTES_MAX)?;
            let target = text.strip_prefix(b"gitdir:")?.trim_ascii();
            Some(git.parent()?.join(OsStr::from_bytes(target)))
        };
        let own = named().unwrap_or_else(|| git.to_owned());
        let common = bounded(&own.join("commondir"), LINK_BYTES_MAX)
            .map(|text| own.join(OsStr::from_bytes(text.trim_ascii())));
        GitDirectories {
            common: common.unwrap_or_else(|| own.clone()),
            own,
        }
    }

    /// Reads the index. A repository without objects needs none.
    fn read_index(&self) -> Result<Option<TrackedFiles>, String> {
        let index = self.own.join("index");
        if fs::symlink_metadata(&index).is_err() && !self.has_objects() {
            return Ok(None);
        }
        TrackedFiles::read(&index).map(Some)
    }

    /// Whether anything was ever added or fetched.
    fn has_objects(&self) -> bool {
        let objects = self.common.join("objects");
        let has_entries = |path: &Path, empty: &[&str]| {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            let mut names = entries.map(|entry| entry.file_name());
            names.any(|name| !empty.iter().any(|empty| name == *empty))
        };
        has_entries(&objects, &["info", "pack"])
            || has_entries(&objects.join("pack"), &[])
            || objects.join("info/alternates").exists()
    }
}

/// Returns the length of a directory's path with the `/` behind it.
pub(super) fn base(directory: &Path) -> usize {
    let bytes = directory.as_os_str().as_bytes();
    bytes.len() + usize::from(!bytes.ends_with(b"/"))
}

/// Reads the first bytes of a regular file; links are followed.
pub(super) fn bounded(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    // Checked before it is opened: opening a pipe would wait for its other end.
    if !path.is_file() {
        return None;
    }
    let mut text = Vec::new();
    fs::File::open(path)
        .ok()?
        .take(bytes_max)
        .read_to_end(&mut text)
        .ok()?;
    Some(text)
}
