//! Notifications of changes in the directories of a tree.
//!
//! One inotify instance is one ordered queue, and the kernel queues an event inside the writer's
//! system call. So after [`Watch::drain`] every earlier change is known.
//!
//! **Invariant:** a directory is watched before it is listed. What a watch cannot show is returned
//! as changed: moved and new directories stay changed until the next round watches them.

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Some hundred events in a read.
const BUFFER_BYTES: usize = 64 << 10;

pub(crate) struct Watch {
    inotify: OwnedFd,
    root: PathBuf,
    directories: HashMap<i32, WatchedDirectory>,
    round: u32,
}

struct WatchedDirectory {
    /// Relative to the root; out of date after a move, until the next round.
    path: Box<[u8]>,
    round: u32,
}

pub(crate) enum Added {
    New,
    /// The directory has another path too: its changes are reported for one of them.
    Twice(Vec<u8>),
}

/// Changes were lost: any file may have changed.
#[derive(Debug)]
pub(crate) struct Lost;

impl Watch {
    pub(crate) fn new(root: &Path) -> io::Result<Watch> {
        Ok(Watch {
            inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            root: root.to_owned(),
            directories: HashMap::new(),
            round: 0,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.directories.len()
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// Begins a round of [`add`](Self::add), one call for each directory.
    pub(crate) fn begin_round(&mut self) {
        self.round += 1;
    }

    pub(crate) fn add(&mut self, path: &[u8]) -> Result<Added, Errno> {
        let mask = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::EXCL_UNLINK;
        let absolute = absolute(&self.root, path);
        let number = inotify::add_watch(&self.inotify, &absolute, mask)?;
        let added = WatchedDirectory {
            path: path.into(),
            round: self.round,
        };
        let before = self.directories.insert(number, added);
        let twice = before.filter(|before| before.round == self.round);
        Ok(match twice {
            Some(before) if *before.path != *path => Added::Twice(before.path.into()),
            _ => Added::New,
        })
    }

    /// Removes the watches that this round did not add again.
    pub(crate) fn end_round(&mut self) {
        let old = |(number, directory): (&i32, &WatchedDirectory)| {
            (directory.round != self.round).then_some(*number)
        };
        let old: Vec<i32> = self.directories.iter().filter_map(old).collect();
        for number in old {
            self.directories.remove(&number);
            // Fails if the directory is gone.
            let _ = inotify::remove_watch(&self.inotify, number);
        }
    }

    /// Passes the relative path of each change that was made before the call.
    pub(crate) fn drain(&mut self, mut changed: impl FnMut(Vec<u8>)) -> Result<(), Lost> {
        let mut buffer = [const { MaybeUninit::uninit() }; BUFFER_BYTES];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        let mut result = Ok(());
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return result,
                Err(Errno::INTR) => continue,
                Err(_) => return Err(Lost),
            };
            let flags = event.events();
            if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                result = Err(Lost);
                continue;
            }
            if flags.contains(ReadFlags::IGNORED) {
                self.directories.remove(&event.wd());
                continue;
            }
            let Some(directory) = self.directories.get(&event.wd()) else {
                continue;
            };
            match event.file_name() {
                Some(name) => {
                    let path = join(&directory.path, name.to_bytes());
                    let is_new = flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
                    // The other name changes with it, without a notification.
                    if is_new && is_linked(&absolute(&self.root, &path)) {
                        result = Err(Lost);
                    }
                    changed(path);
                }
                // The root is moved, deleted or of another mode.
                None if directory.path.is_empty() => result = Err(Lost),
                None => changed(directory.path.to_vec()),
            }
        }
    }
}

fn is_linked(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir() && found.nlink() > 1)
}

pub(crate) fn absolute(root: &Path, path: &[u8]) -> PathBuf {
    if path.is_empty() {
        return root.to_owned();
    }
    root.join(OsStr::from_bytes(path))
}

pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() {
        return name.to_vec();
    }
    [directory, b"/", name].concat()
}

pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn drained(watch: &mut Watch) -> Vec<String> {
        let mut paths = BTreeSet::new();
        let text = |path: Vec<u8>| String::from_utf8(path).unwrap();
        let drained = watch.drain(|path| {
            paths.insert(text(path));
        });
        drained.unwrap();
        paths.into_iter().collect()
    }

    fn watched(directories: &[&str]) -> (tempfile::TempDir, Watch) {
        let root = tempfile::tempdir().unwrap();
        let mut watch = Watch::new(root.path()).unwrap();
        watch.begin_round();
        for directory in directories {
            fs::create_dir_all(root.path().join(directory)).unwrap();
            watch.add(directory.as_bytes()).unwrap();
        }
        (root, watch)
    }

    #[test]
    fn each_change_is_known_at_once() {
        let (root, mut watch) = watched(&["", "a"]);
        drained(&mut watch);
        let at = |path: &str| root.path().join(path);
        fs::write(at("a/new"), "text").unwrap();
        assert_eq!(drained(&mut watch), ["a/new"]);
        fs::write(at("a/new"), "other").unwrap();
        assert_eq!(drained(&mut watch), ["a/new"]);
        fs::rename(at("a/new"), at("old")).unwrap();
        assert_eq!(drained(&mut watch), ["a/new", "old"]);
        fs::remove_file(at("old")).unwrap();
        assert_eq!(drained(&mut watch), ["old"]);
        assert_eq!(drained(&mut watch), [""; 0]);
    }

    #[test]
    fn a_moved_directory_has_its_new_path_after_a_round() {
        let (root, mut watch) = watched(&["", "a", "a/b"]);
        fs::rename(root.path().join("a"), root.path().join("c")).unwrap();
        let changed = drained(&mut watch);
        assert!(changed.contains(&"a".to_owned()) && changed.contains(&"c".to_owned()));
        watch.begin_round();
        for directory in ["", "c", "c/b"] {
            watch.add(directory.as_bytes()).unwrap();
        }
        watch.end_round();
        fs::write(root.path().join("c/b/x"), "").unwrap();
        assert_eq!(drained(&mut watch), ["c/b/x"]);
        assert_eq!(watch.len(), 3);
    }

    #[test]
    fn a_moved_root_loses_everything() {
        let (root, mut watch) = watched(&["inner"]);
        let inner = root.path().join("inner");
        let mut watch_inner = Watch::new(&inner).unwrap();
        watch_inner.begin_round();
        watch_inner.add(b"").unwrap();
        fs::rename(&inner, root.path().join("other")).unwrap();
        assert!(watch_inner.drain(drop).is_err());
        drained(&mut watch);
    }
}
