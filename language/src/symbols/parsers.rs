//! Parsers of definitions, a module a family, and which language has which.

use super::parser::Parser;
use crate::Language;

mod ends;
mod python;
mod rust;

/// Parser of a language. `None`: it has no definitions.
pub(super) fn of(language: &Language) -> Option<Box<dyn Parser>> {
    let parser: Box<dyn Parser> = match language.name {
        "Python" | "Meson" => Box::new(python::Python::new(python::Dialect::Python)),
        "Cython" => Box::new(python::Python::new(python::Dialect::Cython)),
        "Starlark" => Box::new(python::Python::new(python::Dialect::Starlark)),
        "Ruby" => Box::new(ends::Ends::new(ends::Dialect::Ruby)),
        "Crystal" => Box::new(ends::Ends::new(ends::Dialect::Crystal)),
        "Elixir" => Box::new(ends::Ends::new(ends::Dialect::Elixir)),
        "Lua" => Box::new(ends::Ends::new(ends::Dialect::Lua)),
        "Julia" => Box::new(ends::Ends::new(ends::Dialect::Julia)),
        "fish" => Box::new(ends::Ends::new(ends::Dialect::Fish)),
        "Rust" => Box::<rust::Rust>::default(),
        _ => return None,
    };
    Some(parser)
}
