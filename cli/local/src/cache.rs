//! Indexes of all trees on disk: list, limit and eviction.

use crate::place::{self, Place};
use crate::tree;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of all indexes, without a limit of the user.
const BYTES_MAX: u64 = 10_000_000_000;

/// File with the limit of the user: a number of bytes.
const LIMIT: &str = "limit";

/// Directories of trees, watched or not.
pub(crate) fn indexes(place: &Place) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(&place.indexes).into_iter().flatten();
    let directories = entries.flatten().map(|entry| entry.path());
    directories.filter(|directory| directory.is_dir())
}

pub(crate) fn limit(place: &Place) -> u64 {
    let limit = fs::read_to_string(place.indexes.join(LIMIT)).ok();
    let limit = limit.and_then(|limit| limit.trim().parse().ok());
    limit.unwrap_or(BYTES_MAX)
}

pub(crate) fn set_limit(place: &Place, bytes: u64) -> io::Result<()> {
    let path = place.indexes.join(LIMIT);
    let aside = path.with_extension("new");
    fs::write(&aside, bytes.to_string())?;
    fs::rename(aside, path)
}

/// Removes indexes beyond the limit, the least recently updated first. A tree in use is updated
/// every ten minutes. `release` ends the use of an index by this process; true: it alone is larger.
pub(crate) fn evict(place: &Place, mut release: impl FnMut(&Path, bool)) {
    let updated = |directory: PathBuf| {
        let record = fs::metadata(place::record_in(&directory)).ok()?;
        Some((record.modified().ok()?, directory))
    };
    let mut indexes: Vec<_> = indexes(place).filter_map(updated).collect();
    indexes.sort();
    let directories = || indexes.iter().map(|(_, directory)| &**directory);
    let limit = limit(place);
    for (at, directory) in directories().enumerate() {
        if bytes(directories().skip(at)) <= limit {
            return;
        }
        release(directory, at + 1 == indexes.len());
        let _ = place::remove(directory);
    }
}

/// Lines for the indexes that are not in use, and for all.
pub(crate) fn status(place: &Place, is_in_use: impl Fn(&Path) -> bool) -> String {
    let mut text = String::new();
    for directory in indexes(place) {
        if let Some(root) = tree::root_of(&directory).filter(|_| !is_in_use(&directory)) {
            text += &format!(
                "{}\n  not in use, index {} MB\n",
                root.display(),
                bytes([&*directory]) / 1_000_000
            );
        }
    }
    let all: Vec<_> = indexes(place).collect();
    text += &format!(
        "all indexes {} MB of {}\n",
        bytes(all.iter().map(PathBuf::as_path)) / 1_000_000,
        limit(place) / 1_000_000
    );
    text
}

pub(crate) fn bytes<'a>(directories: impl IntoIterator<Item = &'a Path>) -> u64 {
    let indexes: Vec<_> = directories.into_iter().map(place::index_in).collect();
    place::bytes(indexes.iter().map(PathBuf::as_path))
}
