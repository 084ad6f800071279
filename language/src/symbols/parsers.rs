//! Parsers of definitions, a module a family, and which language has which.

use super::blocks::Blocks;
use super::parser::Parser;
use crate::Language;

mod go;
mod rust;

/// Parser of a language. `None`: it has no definitions.
pub(super) fn of(language: &Language) -> Option<Box<dyn Parser>> {
    let parser: Box<dyn Parser> = match language.name {
        "Go" => Box::<Blocks<go::Go>>::default(),
        "Rust" => Box::<Blocks<rust::Rust>>::default(),
        _ => return None,
    };
    Some(parser)
}
