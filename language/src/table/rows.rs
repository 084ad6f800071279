//! Rows of the table.

use crate::lexer::Family;
use crate::lexer::families::{brackets, documents, functional, scripts};

/// Language, declared once.
pub struct Language {
    /// Canonical name: linguist's.
    pub name: &'static str,
    /// Other names, besides extensions.
    pub(super) aliases: Keys,
    /// True for source code, not configuration or data.
    pub(super) is_code: bool,
    /// Without dot, lower case; match in any case.
    pub(super) extensions: Keys,
    /// Case-sensitive file names: `BUILD` is Starlark, `build` is not.
    pub(super) file_names: Keys,
    pub(super) family: Option<&'static Family>,
}

pub(super) type Keys = &'static [&'static str];

const fn code(name: &'static str, extensions: Keys, file_names: Keys) -> Language {
    Language {
        name,
        aliases: &[],
        is_code: true,
        extensions,
        file_names,
        family: None,
    }
}

const fn prose(name: &'static str, extensions: Keys, file_names: Keys) -> Language {
    Language {
        is_code: false,
        ..code(name, extensions, file_names)
    }
}

impl Language {
    const fn aliases(self, aliases: Keys) -> Language {
        Language { aliases, ..self }
    }

    const fn family(self, family: &'static Family) -> Language {
        Language {
            family: Some(family),
            ..self
        }
    }
}

#[rustfmt::skip]
pub(super) static LANGUAGES: &[Language] = &[
    code("Ada", &["ads", "adb", "ada", "gpr"], &[]).family(&scripts::ADA),
    code("Agda", &["agda"], &[]).family(&functional::HASKELL),
    code("ANTLR", &["g4"], &[]).family(&brackets::ANTLR_4),
    code("AppleScript", &["applescript"], &[]).family(&scripts::APPLESCRIPT),
    prose("AsciiDoc", &["adoc", "asciidoc"], &[]).family(&documents::ASCIIDOC),
    code("ASP.NET", &["aspx", "ascx", "asax"], &[]).family(&scripts::VISUAL_BASIC),
    code("Assembly", &["s", "asm", "nasm"], &[]).family(&brackets::ASSEMBLY),
    code("Awk", &["awk", "gawk", "mawk"], &[]).family(&brackets::AWK),
    code("Batchfile", &["bat", "cmd"], &[]).family(&scripts::BATCHFILE),
    prose("BibTeX", &["bib"], &[]).family(&scripts::TEX),
    code("C", &["c", "h", "cats", "idc"], &[]).family(&brackets::C),
    code("C#", &["cs", "csx"], &[]).aliases(&["csharp"]).family(&brackets::CSHARP),
    code("C++", &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tcc", "tpp", "txx", "ixx", "cppm"], &[]).aliases(&["cplusplus"]).family(&brackets::CPP),
    code("Cabal Config", &["cabal"], &[]).family(&functional::CABAL),
    code("Cap'n Proto", &["capnp"], &[]).family(&brackets::PROTOBUF),
    code("Clojure", &["clj", "cljs", "cljc", "edn"], &[]).family(&functional::LISP),
    code("CMake", &["cmake"], &["CMakeLists.txt"]).family(&scripts::CMAKE),
    code("COBOL", &["cob", "cbl", "cobol"], &[]).family(&scripts::COBOL),
    code("CoffeeScript", &["coffee"], &[]).family(&scripts::COFFEESCRIPT),
    code("Common Lisp", &["lisp", "lsp", "asd"], &[]).aliases(&["lisp"]).family(&functional::LISP),
    code("Coq", &[], &[]).family(&functional::OCAML),
    code("Crystal", &["cr"], &[]).family(&scripts::RUBY),
    code("CSS", &["css"], &[]).family(&brackets::CSS),
    prose("CSV", &["csv"], &[]),
    code("Cuda", &["cu", "cuh"], &[]).family(&brackets::CPP),
    code("Cython", &["pyx", "pxd", "pxi"], &[]).family(&scripts::CYTHON),
    code("D", &["d", "di"], &[]).family(&brackets::D),
    code("Dart", &["dart"], &[]).family(&brackets::DART),
    code("Devicetree", &["dts", "dtsi"], &[]).family(&brackets::DEVICETREE),
    code("Diff", &["diff", "patch"], &[]).family(&documents::DIFF),
    code("Dockerfile", &["dockerfile"], &["Dockerfile", "Containerfile"]).family(&scripts::DOCKERFILE),
    code("Dune", &[], &["dune", "dune-project"]).family(&functional::LISP),
    code("Eiffel", &["e"], &[]).family(&scripts::EIFFEL),
    code("Elixir", &["ex", "exs"], &[]).family(&scripts::ELIXIR),
    code("Elm", &["elm"], &[]).family(&functional::ELM),
    code("Emacs Lisp", &["el"], &[".emacs"]).aliases(&["elisp"]).family(&functional::LISP),
    code("Erlang", &["erl", "hrl", "escript"], &[]).family(&functional::ERLANG),
    code("F#", &["fs", "fsi", "fsx"], &[]).aliases(&["fsharp"]).family(&functional::FSHARP),
    code("fish", &["fish"], &[]).family(&scripts::TCSH),
    code("FlatBuffers", &["fbs"], &[]).family(&brackets::PROTOBUF),
    code("Forth", &["fth", "4th", "forth"], &[]).family(&scripts::FORTH),
    code("Fortran", &["f", "for", "f77", "f90", "f95", "f03", "f08"], &[]).family(&scripts::FORTRAN),
    prose("Gettext Catalog", &["po", "pot"], &[]).family(&documents::GETTEXT),
    code("GLSL", &["glsl", "vert", "frag", "geom", "tesc", "tese", "comp"], &[]).family(&brackets::GLSL),
    code("Go", &["go"], &[]).aliases(&["golang"]).family(&brackets::GO),
    code("Go Module", &[], &["go.mod"]).family(&brackets::GO_MODULE),
    code("GraphQL", &["graphql", "gql", "graphqls"], &[]).family(&scripts::GRAPHQL),
    code("Groovy", &["groovy", "gradle"], &["Jenkinsfile"]).family(&brackets::GROOVY),
    code("Haskell", &["hs", "lhs", "hsc", "chs"], &[]).family(&functional::HASKELL),
    code("Haxe", &["hx"], &[]).family(&brackets::HAXE),
    code("HCL", &["tf", "hcl", "tfvars"], &[]).aliases(&["terraform"]).family(&scripts::HCL),
    code("HLSL", &["hlsl", "fx"], &[]).family(&brackets::GLSL),
    prose("HTML", &["html", "htm", "xhtml"], &[]).family(&documents::XML),
    code("Idris", &["idr"], &[]).family(&functional::HASKELL),
    prose("INI", &["ini", "cfg", "conf", "desktop", "service", "socket", "timer"], &[".editorconfig", ".gitconfig"]).family(&documents::INI),
    code("Java", &["java"], &[]).family(&brackets::JAVA),
    prose("Java Properties", &["properties"], &[]).family(&documents::INI),
    code("Java Server Pages", &["jsp"], &[]).family(&brackets::JAVA),
    code("JavaScript", &["js", "mjs", "cjs", "jsx"], &[]).aliases(&["node"]).family(&brackets::JAVASCRIPT),
    prose("JSON", &["json", "jsonl", "geojson", "webmanifest", "jsonc", "json5"], &[]).family(&documents::JSON),
    code("Jsonnet", &["jsonnet", "libsonnet"], &[]).family(&brackets::PUPPET),
    code("Julia", &["jl"], &[]).family(&scripts::JULIA),
    prose("Jupyter Notebook", &["ipynb"], &[]).family(&documents::JSON),
    code("Kconfig", &[], &["Kconfig"]).family(&scripts::MAKEFILE),
    code("Kotlin", &["kt", "kts"], &[]).family(&brackets::KOTLIN),
    code("Lean", &["lean"], &[]).family(&brackets::ANTLR),
    code("Less", &["less"], &[]).family(&brackets::SCSS),
    code("Lex", &["l", "ll", "lex"], &[]).family(&brackets::C),
    code("Linker Script", &["ld", "lds"], &[]).family(&brackets::DEVICETREE),
    code("Lua", &["lua", "rockspec"], &[]).family(&scripts::LUA),
    code("M4", &["m4", "ac", "at"], &["configure.in"]).family(&scripts::M4),
    code("Makefile", &["mk", "mak", "am", "make"], &["Makefile", "makefile", "GNUmakefile", "Kbuild"]).family(&scripts::MAKEFILE),
    prose("Markdown", &["md", "markdown", "mdx", "mkd"], &[]).family(&documents::MARKDOWN),
    code("MATLAB", &["matlab"], &[]).family(&scripts::MATLAB),
    code("Meson", &[], &["meson.build", "meson_options.txt", "meson.options"]).family(&scripts::PYTHON),
    code("Metal", &["metal"], &[]).family(&brackets::CPP),
    prose("Mustache", &["mustache"], &[]).family(&documents::MARKUP_CODE),
    code("Nim", &["nim", "nims", "nimble"], &[]).family(&scripts::NIM),
    code("Ninja", &["ninja"], &[]).family(&scripts::MAKEFILE),
    code("Nix", &["nix"], &[]).family(&scripts::NIX),
    code("Objective-C", &["m"], &[]).aliases(&["objc"]).family(&brackets::OBJECTIVE_C),
    code("Objective-C++", &["mm"], &[]).aliases(&["objective-cpp", "objc++"]).family(&brackets::CPP),
    code("OCaml", &["ml", "mli", "mll", "mly", "eliom"], &[]).family(&functional::OCAML),
    prose("Opam", &["opam"], &[]).family(&documents::OPAM),
    code("OpenCL", &["cl", "opencl"], &[]).family(&brackets::CPP),
    prose("Org", &["org"], &[]).family(&documents::ORG),
    code("Pascal", &["pas", "lpr", "dpr", "dfm", "lfm"], &[]).family(&scripts::PASCAL),
    code("Perl", &["pl", "pm", "t", "plx", "perl", "psgi", "cgi"], &[]).family(&scripts::PERL),
    code("Perl XS", &["xs"], &[]).family(&brackets::C),
    code("PHP", &["php", "phtml", "php3", "php4", "php5", "phpt"], &[]).family(&brackets::PHP),
    prose("Pod", &["pod"], &[]).family(&documents::POD),
    prose("PostScript", &["ps", "eps"], &[]).family(&scripts::POSTSCRIPT),
    code("PowerShell", &["ps1", "psm1", "psd1"], &[]).family(&scripts::POWERSHELL),
    code("Prolog", &["prolog", "plt"], &[]).family(&functional::PROLOG),
    code("Protocol Buffer", &["proto"], &[]).aliases(&["protobuf"]).family(&brackets::PROTOBUF),
    code("Puppet", &["pp"], &[]).family(&brackets::PUPPET),
    code("PureScript", &["purs"], &[]).family(&functional::HASKELL),
    code("Python", &["py", "pyi", "pyw", "gyp", "gypi"], &["SConstruct", "SConscript", "wscript"]).family(&scripts::PYTHON),
    code("QMake", &["pro", "pri", "prf"], &[]).family(&scripts::MAKEFILE),
    code("QML", &["qml"], &[]).family(&brackets::JAVASCRIPT),
    code("R", &["r"], &[".Rprofile"]).family(&scripts::R),
    code("Racket", &["rkt"], &[]).family(&functional::LISP),
    code("Raku", &["raku", "rakumod", "p6", "pl6", "pm6"], &[]).family(&scripts::RAKU),
    code("ReasonML", &["re", "rei"], &[]).family(&functional::REASON),
    prose("reStructuredText", &["rst", "rest"], &[]).family(&documents::RESTRUCTUREDTEXT),
    prose("Roff", &["1", "2", "3", "4", "5", "6", "7", "8", "9", "n", "man", "roff", "mdoc", "1m", "1x", "3pm", "3perl", "3ssl", "1ssl", "5ssl", "7ssl"], &[]).family(&documents::ROFF),
    code("RPM Spec", &["spec"], &[]).family(&scripts::SPEC),
    code("Ruby", &["rb", "rake", "gemspec", "ru", "podspec"], &["Rakefile", "Gemfile", "Vagrantfile", "Podfile"]).family(&scripts::RUBY),
    code("Rust", &["rs"], &[]).aliases(&["rustlang"]).family(&brackets::RUST),
    code("Sass", &["sass"], &[]).family(&brackets::SCSS),
    code("Scala", &["scala", "sbt", "sc"], &[]).family(&brackets::SCALA),
    code("Scheme", &["scm", "ss", "sld", "sls"], &[]).family(&functional::LISP),
    code("SCSS", &["scss"], &[]).family(&brackets::SCSS),
    code("Sed", &["sed"], &[]).family(&scripts::SED),
    code("Shell", &["sh", "bash", "zsh", "ksh", "dash", "bats", "ebuild", "eclass", "postinst", "preinst", "postrm", "prerm"], &["postinst", "preinst", "postrm", "prerm", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".xinitrc", "PKGBUILD", "APKBUILD"]).aliases(&["shell-script"]).family(&scripts::SHELL),
    code("Smalltalk", &["st"], &[]).family(&scripts::SMALLTALK),
    code("Solidity", &["sol"], &[]).family(&brackets::SOLIDITY),
    code("SQL", &["sql", "ddl", "dml", "pgsql", "plsql"], &[]).family(&scripts::SQL),
    code("Standard ML", &["sml", "sig", "fun"], &[]).family(&functional::STANDARD_ML),
    code("Starlark", &["bzl", "star", "bazel"], &["BUILD", "WORKSPACE", "BUCK"]).family(&scripts::PYTHON),
    code("Stylus", &["styl"], &[]).family(&brackets::SCSS),
    code("Svelte", &["svelte"], &[]).family(&brackets::JAVASCRIPT),
    prose("SVG", &["svg"], &[]).family(&documents::XML),
    code("Swift", &["swift"], &[]).family(&brackets::SWIFT),
    code("SWIG", &["i", "swg", "swig"], &[]).family(&brackets::C),
    code("SystemVerilog", &["sv", "svh"], &[]).family(&brackets::VERILOG),
    code("TableGen", &["td"], &[]).family(&brackets::DEVICETREE),
    code("Tcl", &["tcl", "tk", "exp", "itcl", "tm"], &[]).family(&scripts::TCL),
    code("Tcsh", &["csh", "tcsh"], &[]).family(&scripts::TCSH),
    prose("TeX", &["tex", "sty", "cls", "ltx", "dtx", "ins"], &[]).aliases(&["latex"]).family(&scripts::TEX),
    prose("Texinfo", &["texi", "texinfo", "txi"], &[]).family(&scripts::TEXINFO),
    prose("Text", &["txt"], &[]),
    code("Thrift", &["thrift"], &[]).family(&brackets::PROTOBUF),
    prose("TOML", &["toml"], &[]).family(&documents::TOML),
    code("TSX", &["tsx"], &[]).family(&brackets::TYPESCRIPT),
    code("Twig", &["twig"], &[]).family(&documents::MARKUP_CODE),
    code("TypeScript", &["ts", "mts", "cts"], &[]).family(&brackets::TYPESCRIPT),
    code("Vala", &["vala", "vapi"], &[]).family(&brackets::VALA),
    code("VBScript", &["vbs"], &[]).family(&scripts::VISUAL_BASIC),
    code("Verilog", &["v", "vh", "veo"], &[]).family(&brackets::VERILOG),
    code("VHDL", &["vhd", "vhdl"], &[]).family(&scripts::ADA),
    code("Vim Script", &["vim"], &[".vimrc", "_vimrc", ".gvimrc"]).aliases(&["viml", "vimscript"]).family(&scripts::VIM_SCRIPT),
    code("Visual Basic .NET", &["vb"], &[]).family(&scripts::VISUAL_BASIC),
    code("Vue", &["vue"], &[]).family(&brackets::JAVASCRIPT),
    code("WebAssembly", &["wat", "wast"], &[]).family(&functional::WEBASSEMBLY),
    code("WebIDL", &["webidl"], &[]).family(&brackets::PROTOBUF),
    code("WGSL", &["wgsl"], &[]).family(&brackets::WGSL),
    prose("XML", &["xml", "xsd", "xsi", "ui", "glade", "rng", "xmi", "wsdl", "plist", "dbk", "docbook", "dtd", "csproj", "vcxproj", "ent"], &[]).family(&documents::XML),
    code("XSLT", &["xsl", "xslt"], &[]).family(&documents::MARKUP_CODE),
    code("Yacc", &["y", "yacc", "yy"], &[]).family(&brackets::C),
    prose("YAML", &["yaml", "yml"], &[".clang-format", ".clang-tidy"]).family(&documents::YAML),
    code("Zig", &["zig", "zon"], &[]).family(&brackets::ZIG),
];
