//! Parsers of definitions, a module a family, and which language has which.

use super::blocks::Blocks;
use super::forms::{Lines, Statements};
use super::parser::Parser;
use crate::Language;

mod ada;
mod antlr;
mod assembly;
mod basic;
mod braces;
mod c;
mod clauses;
mod config;
mod devicetree;
mod documents;
mod ends;
mod fortran;
mod go;
mod headings;
mod indented;
mod java;
mod javascript;
mod layout;
mod lines;
mod lisp;
mod ml;
mod pascal;
mod php;
mod rust;
mod schema;
#[cfg(test)]
mod script_tests;
mod settings;
mod sql;
mod stack;
mod style;
mod verilog;
mod wgsl;
mod zig;

use c::{C, Grammar, Host};
use clauses::Clauses;
use documents::{markup, restructured};
use indented::Indented;
use java::{Dialect, Java};
use javascript::{Dialect as Script, JavaScript};
use layout::Layout;
use lisp::Lisp;
use ml::Ml;
use schema::Schema;
use style::Style;

/// `None`: no definitions.
pub(super) fn of(language: &Language) -> Option<Box<dyn Parser>> {
    let parser: Box<dyn Parser> = match language.name {
        "Python" | "Meson" => Box::new(Indented::new(indented::Dialect::Python)),
        "Cython" => Box::new(Indented::new(indented::Dialect::Cython)),
        "Starlark" => Box::new(Indented::new(indented::Dialect::Starlark)),
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
        "Makefile" => Box::new(Lines::of(&lines::MAKE)),
        "QMake" => Box::new(Lines::of(&lines::QMAKE)),
        "Ninja" => Box::new(Lines::of(&lines::NINJA)),
        "Kconfig" => Box::new(Lines::of(&lines::KCONFIG)),
        "CMake" => Box::new(Lines::of(&lines::CMAKE)),
        "M4" => Box::new(Lines::of(&lines::M4)),
        "Dockerfile" => Box::new(Lines::of(&lines::DOCKERFILE)),
        "Batchfile" => Box::new(Lines::of(&lines::BATCHFILE)),
        "Vim Script" => Box::new(Lines::of(&lines::VIM)),
        "Tcsh" => Box::new(Lines::of(&lines::TCSH)),
        "C" | "C++" | "Objective-C" | "Objective-C++" | "Cuda" | "Metal" | "OpenCL" => {
            Box::<C>::default()
        }
        "GLSL" | "HLSL" => Box::new(C::shader()),
        "Yacc" => Box::new(Grammar::new(Host::Yacc)),
        "Lex" => Box::new(Grammar::new(Host::Lex)),
        "SWIG" => Box::new(Grammar::new(Host::Swig)),
        "Perl XS" => Box::new(Grammar::new(Host::Xs)),
        "Devicetree" => Box::<devicetree::Devicetree>::default(),
        "WGSL" => Box::new(Blocks::of(wgsl::Wgsl)),
        "Go" => Box::new(Blocks::of(go::Go)),
        "Rust" => Box::new(Blocks::of(rust::Rust)),
        "PHP" => Box::new(Blocks::of(php::Php)),
        "Zig" => Box::new(Blocks::of(zig::Zig)),
        "Nim" => Box::new(Indented::new(indented::Dialect::Nim)),
        "ANTLR" => Box::new(Blocks::of(antlr::Antlr::default())),
        "SQL" => Box::new(Blocks::of(sql::Sql)),
        "HCL" => Box::new(Blocks::of(config::Hcl)),
        "Puppet" => Box::new(Blocks::of(config::Puppet)),
        "Nix" => Box::new(Blocks::of(config::Nix)),
        "Protocol Buffer" => Box::new(Blocks::of(Schema::Protobuf)),
        "Thrift" => Box::new(Blocks::of(Schema::Thrift)),
        "Cap'n Proto" => Box::new(Blocks::of(Schema::CapnProto)),
        "FlatBuffers" => Box::new(Blocks::of(Schema::FlatBuffers)),
        "WebIDL" => Box::new(Blocks::of(Schema::WebIdl)),
        "GraphQL" => Box::new(Blocks::of(Schema::GraphQl)),
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
        "CoffeeScript" => Box::new(Indented::new(indented::Dialect::CoffeeScript)),
        "JavaScript" => Box::new(JavaScript::new(Script::JavaScript)),
        "TypeScript" | "TSX" => Box::new(JavaScript::new(Script::TypeScript)),
        "QML" => Box::new(JavaScript::new(Script::Qml)),
        "Vue" | "Svelte" => Box::new(JavaScript::new(Script::Tagged)),
        "AsciiDoc" => Box::new(Lines::of(&headings::ASCIIDOC)),
        "Cabal Config" => Box::new(Lines::of(&settings::CABAL)),
        "CSS" | "SCSS" | "Less" => Box::<Style>::default(),
        "HTML" => Box::new(markup::Markup::html()),
        "INI" => Box::new(Lines::of(&settings::INI)),
        "Java Properties" => Box::new(Lines::of(&settings::PROPERTIES)),
        "JSON" | "Jupyter Notebook" => Box::<settings::Json>::default(),
        "Markdown" => Box::new(Lines::of(&headings::MARKDOWN)),
        "Opam" => Box::new(Lines::of(&settings::OPAM)),
        "Org" => Box::new(Lines::of(&headings::ORG)),
        "reStructuredText" => Box::<restructured::Restructured>::default(),
        "Sass" | "Stylus" => Box::new(Style::columns()),
        "SVG" | "XML" | "XSLT" => Box::<markup::Markup>::default(),
        "TOML" => Box::new(Lines::of(&settings::TOML)),
        "YAML" => Box::new(Lines::of(&settings::YAML)),
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
        "Assembly" => Box::new(Lines::of(&assembly::ASSEMBLY)),
        "Erlang" => Box::new(Clauses::new(true)),
        "Prolog" => Box::new(Clauses::new(false)),
        "BibTeX" => Box::new(Lines::of(&headings::BIBTEX)),
        "Roff" => Box::new(Lines::of(&headings::ROFF)),
        "TeX" => Box::new(Lines::of(&headings::TEX)),
        "Texinfo" => Box::new(Lines::of(&headings::TEXINFO)),
        "COBOL" => Box::new(Lines::of(&basic::COBOL)),
        "Fortran" => Box::new(Statements::of(&fortran::FORTRAN, &fortran::ENDS)),
        "MATLAB" => Box::new(Statements::of(&basic::MATLAB, &basic::MATLAB_ENDS)),
        "ASP.NET" | "VBScript" | "Visual Basic .NET" => {
            Box::new(Statements::of(&basic::BASIC, &basic::BASIC_ENDS))
        }
        "Ada" => Box::new(Statements::of(&ada::ADA, &ada::ADA_ENDS)),
        "VHDL" => Box::new(Statements::of(&ada::VHDL, &ada::VHDL_ENDS)),
        "Pascal" => Box::new(Statements::of(&pascal::PASCAL, &pascal::ENDS)),
        "SystemVerilog" | "Verilog" => Box::new(Statements::of(&verilog::VERILOG, &verilog::ENDS)),
        "Eiffel" => Box::new(Lines::of(&stack::EIFFEL)),
        "Forth" => Box::new(Lines::of(&stack::FORTH)),
        "PostScript" => Box::new(Lines::of(&stack::POSTSCRIPT)),
        _ => return None,
    };
    Some(parser)
}
