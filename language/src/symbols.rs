//! Definitions and classes of bytes of a text, from one pass of the lexer.
//!
//! The lexer's tokens of each line go to the [`Parser`](parser::Parser) of the language's family,
//! which knows its scopes: braces, indentation, or words such as `end`. A parser skips what it
//! does not understand; it neither resolves names nor expands macros.
//!
//! **Invariants:** linear time; the state is bounded ([`DEFINITIONS_MAX`], [`SCOPES_MAX`]), and
//! hostile text gives wrong definitions at worst. Definitions ascend by name, and all ranges are
//! inside of the text.

mod blocks;
pub mod class;
pub mod kind;
mod outline;
mod parser;
mod parsers;
mod scopes;

#[cfg(test)]
mod tests;

pub use class::{Class, Run};
pub use kind::Kind;
pub use outline::{DEFINITIONS_MAX, SCOPES_MAX};

use crate::Language;
use crate::lexer::Syntax;
use crate::words::is_word;
use outline::Outline;
use std::ops::Range;

/// Version of lexer and parsers. An index keeps symbols, so raise this with every change of them.
pub const VERSION: u32 = 5;

/// Bytes of a text with symbols: generated parsers have 15 MB. Longer ones are data.
pub const TEXT_BYTES_MAX: usize = 32 << 20;

/// Name that a text defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Bytes of the name, within one line.
    pub name: Range<u32>,
    /// What it defines.
    pub kind: Kind,
    /// True for a prototype or forward declaration.
    pub is_declaration: bool,
    /// End of the body; the name's end without one.
    pub end: u32,
    /// Definition around it.
    pub parent: Parent,
}

impl Definition {
    /// Word that is defined: the name without signs around it. `None` for several words.
    pub fn word<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let name = text.get(self.name.start as usize..self.name.end as usize)?;
        let first = name.iter().position(|&byte| is_word(byte))?;
        let last = name.iter().rposition(|&byte| is_word(byte))?;
        let word = &name[first..=last];
        word.iter().all(|&byte| is_word(byte)).then_some(word)
    }

    /// Weight of the definition in ranks, from 1 to [`LEVEL_MAX`].
    pub fn level(&self) -> u8 {
        if self.is_declaration {
            return 2;
        }
        match self.kind {
            Kind::Implementation => 1,
            Kind::Field | Kind::Enumerator | Kind::Key | Kind::Selector | Kind::Id => 2,
            Kind::Type
            | Kind::Constant
            | Kind::Variable
            | Kind::Label
            | Kind::Section
            | Kind::Macro => 3,
            _ => LEVEL_MAX,
        }
    }
}

/// Highest [`Definition::level`].
pub const LEVEL_MAX: u8 = 4;

/// Definition that another one belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Parent {
    /// Top of the file.
    #[default]
    None,
    /// Index of an earlier definition with a body around it.
    Definition(u32),
    /// Name written before it: `Class` of `Class::name`, or a receiver.
    Name(Range<u32>),
}

/// Symbols of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Definitions, ascending by name.
    pub definitions: Vec<Definition>,
    /// Runs of one class, ascending; bytes between belong to `class`.
    pub runs: Vec<Run>,
    /// Class of the bytes outside of runs.
    pub class: Class,
    /// Reason for missing definitions.
    pub incomplete: Option<Incomplete>,
}

/// Reason for missing definitions of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// More than [`TEXT_BYTES_MAX`].
    TextTooLong,
    /// More than [`DEFINITIONS_MAX`].
    TooManyDefinitions,
}

impl Symbols {
    /// Lexes a text. Without a language, all of it is [`Class::Text`].
    pub fn of(language: Option<&Language>, text: &[u8]) -> Symbols {
        let syntax = language.and_then(|language| Syntax::of(language.name));
        let Some((language, syntax)) = language.zip(syntax) else {
            return Symbols {
                class: Class::Text,
                ..Symbols::default()
            };
        };
        if text.len() > TEXT_BYTES_MAX {
            return Symbols {
                incomplete: Some(Incomplete::TextTooLong),
                ..Symbols::default()
            };
        }
        let mut outline = Outline::new(text);
        let runs = parser::run(syntax, parsers::of(language), &mut outline);
        Symbols {
            runs,
            class: syntax.class(),
            incomplete: outline.incomplete(),
            definitions: outline.finish(),
        }
    }
}
