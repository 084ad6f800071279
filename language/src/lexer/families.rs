//! Families: comments, strings and words of languages. Rare forms have no colour.

#[rustfmt::skip]
pub(crate) mod brackets;
#[rustfmt::skip]
pub(crate) mod documents;
#[rustfmt::skip]
pub(crate) mod functional;
#[rustfmt::skip]
pub(crate) mod scripts;

use super::Colour;
use super::quote::Quote;

/// Languages that look alike to the lexer.
pub(crate) struct Family {
    /// First match wins, so longer beginnings come first.
    pub(super) quotes: &'static [Quote],
    pub(super) words: &'static [(Colour, &'static str)],
    /// Extra bytes of names.
    pub(super) of_names: &'static str,
    pub(super) features: u32,
    /// Words of a string before its quote. With an `f`, the form whose beginning has one.
    pub(super) prefixes: &'static [&'static str],
    pub(super) begins_in: Option<u8>,
    /// Words in the first column that end a string whose end is missing.
    pub(super) heads: &'static [&'static str],
}

/// `#define`
pub(super) const DIRECTIVES: u32 = 1;
/// `/…/`
pub(super) const REGEX: u32 = 2;
/// `<<END`
pub(super) const HEREDOC: u32 = 4;
/// `r#"…"#`
pub(super) const HASHES: u32 = 8;
/// `R"x(…)x"`
pub(super) const RAW: u32 = 16;
/// `[==[…]==]`
pub(super) const LONG: u32 = 32;
/// `q{…}`, `s/…/…/`
pub(super) const QUOTING: u32 = 64;
/// `%w[…]`
pub(super) const PERCENT: u32 = 128;
/// Escapes outside of strings.
pub(super) const BACKSLASH: u32 = 256;
/// `$name`, `${name}`, `$(name)`
pub(super) const DOLLAR: u32 = 512;
/// `@name`
pub(super) const AT: u32 = 1024;
/// `name: value`, `name = value`
pub(super) const KEYS: u32 = 2048;
/// `"name":`
pub(super) const STRING_KEYS: u32 = 4096;
/// `\name`
pub(super) const COMMANDS: u32 = 8192;
pub(super) const ANY_CASE: u32 = 16384;
pub(super) const MARKUP: u32 = 32768;
/// `1'000`
pub(super) const DIGIT_QUOTES: u32 = 65536;
pub(super) const PROSE: u32 = 131_072;
/// `key: |`
pub(super) const BLOCKS: u32 = 262_144;
/// Only forms have colours.
pub(super) const PLAIN: u32 = 524_288;
/// `?"` is a character.
pub(super) const CHARACTERS: u32 = 1_048_576;
/// `~r/…/`
pub(super) const SIGILS: u32 = 2_097_152;
/// `$a` of Erlang, `0'a` of Prolog.
pub(super) const CODES: u32 = 4_194_304;

impl Family {
    pub(super) const fn new(quotes: &'static [Quote]) -> Family {
        Family {
            quotes,
            words: &[],
            of_names: "",
            features: 0,
            prefixes: &[],
            begins_in: None,
            heads: &[],
        }
    }

    pub(super) const fn words(self, words: &'static [(Colour, &'static str)]) -> Family {
        Family { words, ..self }
    }

    pub(super) const fn features(self, features: u32) -> Family {
        Family { features, ..self }
    }

    pub(super) const fn names_with(self, of_names: &'static str) -> Family {
        Family { of_names, ..self }
    }

    pub(super) const fn heads(self, heads: &'static [&'static str]) -> Family {
        Family { heads, ..self }
    }

    pub(super) const fn prefixes(self, prefixes: &'static [&'static str]) -> Family {
        Family { prefixes, ..self }
    }

    pub(super) const fn begins_in(self, form: u8) -> Family {
        Family {
            begins_in: Some(form),
            ..self
        }
    }
}
