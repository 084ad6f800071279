//! Language of a document by its path: a flat table with linguist's names.
//!
//! A shared extension belongs to the most common language: `.h` is C, `.m` Objective-C, `.pp`
//! Puppet, `.v` Verilog. Shebang lines are not read. Other paths have no language.
//!
//! **Invariant:** keys are unique (tested), so the order has no effect.

use std::sync::LazyLock;

use fnv::FnvHashMap;

use super::{extension, split_name};

/// Returns the canonical language name of a path.
pub fn language(path: &[u8]) -> Option<&'static str> {
    find(path).map(|language| language.name)
}

/// Returns the canonical name for a name, alias or extension, ignoring case.
pub fn language_named(name: &str) -> Option<&'static str> {
    let by_name = |name: &str| {
        let is_it = |language: &&Language| language.name.eq_ignore_ascii_case(name);
        LANGUAGES.iter().find(is_it).map(|language| language.name)
    };
    let alias = ALIASES
        .iter()
        .find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    by_name(name)
        .or_else(|| by_name(alias?.1))
        .or_else(|| by_extension(name.to_ascii_lowercase().as_bytes()).map(|it| it.name))
}

/// Canonical names of all languages.
pub fn languages() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().map(|language| language.name)
}

/// Aliases that are not extensions.
#[rustfmt::skip]
const ALIASES: [(&str, &str); 17] = [
    ("csharp", "C#"), ("cplusplus", "C++"), ("elisp", "Emacs Lisp"), ("fsharp", "F#"),
    ("golang", "Go"), ("latex", "TeX"), ("lisp", "Common Lisp"), ("node", "JavaScript"),
    ("objc", "Objective-C"), ("objective-cpp", "Objective-C++"), ("objc++", "Objective-C++"),
    ("protobuf", "Protocol Buffer"), ("rustlang", "Rust"), ("shell-script", "Shell"),
    ("terraform", "HCL"), ("viml", "Vim Script"), ("vimscript", "Vim Script"),
];

/// Returns the language for an unknown `name`: by extension, or the most similar name.
pub fn language_similar_to(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let by_extension = by_extension(name.as_bytes()).map(|language| language.name);
    by_extension.or_else(|| {
        let distance = |other: &str| strsim::osa_distance(&name, &other.to_ascii_lowercase());
        let names = LANGUAGES.iter().map(|language| language.name);
        let (distance, nearest) = names.map(|other| (distance(other), other)).min()?;
        let most = (name.len() / 3).max(1);
        (distance <= most && distance < name.len()).then_some(nearest)
    })
}

/// True for programming and build languages.
pub(super) fn is_code(path: &[u8]) -> bool {
    // `.inc` may be C++, PHP, Assembly or Pascal.
    let is_inc = |extension: &[u8]| extension.eq_ignore_ascii_case(b"inc");
    find(path).is_some_and(|language| language.is_code)
        || extension(split_name(path).1).is_some_and(is_inc)
}

struct Language {
    name: &'static str,
    /// Source code, not documentation, configuration or data.
    is_code: bool,
    /// Without dot, lower case; match in any case.
    extensions: Keys,
    /// Case-sensitive file names: `BUILD` is Starlark, `build` is not.
    names: Keys,
}

type Keys = &'static [&'static str];

const fn code(name: &'static str, extensions: Keys, names: Keys) -> Language {
    Language {
        name,
        is_code: true,
        extensions,
        names,
    }
}

const fn prose(name: &'static str, extensions: Keys, names: Keys) -> Language {
    Language {
        is_code: false,
        ..code(name, extensions, names)
    }
}

/// Looks up file name, extension, name without `.in`, first word.
fn find(path: &[u8]) -> Option<&'static Language> {
    let (directories, name) = split_name(path);
    if name == b"rules" && split_name(directories).1 == b"debian" {
        return TABLES.names.get(b"Makefile".as_slice()).copied();
    }
    // `Makefile.linux` is a Makefile.
    let by_first_word = || {
        TABLES
            .names
            .get(&name[..memchr::memchr(b'.', name)?])
            .copied()
    };
    let template = name.strip_suffix(b".in").filter(|rest| !rest.is_empty());
    by_name(name)
        .or_else(|| template.and_then(by_name))
        .or_else(by_first_word)
}

fn by_name(name: &[u8]) -> Option<&'static Language> {
    TABLES
        .names
        .get(name)
        .copied()
        .or_else(|| by_extension(extension(name)?))
}

fn by_extension(extension: &[u8]) -> Option<&'static Language> {
    // The only case-sensitive extensions: old C++.
    let extension = match extension {
        b"C" | b"H" => b"cc",
        other => other,
    };
    if extension.len() > EXTENSION_BYTES_MAX {
        return None;
    }
    TABLES
        .extensions
        .get(extension.to_ascii_lowercase().as_slice())
        .copied()
}

/// Longer than any extension in the table.
const EXTENSION_BYTES_MAX: usize = 16;

struct Tables {
    names: FnvHashMap<&'static [u8], &'static Language>,
    extensions: FnvHashMap<&'static [u8], &'static Language>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let keyed = |keys: fn(&Language) -> Keys| {
        let rows = LANGUAGES.iter();
        rows.flat_map(|row| keys(row).iter().map(move |key| (key.as_bytes(), row)))
            .collect()
    };
    Tables {
        names: keyed(|language| language.names),
        extensions: keyed(|it| it.extensions),
    }
});

#[rustfmt::skip]
static LANGUAGES: &[Language] = &[
    code("Ada", &["ads", "adb", "ada", "gpr"], &[]),
    code("Agda", &["agda"], &[]),
    code("ANTLR", &["g4"], &[]),
    code("AppleScript", &["applescript"], &[]),
    prose("AsciiDoc", &["adoc", "asciidoc"], &[]),
    code("ASP.NET", &["aspx", "ascx", "asax"], &[]),
    code("Assembly", &["s", "asm", "nasm"], &[]),
    code("Awk", &["awk", "gawk", "mawk"], &[]),
    code("Batchfile", &["bat", "cmd"], &[]),
    prose("BibTeX", &["bib"], &[]),
    code("C", &["c", "h", "cats", "idc"], &[]),
    code("C#", &["cs", "csx"], &[]),
    code("C++", &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tcc", "tpp", "txx", "ixx", "cppm"], &[]),
    code("Cabal Config", &["cabal"], &[]),
    code("Cap'n Proto", &["capnp"], &[]),
    code("Clojure", &["clj", "cljs", "cljc", "edn"], &[]),
    code("CMake", &["cmake"], &["CMakeLists.txt"]),
    code("COBOL", &["cob", "cbl", "cobol"], &[]),
    code("CoffeeScript", &["coffee"], &[]),
    code("Common Lisp", &["lisp", "lsp", "asd"], &[]),
    code("Crystal", &["cr"], &[]),
    code("CSS", &["css"], &[]),
    prose("CSV", &["csv"], &[]),
    code("Cuda", &["cu", "cuh"], &[]),
    code("Cython", &["pyx", "pxd", "pxi"], &[]),
    code("D", &["d", "di"], &[]),
    code("Dart", &["dart"], &[]),
    code("Devicetree", &["dts", "dtsi"], &[]),
    code("Diff", &["diff", "patch"], &[]),
    code("Dockerfile", &["dockerfile"], &["Dockerfile", "Containerfile"]),
    code("Dune", &[], &["dune", "dune-project"]),
    code("Eiffel", &["e"], &[]),
    code("Elixir", &["ex", "exs"], &[]),
    code("Elm", &["elm"], &[]),
    code("Emacs Lisp", &["el"], &[".emacs"]),
    code("Erlang", &["erl", "hrl", "escript"], &[]),
    code("F#", &["fs", "fsi", "fsx"], &[]),
    code("fish", &["fish"], &[]),
    code("FlatBuffers", &["fbs"], &[]),
    code("Forth", &["fth", "4th", "forth"], &[]),
    code("Fortran", &["f", "for", "f77", "f90", "f95", "f03", "f08"], &[]),
    prose("Gettext Catalog", &["po", "pot"], &[]),
    code("GLSL", &["glsl", "vert", "frag", "geom", "tesc", "tese", "comp"], &[]),
    code("Go", &["go"], &[]),
    code("Go Module", &[], &["go.mod"]),
    code("GraphQL", &["graphql", "gql", "graphqls"], &[]),
    code("Groovy", &["groovy", "gradle"], &["Jenkinsfile"]),
    code("Haskell", &["hs", "lhs", "hsc", "chs"], &[]),
    code("Haxe", &["hx"], &[]),
    code("HCL", &["tf", "hcl", "tfvars"], &[]),
    code("HLSL", &["hlsl", "fx"], &[]),
    prose("HTML", &["html", "htm", "xhtml"], &[]),
    code("Idris", &["idr"], &[]),
    prose("INI", &["ini", "cfg", "conf", "desktop", "service"], &[".editorconfig", ".gitconfig"]),
    code("Java", &["java"], &[]),
    prose("Java Properties", &["properties"], &[]),
    code("Java Server Pages", &["jsp"], &[]),
    code("JavaScript", &["js", "mjs", "cjs", "jsx"], &[]),
    prose("JSON", &["json", "jsonl", "geojson", "webmanifest", "jsonc", "json5"], &[]),
    code("Jsonnet", &["jsonnet", "libsonnet"], &[]),
    code("Julia", &["jl"], &[]),
    prose("Jupyter Notebook", &["ipynb"], &[]),
    code("Kconfig", &[], &["Kconfig"]),
    code("Kotlin", &["kt", "kts"], &[]),
    code("Lean", &["lean"], &[]),
    code("Less", &["less"], &[]),
    code("Lex", &["l", "ll", "lex"], &[]),
    code("Linker Script", &["ld", "lds"], &[]),
    code("Lua", &["lua", "rockspec"], &[]),
    code("M4", &["m4", "ac", "at"], &[]),
    code("Makefile", &["mk", "mak", "am", "make"], &["Makefile", "makefile", "GNUmakefile", "Kbuild"]),
    prose("Markdown", &["md", "markdown", "mdx", "mkd"], &[]),
    code("MATLAB", &["matlab"], &[]),
    code("Meson", &[], &["meson.build", "meson_options.txt", "meson.options"]),
    code("Metal", &["metal"], &[]),
    prose("Mustache", &["mustache"], &[]),
    code("Nim", &["nim", "nims", "nimble"], &[]),
    code("Ninja", &["ninja"], &[]),
    code("Nix", &["nix"], &[]),
    code("Objective-C", &["m"], &[]),
    code("Objective-C++", &["mm"], &[]),
    code("OCaml", &["ml", "mli", "mll", "mly", "eliom"], &[]),
    prose("Opam", &["opam"], &[]),
    code("OpenCL", &["cl", "opencl"], &[]),
    prose("Org", &["org"], &[]),
    code("Pascal", &["pas", "lpr", "dpr", "dfm", "lfm"], &[]),
    code("Perl", &["pl", "pm", "t", "plx", "perl", "psgi", "cgi"], &[]),
    code("Perl XS", &["xs"], &[]),
    code("PHP", &["php", "phtml", "php3", "php4", "php5", "phpt"], &[]),
    prose("Pod", &["pod"], &[]),
    prose("PostScript", &["ps", "eps"], &[]),
    code("PowerShell", &["ps1", "psm1", "psd1"], &[]),
    code("Prolog", &["prolog", "plt"], &[]),
    code("Protocol Buffer", &["proto"], &[]),
    code("Puppet", &["pp"], &[]),
    code("PureScript", &["purs"], &[]),
    code("Python", &["py", "pyi", "pyw", "gyp", "gypi"], &["SConstruct", "SConscript", "wscript"]),
    code("QMake", &["pro", "pri", "prf"], &[]),
    code("QML", &["qml"], &[]),
    code("R", &["r"], &[".Rprofile"]),
    code("Racket", &["rkt"], &[]),
    code("Raku", &["raku", "rakumod", "p6", "pl6", "pm6"], &[]),
    code("ReasonML", &["re", "rei"], &[]),
    prose("reStructuredText", &["rst", "rest"], &[]),
    prose("Roff", &["1", "2", "3", "4", "5", "6", "7", "8", "9", "n", "man", "roff", "mdoc", "1m", "1x", "3pm", "3perl", "3ssl", "1ssl", "5ssl", "7ssl"], &[]),
    code("RPM Spec", &["spec"], &[]),
    code("Ruby", &["rb", "rake", "gemspec", "ru", "podspec"], &["Rakefile", "Gemfile", "Vagrantfile", "Podfile"]),
    code("Rust", &["rs"], &[]),
    code("Sass", &["sass"], &[]),
    code("Scala", &["scala", "sbt", "sc"], &[]),
    code("Scheme", &["scm", "ss", "sld", "sls"], &[]),
    code("SCSS", &["scss"], &[]),
    code("Sed", &["sed"], &[]),
    code("Shell", &["sh", "bash", "zsh", "ksh", "dash", "bats", "ebuild", "eclass", "postinst", "preinst", "postrm", "prerm"], &["postinst", "preinst", "postrm", "prerm", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".xinitrc", "PKGBUILD", "APKBUILD"]),
    code("Smalltalk", &["st"], &[]),
    code("Solidity", &["sol"], &[]),
    code("SQL", &["sql", "ddl", "dml", "pgsql", "plsql"], &[]),
    code("Standard ML", &["sml", "sig", "fun"], &[]),
    code("Starlark", &["bzl", "star", "bazel"], &["BUILD", "WORKSPACE", "BUCK"]),
    code("Stylus", &["styl"], &[]),
    code("Svelte", &["svelte"], &[]),
    prose("SVG", &["svg"], &[]),
    code("Swift", &["swift"], &[]),
    code("SWIG", &["i", "swg", "swig"], &[]),
    code("SystemVerilog", &["sv", "svh"], &[]),
    code("TableGen", &["td"], &[]),
    code("Tcl", &["tcl", "tk", "exp", "itcl", "tm"], &[]),
    code("Tcsh", &["csh", "tcsh"], &[]),
    prose("TeX", &["tex", "sty", "cls", "ltx", "dtx", "ins"], &[]),
    prose("Texinfo", &["texi", "texinfo", "txi"], &[]),
    prose("Text", &["txt"], &[]),
    code("Thrift", &["thrift"], &[]),
    prose("TOML", &["toml"], &[]),
    code("TSX", &["tsx"], &[]),
    code("Twig", &["twig"], &[]),
    code("TypeScript", &["ts", "mts", "cts"], &[]),
    code("Vala", &["vala", "vapi"], &[]),
    code("VBScript", &["vbs"], &[]),
    code("Verilog", &["v", "vh", "veo"], &[]),
    code("VHDL", &["vhd", "vhdl"], &[]),
    code("Vim Script", &["vim"], &[".vimrc", "_vimrc", ".gvimrc"]),
    code("Visual Basic .NET", &["vb"], &[]),
    code("Vue", &["vue"], &[]),
    code("WebAssembly", &["wat", "wast"], &[]),
    code("WebIDL", &["webidl"], &[]),
    code("WGSL", &["wgsl"], &[]),
    prose("XML", &["xml", "xsd", "xsi", "ui", "glade", "rng", "xmi", "wsdl", "plist", "dbk", "docbook", "dtd", "csproj", "vcxproj", "ent"], &[]),
    code("XSLT", &["xsl", "xslt"], &[]),
    code("Yacc", &["y", "yacc", "yy"], &[]),
    prose("YAML", &["yaml", "yml"], &[".clang-format", ".clang-tidy"]),
    code("Zig", &["zig", "zon"], &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_languages() {
        let table = [
            ("src/main.c", Some("C")),
            ("include/a.h", Some("C")),
            ("a.C", Some("C++")),
            ("a.H", Some("C++")),
            ("a.hpp", Some("C++")),
            ("A.RS", Some("Rust")),
            ("x.S", Some("Assembly")),
            ("lib.R", Some("R")),
            ("Makefile", Some("Makefile")),
            ("Makefile.am", Some("Makefile")),
            ("src/Makefile.in", Some("Makefile")),
            ("Makefile.linux", Some("Makefile")),
            ("debian/rules", Some("Makefile")),
            ("sub/debian/rules", Some("Makefile")),
            ("xdebian/rules", None),
            ("rules", None),
            ("CMakeLists.txt", Some("CMake")),
            ("notes.txt", Some("Text")),
            ("configure.ac", Some("M4")),
            ("meson.build", Some("Meson")),
            ("BUILD", Some("Starlark")),
            ("BUILD.bazel", Some("Starlark")),
            ("build", None),
            ("Dockerfile.alpine", Some("Dockerfile")),
            ("config.h.in", Some("C")),
            ("setup.py.in", Some("Python")),
            (".in", None),
            (".bashrc", Some("Shell")),
            ("c", None),
            (".c", None),
            ("foo.", None),
            ("ls.1", Some("Roff")),
            ("de.po", Some("Gettext Catalog")),
            ("a.capnp", Some("Cap'n Proto")),
            ("a.proto", Some("Protocol Buffer")),
            ("a.ts", Some("TypeScript")),
            ("a.vim", Some("Vim Script")),
            ("k.cu", Some("Cuda")),
            ("README", None),
            ("a.d/README", None),
            ("a.unheard-of-extension", None),
            ("", None),
        ];
        for (path, name) in table {
            assert_eq!(language(path.as_bytes()), name, "{path}");
        }
        assert_eq!(language(b"\xff\xfe.go"), Some("Go"));
    }

    #[test]
    fn finds_languages_by_name_or_suggests_similar_ones() {
        let table = [
            ("c", Some("C"), None),
            ("CMAKE", Some("CMake"), None),
            ("Common lisp", Some("Common Lisp"), None),
            ("cpp", Some("C++"), None),
            ("py", Some("Python"), None),
            ("JS", Some("JavaScript"), None),
            ("golang", Some("Go"), None),
            ("ObjC++", Some("Objective-C++"), None),
            ("Pyhton", None, Some("Python")),
            ("rsut", None, Some("Rust")),
            ("c+", None, Some("C")),
            ("klingon", None, None),
            ("x", None, None),
            ("", None, None),
        ];
        for (name, named, similar) in table {
            assert_eq!(language_named(name), named, "{name}");
            if named.is_none() {
                assert_eq!(language_similar_to(name), similar, "{name}");
            }
        }
        assert_eq!(language_similar_to(&"x".repeat(4096)), None);
    }

    #[test]
    fn no_key_is_in_the_table_twice() {
        let extensions: usize = LANGUAGES
            .iter()
            .map(|language| language.extensions.len())
            .sum();
        let names: usize = LANGUAGES.iter().map(|language| language.names.len()).sum();
        assert_eq!(TABLES.extensions.len(), extensions);
        assert_eq!(TABLES.names.len(), names);
        assert!(
            LANGUAGES
                .is_sorted_by(|a, b| { a.name.to_ascii_lowercase() < b.name.to_ascii_lowercase() })
        );
    }

    #[test]
    fn extensions_are_short_and_in_lower_case() {
        for extension in LANGUAGES.iter().flat_map(|language| language.extensions) {
            assert_eq!(*extension, extension.to_ascii_lowercase());
            assert!(extension.len() <= EXTENSION_BYTES_MAX);
        }
    }
}
