//! Lexer of colours: comments, strings, numbers and keywords of a line.
//!
//! A flat family describes each language ([`Syntax::of`]), and one lexer reads them all, line by
//! line, with a state between lines. It has no grammar: names are not resolved, and embedded
//! languages are not lexed.
//!
//! **Invariants:** the lexer reads every byte a bounded number of times, never fails, and stops at
//! the end of the line. Hostile text can only be coloured wrongly.

mod class;
pub(crate) mod families;
mod markup;
mod quote;
mod reader;
mod syntax;

#[cfg(test)]
mod tests;

pub use class::Class;
pub(crate) use families::Family;
pub use reader::Holes;
pub use syntax::Syntax;

use std::ops::Range;

/// Role of a part of a line, which gives it a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Comment, with its signs.
    Comment,
    /// String or character, with its quotes.
    String,
    /// Number, with its suffix.
    Number,
    /// Word of the language.
    Keyword,
    /// Built-in type.
    Type,
    /// Directives, attributes, macros of markup.
    Meta,
    /// Key, attribute, or variable in a text.
    Key,
    /// Line that a patch adds.
    Added,
    /// Line that a patch removes.
    Removed,
}

/// Receiver of the tokens of a line, ascending.
pub trait Tokens {
    /// Takes a part with a colour; adjacent parts of one colour are one part.
    fn coloured(&mut self, part: Range<usize>, colour: Colour);

    /// Takes a word without a colour.
    fn word(&mut self, _word: Range<usize>) {}

    /// Takes a byte of code outside of words, numbers and blanks.
    fn sign(&mut self, _at: usize, _sign: u8) {}
}

/// Coloured parts of a line, ascending. The rest has no colour.
pub type ColouredParts = Vec<(Range<usize>, Colour)>;

impl Tokens for ColouredParts {
    fn coloured(&mut self, part: Range<usize>, colour: Colour) {
        match self.last_mut() {
            Some((range, last)) if range.end == part.start && *last == colour => {
                range.end = part.end;
            }
            _ => self.push((part, colour)),
        }
    }
}

/// Lexer state at the end of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineState {
    /// Outside of all forms.
    #[default]
    Code,
    /// One of the syntax's `quotes`.
    Quote {
        /// Its index.
        form: u8,
        /// Open forms.
        depth: u16,
    },
    /// Code or a string in holes of strings.
    Hole(Holes),
    /// Long bracket of Lua.
    Long {
        /// Number of `=`.
        level: u16,
        /// True behind `--`.
        is_comment: bool,
    },
    /// Raw string of Rust; number of `#`.
    Hashes(u16),
    /// Raw string of C++; hash of its delimiter.
    Raw(u32),
    /// Here-document; hash of its last line.
    Heredoc(u32),
    /// Block scalar of YAML: lines with more blanks.
    Block {
        /// Columns before its key.
        indent: u16,
    },
    /// `q{…}` of Perl and the like.
    Delimited {
        /// Opening sign.
        open: u8,
        /// Closing sign.
        close: u8,
        /// Open pairs.
        depth: u16,
        /// True in the first part of `s{…}{…}`; without signs, behind it.
        has_second: bool,
    },
    /// Tag of markup.
    Tag {
        /// Element that the tag opens, if its text is raw.
        is_raw: Option<RawElement>,
    },
    /// Raw text of an element.
    RawText(RawElement),
}

/// Element with text that is not markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawElement {
    /// `<script>`
    Script,
    /// `<style>`
    Style,
}
