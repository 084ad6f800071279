//! Colours of source code: which bytes of a line are comments, strings, numbers, keywords.
//!
//! A flat table says how each language writes these ([`Syntax::of`]), and one lexer reads them all. It
//! reads a line at a time and takes a state from line to line, so a line inside a block comment is a
//! comment. It knows no grammar: names are not resolved, and languages inside languages are not read.
//!
//! **Invariants:** the lexer reads every byte a bounded number of times, never fails, and always ends with
//! the line: what looks wrong in hostile text is the colour of that text.

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

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Comment,
    String,
    Number,
    Keyword,
    /// A type of the language itself.
    Type,
    /// What is not the program: directives, attributes, macros of markup.
    Meta,
    /// A key, an attribute's name, a variable in a text.
    Key,
    /// A line that a patch adds.
    Added,
    /// A line that a patch removes.
    Removed,
}

impl Colour {
    /// The class of its element.
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

/// The coloured parts of a line, ascending. What is between them has no colour.
pub(crate) type ColouredParts = Vec<(Range<usize>, Colour)>;

/// What the end of a line is inside of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LineState {
    #[default]
    Code,
    /// A form of the syntax's `quotes`, nested so deeply.
    Quote { form: u8, depth: u16 },
    /// A long bracket of Lua.
    Long { level: u16, is_comment: bool },
    /// A raw string of Rust, with so many `#`.
    Hashes(u16),
    /// A raw string of C++, whose delimiter has this hash.
    Raw(u32),
    /// A here-document, whose last line has this hash.
    Heredoc(u32),
    /// `q{…}` of Perl and its like.
    Delimited { open: u8, close: u8, depth: u16 },
    /// A tag of markup.
    Tag { is_raw: Option<RawElement> },
    /// The text of an element whose content is no markup.
    RawText(RawElement),
}

/// An element whose content is no markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawElement {
    Script,
    Style,
}
