//! Parsers of definitions, a module a family, and which language has which.

use super::parser::Parser;
use crate::Language;
use documents::{asciidoc, markdown, markup, org, restructured};
use settings::{Dialect, Ini};
use style::Style;

mod documents;
mod rust;
mod settings;
mod style;

/// Parser of a language. `None`: it has no definitions.
pub(super) fn of(language: &Language) -> Option<Box<dyn Parser>> {
    let parser: Box<dyn Parser> = match language.name {
        "AsciiDoc" => Box::<asciidoc::AsciiDoc>::default(),
        "Cabal Config" => Box::new(Ini::new(Dialect::Cabal)),
        "CSS" | "SCSS" | "Less" => Box::<Style>::default(),
        "HTML" => Box::new(markup::Markup::html()),
        "INI" => Box::new(Ini::new(Dialect::Ini)),
        "Java Properties" => Box::new(Ini::new(Dialect::Properties)),
        "JSON" | "Jupyter Notebook" => Box::<settings::Json>::default(),
        "Markdown" => Box::<markdown::Markdown>::default(),
        "Opam" => Box::new(Ini::new(Dialect::Opam)),
        "Org" => Box::<org::Org>::default(),
        "reStructuredText" => Box::<restructured::Restructured>::default(),
        "Sass" | "Stylus" => Box::new(Style::columns()),
        "SVG" | "XML" | "XSLT" => Box::<markup::Markup>::default(),
        "TOML" => Box::new(Ini::new(Dialect::Toml)),
        "YAML" => Box::<settings::Yaml>::default(),
        "Rust" => Box::<rust::Rust>::default(),
        _ => return None,
    };
    Some(parser)
}
