//! Directories of the index process: socket and indexes, of this user alone.
//!
//! The socket is named after the running binary, so that only equal builds talk to each other.

use fnv::FnvHasher;
use std::fs::{self, DirBuilder};
use std::hash::Hasher;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, thread};

/// Name below the runtime directory and below the cache directory.
const NAME: &str = "trawl";

pub(crate) struct Place {
    /// Directory of sockets.
    pub(crate) sockets: PathBuf,
    /// A directory for each tree.
    pub(crate) indexes: PathBuf,
    build: u64,
}

impl Place {
    /// Place of this user and binary, if `cache` names Trawl's cache directory.
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

    /// Locked by the process of this build.
    pub(crate) fn lock(&self) -> PathBuf {
        self.sockets.join(format!("{:016x}.lock", self.build))
    }

    /// Directory for the index of a tree.
    pub(crate) fn directory_of(&self, root: &Path) -> PathBuf {
        let mut hasher = FnvHasher::default();
        hasher.write(root.as_os_str().as_bytes());
        self.indexes.join(format!("{:016x}", hasher.finish()))
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

/// Tests for a directory of this user that no other can enter.
pub(crate) fn is_private(directory: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(directory)
        .is_ok_and(|found| found.is_dir() && found.uid() == own && found.mode() & 0o077 == 0)
}

/// Identity of the mounts that this process sees.
pub(crate) fn mount_namespace() -> io::Result<u64> {
    let (namespace, root) = (fs::metadata("/proc/self/ns/mnt")?, fs::metadata("/")?);
    let mut hasher = FnvHasher::default();
    for number in [namespace.ino(), root.dev(), root.ino()] {
        hasher.write_u64(number);
    }
    Ok(hasher.finish())
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

/// Index in the directory of a tree.
pub(crate) fn index_in(directory: &Path) -> PathBuf {
    directory.join("index")
}

/// Record of that index.
pub(crate) fn record_in(directory: &Path) -> PathBuf {
    directory.join("tree")
}

/// Bytes of the files directly below `directory`.
pub(crate) fn directory_bytes(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok());
    sizes.map(|found| found.len()).sum()
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
