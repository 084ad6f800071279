//! Directories of the index process: socket and indexes, of this user alone.
//!
//! The socket is named after the running binary, so that only equal builds talk to each other.

use fnv::FnvHasher;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::{self, DirBuilder, File};
use std::hash::Hasher;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, thread};

/// Name below the runtime directory and below the cache directory.
const NAME: &str = "trawl";

const LOCK: &str = "lock";

const INDEX_LOCK: &str = "lock";

pub(crate) struct Place {
    pub(crate) sockets: PathBuf,
    /// A directory for each tree.
    pub(crate) indexes: PathBuf,
    build: u64,
}

impl Place {
    pub(crate) fn new(cache: Option<&Path>) -> Option<Place> {
        let cache = cache?.join("local");
        let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let runtime = runtime.filter(|path| path.is_absolute() && is_private(path));
        Some(Place {
            sockets: runtime.map_or_else(|| cache.clone(), |runtime| runtime.join(NAME)),
            indexes: cache,
            build: build().ok()?,
        })
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.sockets.join(format!("{:016x}.socket", self.build))
    }

    /// Locked by the process of this build. Readable in a sandbox, unlike the socket.
    pub(crate) fn lock(&self) -> PathBuf {
        let name = format!("{:016x}", self.build);
        self.indexes.join(name).with_extension(LOCK)
    }

    /// Tests if a process of this build serves.
    pub(crate) fn is_served(&self) -> bool {
        is_locked(&self.lock()) && is_private(&self.indexes)
    }

    pub(crate) fn publications_of(&self, root: &Path) -> PathBuf {
        self.directory_of(root).join(format!("{:016x}", self.build))
    }

    pub(crate) fn directory_of(&self, root: &Path) -> PathBuf {
        let mut hasher = FnvHasher::default();
        hasher.write(root.as_os_str().as_bytes());
        self.indexes.join(format!("{:016x}", hasher.finish()))
    }

    /// Removes what processes of other builds published of a tree and no longer serve.
    pub(crate) fn remove_unserved(&self, root: &Path) {
        let of = self.directory_of(root);
        let entries = fs::read_dir(&of).into_iter().flatten().flatten();
        let directories = entries.map(|entry| entry.path());
        for directory in directories.filter(|path| *path != index_in(&of) && path.is_dir()) {
            let name = directory.file_name().unwrap_or_default();
            if !is_locked(&self.indexes.join(name).with_extension(LOCK)) {
                let _ = remove(&directory);
            }
        }
    }

    /// Creates the directories. Fails if one is not of this user alone.
    pub(crate) fn create(&self) -> io::Result<()> {
        for directory in [&self.indexes, &self.sockets] {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700).create(directory)?;
            if !is_private(directory) {
                let path = directory.display();
                return Err(io::Error::other(format!(
                    "{path} is not a directory that only you can use; remove it"
                )));
            }
        }
        Ok(())
    }
}

fn is_locked(path: &Path) -> bool {
    let locked = File::open(path)
        .ok()
        .map(|file| flock(&file, FlockOperation::NonBlockingLockShared));
    locked == Some(Err(Errno::WOULDBLOCK))
}

/// Tests for a directory of this user that no other can enter.
pub(crate) fn is_private(directory: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(directory)
        .is_ok_and(|found| found.is_dir() && found.uid() == own && found.mode() & 0o077 == 0)
}

/// Hash of the identity of the running binary.
fn build() -> io::Result<u64> {
    let found = fs::metadata("/proc/self/exe")?;
    let mut hasher = FnvHasher::default();
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    for number in [found.dev(), found.ino(), found.size()] {
        hasher.write_u64(number);
    }
    hasher.write_i64(found.mtime());
    hasher.write_i64(found.mtime_nsec());
    Ok(hasher.finish())
}

/// Tests for a root that is too wide for an index: the root directory, the home or one above.
pub(crate) fn is_too_wide(root: &Path) -> bool {
    let home = env::var_os("HOME").map(PathBuf::from);
    let home = home.map(|home| fs::canonicalize(&home).unwrap_or(home));
    root.parent().is_none() || home.is_some_and(|home| home.starts_with(root))
}

pub(crate) fn index_in(directory: &Path) -> PathBuf {
    directory.join("index")
}

pub(crate) fn record_in(directory: &Path) -> PathBuf {
    directory.join("tree")
}

/// Bytes of the files directly below `directories`. Trees share files by links.
pub(crate) fn bytes<'a>(directories: impl IntoIterator<Item = &'a Path>) -> u64 {
    let entries = directories
        .into_iter()
        .filter_map(|it| fs::read_dir(it).ok());
    let found = entries.flatten().flatten();
    let found = found.filter_map(|entry| entry.metadata().ok());
    let sizes: HashMap<u64, u64> = found.map(|found| (found.ino(), found.len())).collect();
    sizes.values().sum()
}

/// Makes a directory that shares the files of an index by links. Updates replace files.
pub(crate) fn link(index: &Path, directory: &Path) -> io::Result<()> {
    let aside = directory.with_extension("new");
    remove(&aside)?;
    fs::create_dir(&aside)?;
    for entry in fs::read_dir(index)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name() != INDEX_LOCK {
            fs::hard_link(entry.path(), aside.join(entry.file_name()))?;
        }
    }
    fs::rename(aside, directory)
}

/// Removes a directory that another process may use at this time.
pub(crate) fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
            thread::yield_now();
            fs::remove_dir_all(directory)
        }
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
