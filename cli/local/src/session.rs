//! One search with an index: what its process publishes, or the comparison without it; the files
//! that this leaves out; and the offer of a tree that a scan showed to be worth an index.
//!
//! **Invariant:** a file is left out only if ripgrep would print nothing for it, not even a
//! message, and would not count it.

use crate::arguments::Arguments;
use crate::condition::{Condition, Search};
use crate::connection::{self, ConnectError, Connection};
use crate::input::Input;
use crate::message::Request;
use crate::place::{self, Place};
use crate::tree::{self, Answer, Comparison, Directories};
use crate::watch::split;
use ignore::DirEntry;
use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Directories of a command line; with more, all files are searched.
const DIRECTORIES_MAX: usize = 16;

/// A scan is worth an index from this number of files or this time on.
const FILES_WORTH: u64 = 2_000;
const TIME_WORTH: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Session {
    place: Option<Place>,
    /// Tree to offer after the scan.
    root: Option<PathBuf>,
    pub(crate) selection: Option<Arc<Selection>>,
}

/// Files that can match.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// By path of the command line, without final `/`.
    places: HashMap<Vec<u8>, SelectedPlace>,
}

#[derive(Debug)]
struct SelectedPlace {
    /// Path below the root of the tree.
    below: Vec<u8>,
    files: SelectedFiles,
}

#[derive(Debug)]
enum SelectedFiles {
    Narrowed(Directories),
    Compared(Comparison),
}

impl Session {
    /// Finds the files that can match. Any problem means that all can.
    pub(crate) fn begin(
        cache: Option<&Path>,
        arguments: &Arguments,
        input: &Input,
        search: Option<Search>,
    ) -> Session {
        let condition = Condition::new(arguments, input, search);
        let (Some(condition), Some(place)) = (condition, Place::new(cache)) else {
            return Session::default();
        };
        let directories = input.paths.iter().filter(|path| path.is_dir());
        let named = directories.take(DIRECTORIES_MAX + 1);
        let named: Vec<(&PathBuf, PathBuf)> = named
            .filter_map(|path| Some((path, fs::canonicalize(path).ok()?)))
            .collect();
        if named.is_empty() || named.len() > DIRECTORIES_MAX {
            return Session::default();
        }
        let mut session = Session::default();
        let mut selection = Selection::default();
        for (path, directory) in &named {
            let (root, files) = match tree::ask(&place, directory, path, &condition) {
                Answer::All => continue,
                Answer::Narrowed { root, directories } => {
                    (root, SelectedFiles::Narrowed(directories))
                }
                answer @ (Answer::Unknown | Answer::Stale) => {
                    if matches!(answer, Answer::Unknown) {
                        session.root = Some(root_of(directory));
                    }
                    let Ok(comparison) = Comparison::open(&place, directory, &condition) else {
                        continue;
                    };
                    let root = comparison.root.clone();
                    (root, SelectedFiles::Compared(comparison))
                }
            };
            selection.add(path, directory, &root, files);
        }
        session.selection = (!selection.places.is_empty()).then(|| Arc::new(selection));
        session.place = Some(place);
        session
    }

    /// Offers the tree of a scan, or starts the process with it.
    pub(crate) fn end(self, files: u64, time: Duration) {
        let (Some(root), Some(place)) = (self.root, self.place) else {
            return;
        };
        let is_indexed = self.selection.is_some();
        if files < FILES_WORTH && time < TIME_WORTH && !is_indexed {
            return;
        }
        if place::is_too_wide(&root) {
            log::debug!(
                "no index of {}, which is too wide; call trawl grep in a directory below",
                root.display()
            );
            return;
        }
        // Without an index the next search scans, too.
        let _ = match Connection::open(&place) {
            Ok(mut connection) => {
                let root = root.as_os_str().as_bytes().to_vec();
                connection.ask(&Request::Offer { root }).map(drop)
            }
            Err(ConnectError::Absent) => connection::start(root.as_os_str()),
            Err(ConnectError::Refused) => Ok(()),
        };
    }
}

impl Selection {
    fn add(&mut self, path: &Path, directory: &Path, root: &Path, files: SelectedFiles) {
        if let Ok(below) = directory.strip_prefix(root) {
            let below = below.as_os_str().as_bytes().to_vec();
            let path = trimmed(path.as_os_str().as_bytes()).to_vec();
            self.places.insert(path, SelectedPlace { below, files });
        }
    }

    /// Source of the changes: notifications, or a comparison of each file.
    pub(crate) fn kind(&self) -> &'static str {
        let is_compared = |place: &SelectedPlace| matches!(place.files, SelectedFiles::Compared(_));
        match self.places.values().any(is_compared) {
            true => "compared",
            false => "watched",
        }
    }

    /// Tests if an entry of a walk may matter.
    pub(crate) fn has(&self, entry: &DirEntry) -> bool {
        // Links, and what is named on the command line.
        if entry.depth() == 0 || entry.path_is_symlink() {
            return true;
        }
        let path = entry.path().as_os_str().as_bytes();
        let slashes = path
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, byte)| **byte == b'/');
        let Some((at, _)) = slashes.take(entry.depth()).last() else {
            return true;
        };
        let Some(place) = self.places.get(trimmed(&path[..at])) else {
            return true;
        };
        place.has(&path[at + 1..], entry)
    }
}

impl SelectedPlace {
    fn has(&self, path: &[u8], entry: &DirEntry) -> bool {
        let path = match &self.below[..] {
            [] => path.to_vec(),
            below => [below, b"/", path].concat(),
        };
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        let directories = match &self.files {
            SelectedFiles::Narrowed(directories) => directories,
            SelectedFiles::Compared(_) if is_directory => return true,
            SelectedFiles::Compared(comparison) => {
                let found = entry.metadata();
                return found.map_or(true, |found| comparison.can_match(&path, &found));
            }
        };
        let (directory, name) = split(&path);
        // Entered because the index does not know it.
        let Some(names) = directories.get(directory) else {
            return true;
        };
        names.contains(name) || (is_directory && directories.contains_key(&path))
    }
}

pub(crate) fn root_of(directory: &Path) -> PathBuf {
    let has_git = |path: &&Path| fs::symlink_metadata(path.join(".git")).is_ok();
    directory
        .ancestors()
        .find(has_git)
        .unwrap_or(directory)
        .to_owned()
}

fn trimmed(mut path: &[u8]) -> &[u8] {
    while let [rest @ .., b'/'] = path {
        path = rest;
    }
    path
}
