//! A row of the table of syntaxes, and its features.

use super::Colour;
use super::quote::Quote;

pub(super) struct SyntaxRow {
    /// Languages, as the index names them.
    pub(super) names: &'static [&'static str],
    /// The first match wins, so longer ones come first.
    pub(super) quotes: &'static [Quote],
    /// Words, separated by spaces.
    pub(super) words: &'static [(Colour, &'static str)],
    /// Bytes of names, besides letters, digits and `_`.
    pub(super) of_names: &'static str,
    pub(super) features: u32,
    /// The form that a file begins in.
    pub(super) begins_in: Option<u8>,
}

/// Lines that begin with `#` are directives.
pub(super) const DIRECTIVES: u32 = 1;
/// `/…/` is a string in place of a value.
pub(super) const REGEX: u32 = 2;
/// `<<END` begins a here-document.
pub(super) const HEREDOC: u32 = 4;
/// `r#"…"#`
pub(super) const HASHES: u32 = 8;
/// `R"x(…)x"`
pub(super) const RAW: u32 = 16;
/// `[==[…]==]`, also as comments.
pub(super) const LONG: u32 = 32;
/// `q{…}`, `s/…/…/`
pub(super) const PERL: u32 = 64;
/// `%w[…]`
pub(super) const PERCENT: u32 = 128;
/// A backslash outside of strings escapes the next byte.
pub(super) const BACKSLASH: u32 = 256;
/// `$name`, `${name}`, `$(name)`
pub(super) const DOLLAR: u32 = 512;
/// `@name`
pub(super) const AT: u32 = 1024;
/// A name before `:` or `=` at the beginning of a line is a key.
pub(super) const KEYS: u32 = 2048;
/// A string before `:` is a key.
pub(super) const STRING_KEYS: u32 = 4096;
/// `\name`
pub(super) const COMMANDS: u32 = 8192;
/// Words ignore case.
pub(super) const ANY_CASE: u32 = 16384;
/// Tags, not code.
pub(super) const MARKUP: u32 = 32768;
/// `'` separates digits.
pub(super) const DIGIT_QUOTES: u32 = 65536;

impl SyntaxRow {
    /// Row without words and features.
    pub(super) const fn new(names: &'static [&'static str], quotes: &'static [Quote]) -> SyntaxRow {
        SyntaxRow {
            names,
            quotes,
            words: &[],
            of_names: "",
            features: 0,
            begins_in: None,
        }
    }

    pub(super) const fn words(self, words: &'static [(Colour, &'static str)]) -> SyntaxRow {
        SyntaxRow { words, ..self }
    }

    pub(super) const fn features(self, features: u32) -> SyntaxRow {
        SyntaxRow { features, ..self }
    }

    pub(super) const fn names_with(self, of_names: &'static str) -> SyntaxRow {
        SyntaxRow { of_names, ..self }
    }

    pub(super) const fn begins_in(self, form: u8) -> SyntaxRow {
        SyntaxRow {
            begins_in: Some(form),
            ..self
        }
    }
}
