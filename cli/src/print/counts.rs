//! Counts of lines and matches, and lines of copies, which are hidden: people see only the best
//! matches, so the first file with the same text is printed. Servers fold all copies.

use super::group_buffer::path_key;
use super::rows::first_of;
use crate::units;
use frontend::{Document, Match};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) files: u64,
    pub(super) lines: u64,
    pub(super) matches: u64,
    /// Lines, and multi-line spans.
    pub(super) results: u64,
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

/// About 8 MiB. Later copies are printed.
const LINES_MAX: usize = 64 << 10;

#[derive(Default)]
pub(super) struct PrintedLines {
    /// Files by text hash and line.
    lines: HashMap<(Vec<u8>, u32), Arc<Document>>,
    pub(super) left_out: u64,
}

impl PrintedLines {
    /// True if this line of a copy was printed; else remembers it.
    pub(super) fn has(&mut self, found: &Match) -> bool {
        if found.is_name() || found.document.hash.is_empty() || self.lines.len() == LINES_MAX {
            return false;
        }
        match self.lines.entry((found.document.hash.clone(), found.line)) {
            Entry::Occupied(printed) => {
                let is_copy = **printed.get() != *found.document;
                self.left_out += u64::from(is_copy);
                is_copy
            }
            Entry::Vacant(new) => {
                new.insert(Arc::clone(&found.document));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, hash: u8, line: u32) -> Match {
        Match {
            document: Arc::new(Document {
                path: path.into(),
                hash: vec![hash; 32],
                ..Document::default()
            }),
            line,
            lines: 1,
            ..Match::default()
        }
    }

    #[test]
    fn a_line_of_copies_is_printed_once() {
        let mut printed = PrintedLines::default();
        assert!(!printed.has(&found("a", 1, 7)));
        assert!(!printed.has(&found("a", 1, 8)), "another line");
        assert!(printed.has(&found("b", 1, 7)), "a copy");
        assert!(!printed.has(&found("b", 2, 7)), "another text");
        assert!(!printed.has(&found("a", 1, 7)), "the same file");
        assert!(
            !printed.has(&found("c", 1, 0)) && !printed.has(&found("d", 1, 0)),
            "names"
        );
        assert_eq!(printed.left_out, 1);
    }
}
