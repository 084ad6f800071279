//! Parsers of definitions, a module a family, and which language has which.

use super::parser::Parser;
use crate::Language;

mod coffeescript;
mod java;
mod javascript;
mod rust;

use java::{Dialect, Java};
use javascript::{Dialect as Script, JavaScript};

/// Parser of a language. `None`: it has no definitions.
pub(super) fn of(language: &Language) -> Option<Box<dyn Parser>> {
    let parser: Box<dyn Parser> = match language.name {
        "Java" => Box::new(Java::new(Dialect::Java)),
        "C#" => Box::new(Java::new(Dialect::CSharp)),
        "Kotlin" => Box::new(Java::new(Dialect::Kotlin)),
        "Scala" => Box::new(Java::new(Dialect::Scala)),
        "Dart" => Box::new(Java::new(Dialect::Dart)),
        "Groovy" => Box::new(Java::new(Dialect::Groovy)),
        "D" => Box::new(Java::new(Dialect::D)),
        "Vala" => Box::new(Java::new(Dialect::Vala)),
        "Swift" => Box::new(Java::new(Dialect::Swift)),
        "Haxe" => Box::new(Java::new(Dialect::Haxe)),
        "Solidity" => Box::new(Java::new(Dialect::Solidity)),
        "CoffeeScript" => Box::<coffeescript::CoffeeScript>::default(),
        "JavaScript" => Box::new(JavaScript::new(Script::JavaScript)),
        "TypeScript" | "TSX" => Box::new(JavaScript::new(Script::TypeScript)),
        "QML" => Box::new(JavaScript::new(Script::Qml)),
        "Vue" | "Svelte" => Box::new(JavaScript::new(Script::Tagged)),
        "Rust" => Box::<rust::Rust>::default(),
        _ => return None,
    };
    Some(parser)
}
