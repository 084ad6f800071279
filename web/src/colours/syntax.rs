//! A syntax: a row of the table, prepared for the lexer.

use super::Colour;
use super::quote::Quote;
use super::table;
use fnv::FnvHashMap;
use std::sync::LazyLock;

/// A row of the table.
pub(super) struct Row {
    /// The languages, as the index names them.
    pub(super) names: &'static [&'static str],
    /// The first that fits counts, so longer ones come first.
    pub(super) quotes: &'static [Quote],
    /// Words, separated by spaces.
    pub(super) words: &'static [(Colour, &'static str)],
    /// Bytes that names have, besides letters, digits and `_`.
    pub(super) of_names: &'static str,
    pub(super) features: u32,
    /// The form that a file begins in.
    pub(super) begins_in: Option<u8>,
}

/// Lines that begin with `#` are directives.
pub(super) const DIRECTIVES: u32 = 1;
/// `/…/` is a string where a value may be.
pub(super) const REGEX: u32 = 2;
/// `<<END` begins a here-document.
pub(super) const HEREDOC: u32 = 4;
/// `r#"…"#`
pub(super) const HASHES: u32 = 8;
/// `R"x(…)x"`
pub(super) const RAW: u32 = 16;
/// `[==[…]==]`, and comments of them.
pub(super) const LONG: u32 = 32;
/// `q{…}`, `s/…/…/`
pub(super) const PERL: u32 = 64;
/// `%w[…]`
pub(super) const PERCENT: u32 = 128;
/// A backslash outside of strings takes the meaning from the next byte.
pub(super) const BACKSLASH: u32 = 256;
/// `$name`, `${name}`, `$(name)`
pub(super) const DOLLAR: u32 = 512;
/// `@name`
pub(super) const AT: u32 = 1024;
/// A name before `:` or `=` that begins the line is a key.
pub(super) const KEYS: u32 = 2048;
/// A string before `:` is a key.
pub(super) const STRING_KEYS: u32 = 4096;
/// `\name`
pub(super) const COMMANDS: u32 = 8192;
/// Case of words is ignored.
pub(super) const ANY_CASE: u32 = 16384;
/// Tags, not code.
pub(super) const MARKUP: u32 = 32768;
/// `'` separates digits.
pub(super) const DIGIT_QUOTES: u32 = 65536;

impl Row {
    /// A row without words and features.
    pub(super) const fn new(names: &'static [&'static str], quotes: &'static [Quote]) -> Row {
        Row {
            names,
            quotes,
            words: &[],
            of_names: "",
            features: 0,
            begins_in: None,
        }
    }

    pub(super) const fn words(self, words: &'static [(Colour, &'static str)]) -> Row {
        Row { words, ..self }
    }

    pub(super) const fn features(self, features: u32) -> Row {
        Row { features, ..self }
    }

    pub(super) const fn names_with(self, of_names: &'static str) -> Row {
        Row { of_names, ..self }
    }

    pub(super) const fn begins_in(self, form: u8) -> Row {
        Row {
            begins_in: Some(form),
            ..self
        }
    }
}

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
