//! Counts of lines and matches.

use super::group_buffer::path_key;
use super::rows::first_of;
use crate::units;
use frontend::{Document, Match};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) files: u64,
    pub(super) lines: u64,
    pub(super) matches: u64,
    /// Lines, and multi-line spans.
    pub(super) results: u64,
    /// Hidden copies.
    pub(super) copies: u64,
}

impl Totals {
    pub(super) fn add(&mut self, found: &Match) {
        self.results += 1;
        self.lines += u64::from(found.lines.max(1));
        self.matches += found.ranges.len() as u64;
    }

    /// Last line on a terminal; `limit` 0 means all of `found`.
    pub(super) fn in_words(&self, found: u64, limit: u64) -> String {
        let files = units::plural(self.files, "file");
        let results = self.results + self.copies;
        let (shown, all) = (units::count(results), units::plural(found, "match"));
        let more = found.saturating_sub(results);
        let words = if more == 0 {
            format!("{all} in {files}")
        } else if limit > 0 && results >= limit {
            let more = units::count(more);
            format!("the best {shown} of {all}, in {files}; {more} more with --limit 0")
        } else {
            format!("{shown} of {all}, in {files}")
        };
        match self.copies {
            0 => words,
            copies => {
                let copies = units::count(copies);
                format!("{words}; {copies} of them in copies of these files, printed with --copies")
            }
        }
    }
}

/// Keeps the order of first matches. Takes 24 bytes and a name per file.
#[derive(Default)]
pub(super) struct FileCounts {
    files: Vec<FileCount>,
    numbers: HashMap<Arc<Document>, usize>,
}

pub(super) struct FileCount {
    pub(super) document: Arc<Document>,
    pub(super) lines: u64,
    pub(super) matches: u64,
}

impl FileCounts {
    /// Counts up to `max` lines per file, or matches with `multi_line`. True for the first of its
    /// file.
    pub(super) fn add(&mut self, found: &Match, max: u64, multi_line: bool) -> bool {
        let next = self.files.len();
        let document = &found.document;
        let number = *self.numbers.entry(Arc::clone(document)).or_insert(next);
        if number == next {
            self.files.push(FileCount {
                document: Arc::clone(document),
                lines: 0,
                matches: 0,
            });
        }
        let file = &mut self.files[number];
        let counted = if multi_line {
            first_of(found, max - file.matches)
        } else {
            (file.lines < max).then_some(Cow::Borrowed(found))
        };
        if let Some(found) = counted {
            file.lines += u64::from(found.lines.max(1));
            file.matches += found.ranges.len().max(1) as u64;
        }
        number == next
    }

    /// Sorts by path or first match.
    pub(super) fn into_files(mut self, by_path: bool) -> Vec<FileCount> {
        if by_path {
            self.files
                .sort_by(|a, b| path_key(&a.document).cmp(path_key(&b.document)));
        }
        self.files
    }
}
