//! Counts, in all and file by file.

use super::rows::first_of;
use super::shelf::path_key;
use frontend::{Document, Match};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What was printed or counted.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) files: u64,
    pub(super) lines: u64,
    pub(super) matches: u64,
    started: Instant,
}

impl Default for Counted {
    fn default() -> Self {
        Counted {
            files: 0,
            lines: 0,
            matches: 0,
            started: Instant::now(),
        }
    }
}

impl Counted {
    /// Counts a line, when it is a match.
    pub(super) fn add(&mut self, found: Option<&Match>) {
        if let Some(found) = found {
            self.lines += u64::from(found.lines.max(1));
            self.matches += found.ranges.len() as u64;
        }
    }

    /// How long it has been counting.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Lines and matches of each file, in the order of their first matches. In memory is a file's name
/// and 24 bytes.
#[derive(Default)]
pub(super) struct Tally {
    files: Vec<File>,
    numbers: HashMap<Arc<Document>, usize>,
}

pub(super) struct File {
    pub(super) document: Arc<Document>,
    pub(super) lines: u64,
    pub(super) matches: u64,
}

impl File {
    fn add(&mut self, found: &Match) {
        self.lines += u64::from(found.lines.max(1));
        self.matches += found.ranges.len().max(1) as u64;
    }
}

impl Tally {
    /// Counts a match, unless its file has `lines_max` already. Whether it is its file's first.
    pub(super) fn add(&mut self, found: &Match, lines_max: u64) -> bool {
        let (file, is_first) = self.file(found);
        if file.lines < lines_max {
            file.add(found);
        }
        is_first
    }

    /// Counts what matches in a run of lines, up to `matches_max` of its file. Whether it is its file's
    /// first.
    pub(super) fn add_matches(&mut self, found: &Match, matches_max: u64) -> bool {
        let (file, is_first) = self.file(found);
        if let Some(found) = first_of(found, matches_max - file.matches) {
            file.add(&found);
        }
        is_first
    }

    fn file(&mut self, found: &Match) -> (&mut File, bool) {
        let next = self.files.len();
        let number = *self
            .numbers
            .entry(Arc::clone(&found.document))
            .or_insert(next);
        if number == next {
            self.files.push(File {
                document: Arc::clone(&found.document),
                lines: 0,
                matches: 0,
            });
        }
        (&mut self.files[number], number == next)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files, by path when they are to be.
    pub(super) fn into_files(mut self, by_path: bool) -> Vec<File> {
        if by_path {
            self.files
                .sort_by(|a, b| path_key(&a.document).cmp(path_key(&b.document)));
        }
        self.files
    }
}
