//! Names of languages, for completion. Backends know the languages; frontends do not ask them at
//! each letter. A test of the binary compares the two.

/// All names, ascending.
#[rustfmt::skip]
pub const LANGUAGES: &[&str] = &[
    "Ada", "Agda", "ANTLR", "AppleScript", "AsciiDoc", "ASP.NET", "Assembly", "Awk", "Batchfile",
    "BibTeX", "C", "C#", "C++", "Cabal Config", "Cap'n Proto", "Clojure", "CMake", "COBOL",
    "CoffeeScript", "Common Lisp", "Crystal", "CSS", "CSV", "Cuda", "Cython", "D", "Dart",
    "Devicetree", "Diff", "Dockerfile", "Dune", "Eiffel", "Elixir", "Elm", "Emacs Lisp", "Erlang",
    "F#", "fish", "FlatBuffers", "Forth", "Fortran", "Gettext Catalog", "GLSL", "Go", "Go Module",
    "GraphQL", "Groovy", "Haskell", "Haxe", "HCL", "HLSL", "HTML", "Idris", "INI", "Java",
    "Java Properties", "Java Server Pages", "JavaScript", "JSON", "Jsonnet", "Julia",
    "Jupyter Notebook", "Kconfig", "Kotlin", "Lean", "Less", "Lex", "Linker Script", "Lua", "M4",
    "Makefile", "Markdown", "MATLAB", "Meson", "Metal", "Mustache", "Nim", "Ninja", "Nix",
    "Objective-C", "Objective-C++", "OCaml", "Opam", "OpenCL", "Org", "Pascal", "Perl", "Perl XS",
    "PHP", "Pod", "PostScript", "PowerShell", "Prolog", "Protocol Buffer", "Puppet", "PureScript",
    "Python", "QMake", "QML", "R", "Racket", "Raku", "ReasonML", "reStructuredText", "Roff",
    "RPM Spec", "Ruby", "Rust", "Sass", "Scala", "Scheme", "SCSS", "Sed", "Shell", "Smalltalk",
    "Solidity", "SQL", "Standard ML", "Starlark", "Stylus", "Svelte", "SVG", "Swift", "SWIG",
    "SystemVerilog", "TableGen", "Tcl", "Tcsh", "TeX", "Texinfo", "Text", "Thrift", "TOML", "TSX",
    "Twig", "TypeScript", "Vala", "VBScript", "Verilog", "VHDL", "Vim Script", "Visual Basic .NET",
    "Vue", "WebAssembly", "WebIDL", "WGSL", "XML", "XSLT", "Yacc", "YAML", "Zig",
];
