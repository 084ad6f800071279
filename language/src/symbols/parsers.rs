//! Parsers of definitions, a module a family, and which language has which.

use super::parser::Parser;
use crate::Language;

mod c;
mod devicetree;
mod rust;
mod wgsl;

use c::{C, Grammar, Host};

/// Parser of a language. `None`: it has no definitions.
pub(super) fn of(language: &Language) -> Option<Box<dyn Parser>> {
    let parser: Box<dyn Parser> = match language.name {
        "C" | "C++" | "Objective-C" | "Objective-C++" | "Cuda" | "Metal" | "OpenCL" => {
            Box::<C>::default()
        }
        "GLSL" | "HLSL" => Box::new(C::shader()),
        "Yacc" => Box::new(Grammar::new(Host::Yacc)),
        "Lex" => Box::new(Grammar::new(Host::Lex)),
        "SWIG" => Box::new(Grammar::new(Host::Swig)),
        "Perl XS" => Box::new(Grammar::new(Host::Xs)),
        "Devicetree" => Box::<devicetree::Devicetree>::default(),
        "WGSL" => Box::<wgsl::Wgsl>::default(),
        "Rust" => Box::<rust::Rust>::default(),
        _ => return None,
    };
    Some(parser)
}
