//! Parsers of definitions, a module a family, and which language has which.

use super::blocks::Blocks;
use super::parser::Parser;
use crate::Language;

mod ada;
mod antlr;
mod assembly;
mod basic;
mod braces;
mod c;
mod clauses;
mod coffeescript;
mod config;
mod devicetree;
mod documents;
mod ends;
mod fortran;
mod go;
mod headings;
mod java;
mod javascript;
mod layout;
mod lines;
mod lisp;
mod ml;
mod nim;
mod pascal;
mod php;
mod python;
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
mod words;
mod zig;

use ada::Ada;
use assembly::Assembly;
use basic::{Basic, Cobol, Matlab};
use c::{C, Grammar, Host};
use clauses::Clauses;
use documents::{asciidoc, markdown, markup, org, restructured};
use fortran::Fortran;
use headings::Headings;
use java::{Dialect, Java};
use javascript::{Dialect as Script, JavaScript};
use layout::Layout;
use lisp::Lisp;
use ml::Ml;
use pascal::Pascal;
use schema::Schema;
use settings::{Dialect as Settings, Ini};
use stack::{Eiffel, Forth, PostScript};
use style::Style;
use verilog::Verilog;

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
        "WGSL" => Box::new(Blocks::of(wgsl::Wgsl)),
        "Go" => Box::new(Blocks::of(go::Go)),
        "Rust" => Box::new(Blocks::of(rust::Rust)),
        "PHP" => Box::new(Blocks::of(php::Php)),
        "Zig" => Box::new(Blocks::of(zig::Zig)),
        "Nim" => Box::<nim::Nim>::default(),
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
        "CoffeeScript" => Box::<coffeescript::CoffeeScript>::default(),
        "JavaScript" => Box::new(JavaScript::new(Script::JavaScript)),
        "TypeScript" | "TSX" => Box::new(JavaScript::new(Script::TypeScript)),
        "QML" => Box::new(JavaScript::new(Script::Qml)),
        "Vue" | "Svelte" => Box::new(JavaScript::new(Script::Tagged)),
        "AsciiDoc" => Box::<asciidoc::AsciiDoc>::default(),
        "Cabal Config" => Box::new(Ini::new(Settings::Cabal)),
        "CSS" | "SCSS" | "Less" => Box::<Style>::default(),
        "HTML" => Box::new(markup::Markup::html()),
        "INI" => Box::new(Ini::new(Settings::Ini)),
        "Java Properties" => Box::new(Ini::new(Settings::Properties)),
        "JSON" | "Jupyter Notebook" => Box::<settings::Json>::default(),
        "Markdown" => Box::<markdown::Markdown>::default(),
        "Opam" => Box::new(Ini::new(Settings::Opam)),
        "Org" => Box::<org::Org>::default(),
        "reStructuredText" => Box::<restructured::Restructured>::default(),
        "Sass" | "Stylus" => Box::new(Style::columns()),
        "SVG" | "XML" | "XSLT" => Box::<markup::Markup>::default(),
        "TOML" => Box::new(Ini::new(Settings::Toml)),
        "YAML" => Box::<settings::Yaml>::default(),
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
        _ => return None,
    };
    Some(parser)
}
