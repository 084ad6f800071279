//! Syntax highlighting: comments, strings, numbers and keywords of a line.
//!
//! A flat table describes each language ([`Syntax::of`]), and one lexer reads them all, line by
//! line, with a state between lines. It has no grammar: names are not resolved, and embedded
//! languages are not lexed.
//!
//! **Invariants:** the lexer reads every byte a bounded number of times, never fails, and stops at
//! the end of the line. Hostile text can only be coloured wrongly.

mod document;
mod lexer;
mod lines;
mod markup;
mod quote;
mod row;
mod syntax;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use document::DocumentColours;
pub(crate) use lines::{LineStates, split_lines};
pub(crate) use syntax::Syntax;

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Comment,
    String,
    Number,
    Keyword,
    /// Built-in type.
    Type,
    /// Directives, attributes, macros of markup.
    Meta,
    /// Key, attribute, or variable in a text.
    Key,
    Added,
    Removed,
}

impl Colour {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Colour::Comment => "c-c",
            Colour::String => "c-s",
            Colour::Number => "c-n",
            Colour::Keyword => "c-k",
            Colour::Type => "c-t",
            Colour::Meta => "c-p",
            Colour::Key => "c-f",
            Colour::Added => "c-i",
            Colour::Removed => "c-d",
        }
    }
}

/// Coloured parts of a line, ascending. The rest has no colour.
pub(crate) type ColouredParts = Vec<(Range<usize>, Colour)>;

/// Lexer state at the end of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LineState {
    #[default]
    Code,
    /// One of the syntax's `quotes`.
    Quote { form: u8, depth: u16 },
    /// Long bracket of Lua.
    Long { level: u16, is_comment: bool },
    /// Raw string of Rust; number of `#`.
    Hashes(u16),
    /// Raw string of C++; hash of its delimiter.
    Raw(u32),
    /// Here-document; hash of its last line.
    Heredoc(u32),
    /// `q{…}` of Perl and the like.
    Delimited { open: u8, close: u8, depth: u16 },
    /// Tag of markup.
    Tag { is_raw: Option<RawElement> },
    /// Raw text of an element.
    RawText(RawElement),
}

/// Element with text that is not markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawElement {
    Script,
    Style,
}
