//! Lexer of colours, line by line, with a state between lines. It reads every byte a bounded
//! number of times and never fails: hostile text can only be coloured wrongly.

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

/// Role of a part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Comment.
    Comment,
    /// String or character.
    String,
    /// Number.
    Number,
    /// Word of the language.
    Keyword,
    /// Built-in type.
    Type,
    /// Directive, attribute, macro.
    Meta,
    /// Key, attribute, variable.
    Key,
    /// Line that a patch adds.
    Added,
    /// Line that a patch removes.
    Removed,
}

/// Receiver of a line's tokens, ascending.
pub trait Tokens {
    /// Takes a part with a colour, maybe that of the part before.
    fn coloured(&mut self, part: Range<usize>, colour: Colour);

    /// Takes a word without a colour.
    fn word(&mut self, _word: Range<usize>) {}

    /// Takes another byte of code.
    fn sign(&mut self, _at: usize, _sign: u8) {}
}

/// Ascending.
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

/// State at the end of a line.
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
    /// Inside of holes of strings.
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
    /// Block scalar of YAML.
    Block {
        /// Columns before its key.
        indent: u16,
    },
    /// `q{…}` of Perl.
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
    /// Tag.
    Tag {
        /// Element that it opens.
        is_raw: Option<RawElement>,
    },
    RawText(RawElement),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawElement {
    /// `<script>`
    Script,
    /// `<style>`
    Style,
}
