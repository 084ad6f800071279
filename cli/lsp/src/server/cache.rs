//! Texts without a file, as read-only files that an editor can open.
//!
//! **Invariant:** every file is below the root. More than [`CACHE_BYTES_MAX`] are held only while a
//! response is written.

use std::collections::HashMap;
use std::fs::{self, Permissions};
use std::io::{Result, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

const CACHE_BYTES_MAX: u64 = 64 << 20;

/// Bytes kept by an eviction, so that it is rare.
const KEPT_BYTES: u64 = CACHE_BYTES_MAX / 4 * 3;

/// Directories around a file.
const DEPTH_MAX: usize = 64;

pub(super) struct TextCache {
    root: PathBuf,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    /// Hashes of the texts that this process has written, by name.
    hashes: HashMap<PathBuf, String>,
    /// Bytes of all files, also of other processes; `None` if unknown.
    bytes: Option<u64>,
}

impl TextCache {
    pub(super) fn new(root: PathBuf) -> TextCache {
        TextCache {
            root,
            written: Mutex::default(),
        }
    }

    /// Package and path of a file of the cache.
    pub(super) fn split<'f>(&self, file: &'f Path) -> Option<(&'f Path, &'f Path)> {
        let name = file.strip_prefix(&self.root).ok()?;
        let package = Path::new(name.components().next()?.as_os_str());
        Some((package, name.strip_prefix(package).ok()?))
    }

    /// File with the text of this hash. `name` has no `..`. `None` if it cannot be written.
    pub(super) fn get_or_write(
        &self,
        name: &Path,
        hash: &str,
        text: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<PathBuf> {
        if name.components().count() > DEPTH_MAX {
            return None;
        }
        let file = self.root.join(name);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.hashes.get(name).is_some_and(|known| known == hash) && file.is_file() {
            return Some(file);
        }
        let text = text()?;
        write(&file, &text).ok()?;
        written.hashes.insert(name.to_owned(), hash.to_owned());
        let bytes = written.bytes.map(|bytes| bytes + text.len() as u64);
        written.bytes = match bytes {
            Some(bytes) if bytes <= CACHE_BYTES_MAX => Some(bytes),
            _ => Some(self.evict(&file)),
        };
        Some(file)
    }

    /// Removes the oldest files if there are too many bytes. Returns the bytes of the rest.
    fn evict(&self, newest: &Path) -> u64 {
        let mut files = Vec::new();
        list(&self.root, DEPTH_MAX, &mut files);
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        if bytes <= CACHE_BYTES_MAX {
            return bytes;
        }
        files.sort();
        for (_, size, file) in files {
            if bytes > KEPT_BYTES && file != newest && fs::remove_file(&file).is_ok() {
                bytes -= size;
            }
        }
        bytes
    }
}

fn write(file: &Path, text: &[u8]) -> Result<()> {
    let directory = file.parent().unwrap_or(file);
    fs::create_dir_all(directory)?;
    // Replaced at once, as an editor may read the old one.
    let mut new = tempfile::NamedTempFile::new_in(directory)?;
    new.write_all(text)?;
    new.as_file()
        .set_permissions(Permissions::from_mode(0o444))?;
    new.persist(file)?;
    Ok(())
}

/// Lists files with times and sizes. Does not follow links.
fn list(directory: &Path, depth: usize, files: &mut Vec<(SystemTime, u64, PathBuf)>) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if metadata.is_dir() && depth > 0 {
            list(&entry.path(), depth - 1, files);
        } else if let Ok(modified) = metadata.modified() {
            files.push((modified, metadata.len(), entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_texts_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let cache = TextCache::new(root.path().to_owned());
        let text = |bytes: u64| Some(vec![b'x'; bytes as usize]);
        let put = |name: &str, hash: &str| {
            let text = || text(CACHE_BYTES_MAX / 3);
            cache.get_or_write(Path::new(name), hash, text).unwrap()
        };
        let files: Vec<_> = ["p/1", "p/2", "q/3", "q/4"]
            .map(|name| put(name, "a"))
            .into();
        let left: Vec<_> = files.iter().map(|file| file.exists()).collect();
        assert_eq!(left, [false, false, true, true]);
        assert!(files[3].metadata().unwrap().permissions().readonly());
        let known = cache.get_or_write(Path::new("q/4"), "a", || None);
        assert_eq!(known.as_ref(), Some(&files[3]));
        assert_eq!(cache.get_or_write(Path::new("q/4"), "b", || None), None);
        assert_eq!(
            cache.get_or_write(Path::new("q/4/x"), "b", || text(1)),
            None
        );
    }
}
