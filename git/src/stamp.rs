//! Detects changes of a file or directory.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A second change within this time may go unnoticed.
const RACY_NS: i128 = 2_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(Option<Seen>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    bytes: u64,
    changed_ns: i128,
    is_dir: bool,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Stamp {
        let seen = |metadata: Metadata| Seen {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            changed_ns: i128::from(metadata.mtime()) * 1_000_000_000
                + i128::from(metadata.mtime_nsec()),
            is_dir: metadata.is_dir(),
        };
        Stamp(path.metadata().ok().map(seen))
    }

    pub(crate) fn of_paths(paths: impl IntoIterator<Item = PathBuf>) -> Vec<(PathBuf, Stamp)> {
        let stamped = |path: PathBuf| (path.clone(), Stamp::of(&path));
        paths.into_iter().map(stamped).collect()
    }

    /// A directory may have changed content.
    pub(crate) fn is_same(&self, earlier: &Stamp) -> bool {
        match (self.0, earlier.0) {
            (Some(now), Some(then)) if now.is_dir && then.is_dir => {
                (now.device, now.inode) == (then.device, then.inode)
            }
            (now, then) => now == then,
        }
    }

    /// True if a later change would show.
    pub(crate) fn is_settled(&self) -> bool {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = since.map_or(0, |since| since.as_nanos() as i128);
        self.0.is_none_or(|seen| now - seen.changed_ns > RACY_NS)
    }
}
