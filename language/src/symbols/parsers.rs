//! Parsers of definitions, a module a family, and which language has which.

use super::parser::Parser;
use crate::Language;

mod braces;
mod c;
mod devicetree;
mod ends;
mod lines;
mod python;
mod rust;
mod wgsl;
#[cfg(test)]
mod script_tests;

use c::{C, Grammar, Host};

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
        "Perl" | "Pod" => Box::new(braces::Braces::new(braces::Dialect::Perl)),
        "Raku" => Box::new(braces::Braces::new(braces::Dialect::Raku)),
        "Shell" => Box::new(braces::Braces::new(braces::Dialect::Shell)),
        "RPM Spec" => Box::new(braces::Braces::new(braces::Dialect::Spec)),
        "Awk" => Box::new(braces::Braces::new(braces::Dialect::Awk)),
        "Tcl" => Box::new(braces::Braces::new(braces::Dialect::Tcl)),
        "PowerShell" => Box::new(braces::Braces::new(braces::Dialect::PowerShell)),
        "R" => Box::new(braces::Braces::new(braces::Dialect::R)),
        "Makefile" => Box::new(lines::Lines::new(lines::Dialect::Make)),
        "QMake" => Box::new(lines::Lines::new(lines::Dialect::QMake)),
        "Ninja" => Box::new(lines::Lines::new(lines::Dialect::Ninja)),
        "Kconfig" => Box::new(lines::Lines::new(lines::Dialect::Kconfig)),
        "CMake" => Box::new(lines::Lines::new(lines::Dialect::CMake)),
        "M4" => Box::new(lines::Lines::new(lines::Dialect::M4)),
        "Dockerfile" => Box::new(lines::Lines::new(lines::Dialect::Dockerfile)),
        "Batchfile" => Box::new(lines::Lines::new(lines::Dialect::Batchfile)),
        "Vim Script" => Box::new(lines::Lines::new(lines::Dialect::Vim)),
        "Tcsh" => Box::new(lines::Lines::new(lines::Dialect::Tcsh)),
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
