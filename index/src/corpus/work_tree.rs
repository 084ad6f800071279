//! Git work tree: files that decide what is searchable.
//!
//! **Invariant:** any `.git` marks a work tree. Unreadable data tracks and excludes nothing;
//! `take_problem` reports a damaged or missing index.

use super::{SkipReason, Skipped};
use git::TrackedFiles;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A keyword and a path.
const LINK_BYTES_MAX: u64 = 8 << 10;

#[derive(Debug)]
pub(super) struct WorkTree {
    /// Includes the last `/`.
    base: usize,
    /// Root in messages, empty or with a final `/`.
    label: Vec<u8>,
    root: PathBuf,
    /// Git directory with the index; in a linked work tree not the common one.
    own: PathBuf,
    /// Git directory with `info/exclude` and branches.
    common: PathBuf,
    /// Read at the first match.
    tracked: OnceLock<Result<Option<TrackedFiles>, String>>,
    is_reported: AtomicBool,
}

impl WorkTree {
    pub(super) fn at(root: &Path, label: &[u8]) -> Option<WorkTree> {
        fs::symlink_metadata(root.join(".git")).ok()?;
        let (own, common) = git_directories(&root.join(".git"));
        Some(WorkTree {
            base: base(root),
            label: label.to_vec(),
            root: root.to_owned(),
            own,
            common,
            tracked: OnceLock::new(),
            is_reported: AtomicBool::new(false),
        })
    }

    pub(super) fn exclude_file(&self) -> PathBuf {
        self.common.join("info/exclude")
    }

    /// Outside paths that decide exclusion by content or creation.
    pub(super) fn deciding(&self) -> [PathBuf; 5] {
        [
            self.root.join(".git"),
            self.own.join("index"),
            self.own.join("commondir"),
            self.common.join("info"),
            self.exclude_file(),
        ]
    }

    pub(super) fn tracks(&self, absolute: &Path, is_directory: bool) -> bool {
        let Ok(Some(tracked)) = self.tracked.get_or_init(|| self.read_index()) else {
            return false;
        };
        let path = &absolute.as_os_str().as_bytes()[self.base..];
        if is_directory {
            tracked.has_below(path)
        } else {
            tracked.has_file(path)
        }
    }

    /// Unreadable index that was needed, once.
    pub(super) fn take_problem(&self) -> Option<Skipped> {
        let Some(Err(reason)) = self.tracked.get() else {
            return None;
        };
        (!self.is_reported.swap(true, Ordering::Relaxed)).then_some(())?;
        let is_above = self.label.starts_with(b"../");
        let label = if is_above { &b""[..] } else { &self.label };
        Some(Skipped {
            path: [label, b".git/index"].concat(),
            reason: SkipReason::Unreadable(format!(
                "{reason}; tracked files that a pattern of .gitignore matches are left out"
            )),
        })
    }

    /// Optional without objects.
    fn read_index(&self) -> Result<Option<TrackedFiles>, String> {
        let index = self.own.join("index");
        if fs::symlink_metadata(&index).is_err() && !self.has_objects() {
            return Ok(None);
        }
        TrackedFiles::read(&index).map(Some)
    }

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

/// `.git` itself, or the target of a file (`gitdir: PATH`, in submodules and linked work trees);
/// and the common directory, which `commondir` names.
fn git_directories(git: &Path) -> (PathBuf, PathBuf) {
    let named = || {
        let text = bounded(git, LINK_BYTES_MAX)?;
        let target = text.strip_prefix(b"gitdir:")?.trim_ascii();
        Some(git.parent()?.join(OsStr::from_bytes(target)))
    };
    let own = named().unwrap_or_else(|| git.to_owned());
    let common = bounded(&own.join("commondir"), LINK_BYTES_MAX)
        .map(|text| own.join(OsStr::from_bytes(text.trim_ascii())));
    (own.clone(), common.unwrap_or(own))
}

pub(super) fn base(directory: &Path) -> usize {
    let bytes = directory.as_os_str().as_bytes();
    bytes.len() + usize::from(!bytes.ends_with(b"/"))
}

pub(super) fn bounded(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    // Checked first: opening a pipe would block.
    if !path.is_file() {
        return None;
    }
    let mut text = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(bytes_max).read_to_end(&mut text).ok()?;
    Some(text)
}
