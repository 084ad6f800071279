//! Files: mapped for reading, replaced atomically for writing.

use crate::mapping::{Damage, Mapping};
use std::fs::{self, File};
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub enum Bytes {
    /// Mapped: valid only if [`damage`](Bytes::damage) finds nothing afterwards.
    Mapped(Mapping),
    Owned(Vec<u8>),
}

impl Bytes {
    pub fn damage(&self) -> Option<Damage> {
        match self {
            Bytes::Mapped(mapping) => mapping.damage(),
            Bytes::Owned(_) => None,
        }
    }

    pub fn will_need(&self, range: Range<u64>) {
        if let Bytes::Mapped(mapping) = self {
            mapping.will_need(range);
        }
    }

    /// Starts reading a range unless its last page is in memory.
    pub fn read_ahead(&self, range: Range<u64>) {
        if !range.is_empty() && self.is_cached(range.end - 1) == Some(false) {
            self.will_need(range);
        }
    }

    pub fn is_cached(&self, offset: u64) -> Option<bool> {
        match self {
            Bytes::Mapped(mapping) => mapping.is_cached(offset),
            // Tests read ahead as if from a disk.
            Bytes::Owned(_) => Some(!cfg!(test)),
        }
    }

    /// Fills `buffer` from `offset` on. Reads mapped files, several times faster than faulting
    /// pages.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Bytes::Mapped(mapping) => mapping.read_at(buffer, offset),
            Bytes::Owned(bytes) => {
                buffer.copy_from_slice(&bytes[offset as usize..][..buffer.len()]);
                Ok(())
            }
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(mapping) => mapping,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

pub fn map(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::Owned(Vec::new()));
    }
    Ok(Bytes::Mapped(Mapping::new(file)?))
}

/// A file that gets its name when complete and synced, and is removed otherwise.
pub struct AtomicFile {
    file: Option<File>,
    temporary: PathBuf,
}

impl AtomicFile {
    /// Creates `name` under a temporary name; see [`is_temporary`].
    pub fn create(directory: &Path, name: &str) -> io::Result<Self> {
        let temporary = directory.join(format!("{name}{TEMPORARY_SUFFIX}"));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&temporary)?;
        Ok(AtomicFile {
            file: Some(file),
            temporary,
        })
    }

    pub fn file(&self) -> &File {
        self.file.as_ref().expect("taken only when it is renamed")
    }

    /// Syncs the file before, and the directory after. Replaces a file.
    pub fn rename(mut self, name: &str) -> io::Result<()> {
        let file = self.file.take().expect("taken only here");
        file.sync_all()?;
        let target = self.temporary.with_file_name(name);
        fs::rename(&self.temporary, &target)?;
        let directory = target.parent().unwrap_or(Path::new("."));
        File::open(directory)?.sync_all()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            // Best effort: a later build removes it.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

pub fn anonymous(directory: &Path) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("anonymous-{}-{number}", std::process::id());
    AtomicFile::create(directory, &name)?.file().try_clone()
}

const TEMPORARY_SUFFIX: &str = ".tmp";

pub fn is_temporary(name: &str) -> bool {
    name.ends_with(TEMPORARY_SUFFIX)
}
