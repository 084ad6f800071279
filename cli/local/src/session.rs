//! One search with the index process: its question, the files that the answer leaves out, and the
//! offer of a tree that a scan showed to be worth an index.
//!
//! **Invariant:** a file is left out only if ripgrep would print nothing for it, not even a
//! message, and would not count it.

use crate::arguments::{Arguments, Case, Mode, Output, TextEncoding};
use crate::connection::{self, ConnectError, Connection};
use crate::input::Input;
use crate::message::{
    Condition, Directories, Narrowed, PATTERN_BYTES_MAX, PlannedCase, Reply, Request,
};
use crate::place::{self, Place};
use ignore::DirEntry;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Named directories of a question.
const DIRECTORIES_MAX: usize = 16;

/// A scan is worth an index from this number of files or this time on.
const FILES_WORTH: u64 = 2_000;
const TIME_WORTH: Duration = Duration::from_secs(1);

/// Question of one search.
pub(crate) struct Session {
    place: Option<Place>,
    /// Tree to offer after the scan.
    root: Option<PathBuf>,
    pub(crate) selection: Option<Arc<Selection>>,
}

/// Files of an answer.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// By path of the command line, without final `/`.
    places: HashMap<Vec<u8>, SelectedPlace>,
}

#[derive(Debug)]
struct SelectedPlace {
    /// Path below the root of the tree.
    below: Vec<u8>,
    directories: Directories,
}

impl Session {
    /// Asks for the files that can match. Any problem means that all can.
    pub(crate) fn begin(cache: Option<&Path>, arguments: &Arguments, input: &Input) -> Session {
        let mut session = Session {
            place: None,
            root: None,
            selection: None,
        };
        let Some(condition) = condition(arguments, input) else {
            return session;
        };
        let is_directory = |path: &&PathBuf| path.is_dir();
        let named = input
            .paths
            .iter()
            .filter(is_directory)
            .take(DIRECTORIES_MAX + 1);
        let named: Vec<(&PathBuf, PathBuf)> = named
            .filter_map(|path| Some((path, fs::canonicalize(path).ok()?)))
            .collect();
        let Some(place) = Place::new(cache).filter(|_| named.len() <= DIRECTORIES_MAX) else {
            return session;
        };
        let Some((_, first)) = named.first() else {
            return session;
        };
        let root = root_of(first);
        match Connection::open(&place) {
            Err(ConnectError::Absent) => session.root = Some(root),
            Err(ConnectError::Refused) => {}
            Ok(mut connection) => {
                let mut selection = Selection::default();
                for (path, directory) in named {
                    let request = Request::Ask {
                        directory: directory.as_os_str().as_bytes().to_vec(),
                        condition: condition.clone(),
                    };
                    match connection.ask(&request) {
                        Ok(Reply::Narrowed(narrowed)) => {
                            selection.add(path, &directory, narrowed);
                        }
                        Ok(Reply::Unknown) => session.root = Some(root.clone()),
                        Ok(_) => {}
                        Err(_) => return session,
                    }
                }
                session.selection = (!selection.places.is_empty()).then(|| Arc::new(selection));
            }
        }
        session.place = Some(place);
        session
    }

    /// Offers the tree of a scan, or starts the process with it.
    pub(crate) fn end(self, files: u64, time: Duration) {
        let (Some(root), Some(place)) = (self.root, self.place) else {
            return;
        };
        if files < FILES_WORTH && time < TIME_WORTH {
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
    /// Adds the answer for a directory, if this process sees the same tree.
    fn add(&mut self, path: &Path, directory: &Path, narrowed: Narrowed) {
        let root = Path::new(OsStr::from_bytes(&narrowed.root));
        let is_same = fs::symlink_metadata(root)
            .is_ok_and(|found| (found.dev(), found.ino()) == (narrowed.device, narrowed.inode));
        let sees_same = place::mount_namespace().is_ok_and(|own| own == narrowed.mount_namespace);
        let Ok(below) = directory.strip_prefix(root) else {
            return;
        };
        if is_same && sees_same {
            let selected = SelectedPlace {
                below: below.as_os_str().as_bytes().to_vec(),
                directories: narrowed.directories,
            };
            self.places
                .insert(trimmed(path.as_os_str().as_bytes()).to_vec(), selected);
        }
    }

    /// Tests if an entry of a walk may matter.
    pub(crate) fn has(&self, entry: &DirEntry) -> bool {
        // Unknown to the answer: links, and what is named on the command line.
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
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        place.has(&path[at + 1..], is_directory)
    }
}

impl SelectedPlace {
    fn has(&self, path: &[u8], is_directory: bool) -> bool {
        let path = match &self.below[..] {
            [] => path.to_vec(),
            below => [below, b"/", path].concat(),
        };
        let at = path.iter().rposition(|&byte| byte == b'/');
        let (directory, name) =
            at.map_or((&b""[..], &path[..]), |at| (&path[..at], &path[at + 1..]));
        // Entered because the answer does not know it.
        let Some(names) = self.directories.get(directory) else {
            return true;
        };
        names.contains(name) || (is_directory && self.directories.contains_key(&path))
    }
}

/// Condition on the files that can change the output; `None` if all can.
fn condition(arguments: &Arguments, input: &Input) -> Option<Condition> {
    let is_narrowing = match arguments.mode {
        Mode::Search(Output::Lines) => !arguments.context.is_passthru,
        Mode::Search(Output::Count | Output::CountMatches) => !arguments.include_zero,
        Mode::Search(Output::FilesWithMatches) => true,
        // Files without a match are printed, or counted.
        Mode::Search(Output::FilesWithoutMatch | Output::Json) | Mode::Files | Mode::Types => false,
    };
    let reads_bytes = matches!(arguments.encoding, TextEncoding::Auto)
        && arguments.pre.is_none()
        && !arguments.search_zip
        && !arguments.null_data
        && !arguments.no_unicode;
    let is_plain = !arguments.no_index
        && !arguments.invert_match
        && !arguments.stats
        && arguments.logging.is_none();
    if !is_narrowing || !reads_bytes || !is_plain || input.is_one_file {
        return None;
    }
    if !arguments.fixed_strings && input.patterns.iter().any(|each| has_byte_flags(each)) {
        return None;
    }
    let patterns = input
        .patterns
        .iter()
        .map(|each| match arguments.fixed_strings {
            true => regex_syntax::escape(each),
            false => format!("(?:{each})"),
        });
    let mut pattern = patterns.collect::<Vec<_>>().join("|");
    if arguments.multiline_dotall && arguments.multiline {
        pattern = format!("(?s:{pattern})");
    }
    (pattern.len() <= PATTERN_BYTES_MAX).then_some(Condition {
        pattern,
        case: match arguments.case {
            Case::Sensitive => PlannedCase::Sensitive,
            Case::Insensitive => PlannedCase::Insensitive,
            Case::Smart => PlannedCase::Either,
        },
        multiline: arguments.multiline,
    })
}

/// Tests for flags that let a dot match single bytes: the planner's does not match `\r`.
fn has_byte_flags(pattern: &str) -> bool {
    pattern.split("(?").skip(1).any(|behind| {
        let flags = behind.split([':', ')', '<']).next().unwrap_or_default();
        flags.contains(['u', 'R', '-'])
    })
}

/// Git root above a directory, or the directory.
fn root_of(directory: &Path) -> PathBuf {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_bytes_are_not_planned() {
        for pattern in ["(?-u:a.b)", "(?i-u)x", "(?R)a.b", "a(?s-u:.)"] {
            assert!(has_byte_flags(pattern), "{pattern}");
        }
        for pattern in [
            "a.b",
            "(?i)a",
            "(?:a|u-)",
            "(?P<u>a)",
            "(?<u-v>a)",
            "(?s:.)",
        ] {
            assert!(!has_byte_flags(pattern), "{pattern}");
        }
    }
}
