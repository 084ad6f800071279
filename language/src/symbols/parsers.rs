//! Parsers of definitions, a module a family, and which language has which.

use super::parser::Parser;
use crate::Language;

mod layout;
mod rust;

use layout::{Dialect, Layout};

/// Parser of a language. `None`: it has no definitions.
pub(super) fn of(language: &Language) -> Option<Box<dyn Parser>> {
    let parser: Box<dyn Parser> = match language.name {
        "Agda" | "Idris" => Box::new(Layout::new(Dialect::Dependent)),
        "Elm" => Box::new(Layout::new(Dialect::Elm)),
        "Haskell" | "PureScript" => Box::new(Layout::new(Dialect::Haskell)),
        "Rust" => Box::<rust::Rust>::default(),
        _ => return None,
    };
    Some(parser)
}
