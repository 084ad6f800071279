//! Leaves out lines of copies: of files with the same text, the one that comes first is printed.
//!
//! This is for people, who see the best matches only. A server folds all matches of an answer.

use frontend::{Document, Match};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Lines that are remembered: about 8 MiB. Copies of later ones are printed.
const LINES_MAX: usize = 64 << 10;

/// The lines that were printed.
#[derive(Default)]
pub(super) struct PrintedLines {
    /// The file of each, by the hash of its text and the line.
    lines: HashMap<(Vec<u8>, u32), Arc<Document>>,
    /// Matches that were left out.
    pub(super) left_out: u64,
}

impl PrintedLines {
    /// Whether a match is in a copy of a file of which the same line was printed. Remembers it if not.
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
