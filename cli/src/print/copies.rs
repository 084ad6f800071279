//! Hides copies: prints the first file with the same text.
//!
//! For people, who see only the best matches. Servers fold all.

use frontend::{Document, Match};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

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
