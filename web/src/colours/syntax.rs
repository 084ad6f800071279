//! A syntax: a row of the table, prepared for the lexer.

use super::Colour;
use super::quote::Rule;
use super::row::{ANY_CASE, DIRECTIVES, HASHES, HEREDOC, LONG, MARKUP, PERCENT, PERL, RAW, Row};
use super::table;
use fnv::FnvHashMap;
use std::sync::LazyLock;

/// How a language writes comments, strings and words.
pub(crate) struct Syntax {
    pub(super) row: &'static Row,
    words: FnvHashMap<&'static [u8], Colour>,
    /// Bytes of the longest word.
    longest: usize,
    /// Whether a byte may be in a name.
    in_names: [bool; 256],
    /// Whether a form begins with a byte.
    opens: [bool; 256],
}

/// The bytes of words of which the case is ignored, at most.
const WORD_BYTES_MAX: usize = 32;

impl Syntax {
    /// Returns the syntax of a language; `None` if it has no colours.
    pub(crate) fn of(language: &str) -> Option<&'static Syntax> {
        static SYNTAXES: LazyLock<FnvHashMap<&str, Syntax>> = LazyLock::new(|| {
            let rows = table::rows();
            let named = rows.flat_map(|row| row.names.iter().map(move |name| (*name, row)));
            named.map(|(name, row)| (name, Syntax::new(row))).collect()
        });
        SYNTAXES.get(language)
    }

    fn new(row: &'static Row) -> Syntax {
        let words = row.words.iter().flat_map(|(colour, words)| {
            let words = words.split_ascii_whitespace();
            words.map(move |word| (word.as_bytes(), *colour))
        });
        let words: FnvHashMap<_, _> = words.collect();
        let (mut in_names, mut opens) = ([false; 256], [false; 256]);
        for byte in 0..=255_u8 {
            in_names[usize::from(byte)] =
                byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        }
        for byte in row.of_names.bytes() {
            in_names[usize::from(byte)] = true;
        }
        for quote in row.quotes {
            opens[usize::from(quote.open.as_bytes()[0])] = true;
        }
        Syntax {
            row,
            longest: words.keys().map(|word| word.len()).max().unwrap_or(0),
            words,
            in_names,
            opens,
        }
    }

    /// Whether something in it may last over several lines, besides what a backslash continues.
    pub(crate) fn lasts_over_lines(&self) -> bool {
        let features = MARKUP | HEREDOC | HASHES | RAW | LONG | PERL | PERCENT;
        self.has(features) || self.row.quotes.iter().any(|quote| quote.has(Rule::Lines))
    }

    /// Whether functions are defined without a word such as `fn`: in C and its like.
    pub(crate) fn has_functions_without_word(&self) -> bool {
        self.has(DIRECTIVES)
    }

    pub(super) fn has(&self, feature: u32) -> bool {
        self.row.features & feature != 0
    }

    pub(super) fn is_in_name(&self, byte: u8) -> bool {
        self.in_names[usize::from(byte)]
    }

    pub(super) fn opens(&self, byte: u8) -> bool {
        self.opens[usize::from(byte)]
    }

    /// The colour of a word.
    pub(super) fn word(&self, word: &[u8]) -> Option<Colour> {
        if word.len() > self.longest {
            return None;
        }
        if !self.has(ANY_CASE) {
            return self.words.get(word).copied();
        }
        let mut lower = [0; WORD_BYTES_MAX];
        let lower = lower.get_mut(..word.len())?;
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        self.words.get(&*lower).copied()
    }
}
