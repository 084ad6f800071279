//! Table of languages, with linguist's names. A shared extension belongs to the most common
//! language: `.h` is C, `.m` Objective-C, `.pp` Puppet, `.v` Verilog. No text is read.

mod rows;

pub use rows::Language;

use crate::lexer::Syntax;
use crate::path::{extension, split_name};
use fnv::FnvHashMap;
use rows::{Keys, LANGUAGES};
use std::sync::LazyLock;

impl Language {
    /// By name.
    pub fn all() -> &'static [Language] {
        LANGUAGES
    }

    pub fn of_path(path: &[u8]) -> Option<&'static Language> {
        let (_, name) = split_name(path);
        // `Makefile.linux`
        let by_first_word = || by_file_name(&name[..memchr::memchr(b'.', name)?]);
        by_whole_name(path)
            .or_else(|| by_extension(extension(name)?))
            .or_else(|| by_extension(extension(template(name)?)?))
            .or_else(by_first_word)
    }

    pub(crate) fn canonical(name: &str) -> Option<&'static Language> {
        LANGUAGES.iter().find(|it| it.name == name)
    }

    /// True for programming and build languages.
    pub fn is_code(&self) -> bool {
        self.is_code
    }

    /// Canonical.
    pub fn name_of(path: &[u8]) -> Option<&'static str> {
        Language::of_path(path).map(|language| language.name)
    }

    /// Language for a name, alias or extension, ignoring case.
    pub fn named(name: &str) -> Option<&'static Language> {
        let is_it = |other: &str| other.eq_ignore_ascii_case(name);
        let has_alias = |language: &&Language| language.aliases.iter().any(|alias| is_it(alias));
        let by_name = LANGUAGES.iter().find(|language| is_it(language.name));
        by_name
            .or_else(|| LANGUAGES.iter().find(has_alias))
            .or_else(|| by_extension(name.to_ascii_lowercase().as_bytes()))
    }

    /// Language for an unknown name: the most similar.
    pub fn similar_to(name: &str) -> Option<&'static Language> {
        let name = name.to_ascii_lowercase();
        by_extension(name.as_bytes()).or_else(|| {
            let distance = |other: &Language| {
                let distance = strsim::osa_distance(&name, &other.name.to_ascii_lowercase());
                (distance, other.name)
            };
            let nearest = LANGUAGES.iter().min_by_key(|other| distance(other))?;
            let (distance, most) = (distance(nearest).0, (name.len() / 3).max(1));
            (distance <= most && distance < name.len()).then_some(nearest)
        })
    }
}

impl Syntax {
    /// Syntax of a canonical name. `None`: no colours.
    pub fn of(name: &str) -> Option<&'static Syntax> {
        static SYNTAXES: LazyLock<FnvHashMap<&str, Syntax>> = LazyLock::new(|| {
            let syntax = |it: &Language| Some((it.name, Syntax::new(it.family?)));
            LANGUAGES.iter().filter_map(syntax).collect()
        });
        SYNTAXES.get(name)
    }
}

pub fn is_code(path: &[u8]) -> bool {
    // `.inc` may be C++, PHP, Assembly or Pascal.
    let is_inc = |extension: &[u8]| extension.eq_ignore_ascii_case(b"inc");
    Language::of_path(path).is_some_and(|language| language.is_code)
        || extension(split_name(path).1).is_some_and(is_inc)
}

pub(crate) fn by_whole_name(path: &[u8]) -> Option<&'static Language> {
    let (directories, name) = split_name(path);
    if name == b"rules" && split_name(directories).1 == b"debian" {
        return by_file_name(b"Makefile");
    }
    by_file_name(name).or_else(|| by_file_name(template(name)?))
}

pub(crate) fn template(name: &[u8]) -> Option<&[u8]> {
    name.strip_suffix(b".in").filter(|rest| !rest.is_empty())
}

fn by_file_name(name: &[u8]) -> Option<&'static Language> {
    TABLES.file_names.get(name).copied()
}

pub(crate) fn by_extension(extension: &[u8]) -> Option<&'static Language> {
    // The only case-sensitive extensions: old C++.
    let extension = match extension {
        b"C" | b"H" => b"cc",
        other => other,
    };
    if extension.len() > EXTENSION_BYTES_MAX {
        return None;
    }
    let extension = extension.to_ascii_lowercase();
    TABLES.extensions.get(&extension[..]).copied()
}

const EXTENSION_BYTES_MAX: usize = 16;

struct Tables {
    file_names: FnvHashMap<&'static [u8], &'static Language>,
    extensions: FnvHashMap<&'static [u8], &'static Language>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let keyed = |keys: fn(&Language) -> Keys| {
        let rows = LANGUAGES.iter();
        rows.flat_map(|row| keys(row).iter().map(move |key| (key.as_bytes(), row)))
            .collect()
    };
    Tables {
        file_names: keyed(|language| language.file_names),
        extensions: keyed(|it| it.extensions),
    }
});

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
            ("configure.in", Some("M4")),
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
            assert_eq!(Language::name_of(path.as_bytes()), name, "{path}");
        }
        assert_eq!(Language::name_of(b"\xff\xfe.go"), Some("Go"));
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
            let found = Language::named(name).map(|language| language.name);
            assert_eq!(found, named, "{name}");
            if named.is_none() {
                let found = Language::similar_to(name).map(|language| language.name);
                assert_eq!(found, similar, "{name}");
            }
        }
        assert!(Language::similar_to(&"x".repeat(4096)).is_none());
    }

    #[test]
    fn no_key_is_in_the_table_twice() {
        let extensions: usize = LANGUAGES
            .iter()
            .map(|language| language.extensions.len())
            .sum();
        let names: usize = LANGUAGES
            .iter()
            .map(|language| language.file_names.len())
            .sum();
        assert_eq!(TABLES.extensions.len(), extensions);
        assert_eq!(TABLES.file_names.len(), names);
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
