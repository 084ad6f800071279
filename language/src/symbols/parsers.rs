//! Parsers of definitions, a module a family, and which language has which.

use super::parser::Parser;
use crate::Language;

mod ada;
mod assembly;
mod basic;
mod clauses;
mod fortran;
mod headings;
mod layout;
mod lisp;
mod ml;
mod pascal;
mod rust;
mod stack;
mod verilog;
mod words;

use ada::Ada;
use assembly::Assembly;
use basic::{Basic, Cobol, Matlab};
use clauses::Clauses;
use fortran::Fortran;
use headings::Headings;
use layout::Layout;
use lisp::Lisp;
use ml::Ml;
use pascal::Pascal;
use stack::{Eiffel, Forth, PostScript};
use verilog::Verilog;

/// Parser of a language. `None`: it has no definitions.
pub(super) fn of(language: &Language) -> Option<Box<dyn Parser>> {
    let parser: Box<dyn Parser> = match language.name {
        "Agda" | "Idris" => Box::new(Layout::new(layout::Dialect::Dependent)),
        "Elm" => Box::new(Layout::new(layout::Dialect::Elm)),
        "Haskell" | "PureScript" => Box::new(Layout::new(layout::Dialect::Haskell)),
        "Clojure" => Box::new(Lisp::new(lisp::Dialect::Clojure)),
        "Common Lisp" | "Emacs Lisp" => Box::new(Lisp::new(lisp::Dialect::Lisp)),
        "Racket" | "Scheme" => Box::new(Lisp::new(lisp::Dialect::Scheme)),
        "WebAssembly" => Box::new(Lisp::new(lisp::Dialect::WebAssembly)),
        "F#" => Box::new(Ml::new(ml::Dialect::FSharp)),
        "OCaml" => Box::new(Ml::new(ml::Dialect::OCaml)),
        "ReasonML" => Box::new(Ml::new(ml::Dialect::Reason)),
        "Standard ML" => Box::new(Ml::new(ml::Dialect::StandardMl)),
        "Assembly" => Box::<Assembly>::default(),
        "Erlang" => Box::new(Clauses::new(true)),
        "Prolog" => Box::new(Clauses::new(false)),
        "BibTeX" => Box::new(Headings::new(headings::Dialect::Bibtex)),
        "Roff" => Box::new(Headings::new(headings::Dialect::Roff)),
        "TeX" => Box::new(Headings::new(headings::Dialect::Tex)),
        "Texinfo" => Box::new(Headings::new(headings::Dialect::Texinfo)),
        "COBOL" => Box::<Cobol>::default(),
        "Fortran" => Box::<Fortran>::default(),
        "MATLAB" => Box::<Matlab>::default(),
        "ASP.NET" | "VBScript" | "Visual Basic .NET" => Box::<Basic>::default(),
        "Ada" => Box::new(Ada::new(false)),
        "VHDL" => Box::new(Ada::new(true)),
        "Pascal" => Box::<Pascal>::default(),
        "SystemVerilog" | "Verilog" => Box::<Verilog>::default(),
        "Eiffel" => Box::<Eiffel>::default(),
        "Forth" => Box::<Forth>::default(),
        "PostScript" => Box::<PostScript>::default(),
        "Rust" => Box::<rust::Rust>::default(),
        _ => return None,
    };
    Some(parser)
}
