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
mod definition;
mod description;
mod forms;
pub mod kind;
mod outline;
mod parser;
mod parsers;
mod scopes;
mod words;

#[cfg(test)]
mod tests;

pub use class::{Class, Run};
pub use definition::{Definition, Incomplete, LEVEL_MAX, Parent, Symbols};
pub use kind::Kind;
pub use outline::{DEFINITIONS_MAX, SCOPES_MAX};

use crate::Language;
use crate::lexer::Syntax;
use outline::Outline;
use parser::{Line, Parser, Role, Token, is_of};
use std::fmt;

/// Version of lexer and parsers. An index keeps symbols, so raise this with every change of them.
pub const VERSION: u32 = 6;

/// Bytes of a text with symbols: generated parsers have 15 MB. Longer ones are data.
pub const TEXT_BYTES_MAX: usize = 32 << 20;

impl Symbols {
    /// Without a language, all text is [`Class::Text`].
    pub fn of(language: Option<&Language>, text: &[u8]) -> Symbols {
        let syntax = language.and_then(|language| Syntax::of(language.name));
        let Some((language, syntax)) = language.zip(syntax) else {
            return Symbols {
                class: Class::Text,
                ..Symbols::default()
            };
        };
        if text.len() > TEXT_BYTES_MAX {
            return Symbols::of_long_text(Some(language));
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

    pub fn of_long_text(language: Option<&Language>) -> Symbols {
        let class = language.and_then(|language| Syntax::of(language.name));
        Symbols {
            class: class.map_or(Class::Text, Syntax::class),
            incomplete: class.map(|_| Incomplete::TextTooLong),
            ..Symbols::default()
        }
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomplete::TextTooLong => {
                write!(out, "no symbols: more than {TEXT_BYTES_MAX} bytes")
            }
            Incomplete::TooManyDefinitions => {
                write!(
                    out,
                    "not all symbols: more than {DEFINITIONS_MAX} definitions"
                )
            }
        }
    }
}
