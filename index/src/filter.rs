//! Filters: which documents are searched, said of their packages, paths and languages.
//!
//! All of them must hold. A package is known by its name, before the version; a document by its
//! path within the package, and by the [`language`] that its path tells. Names are bytes, and so is
//! what a regular expression is matched against: `(?-u:\xff)` finds what is not UTF-8.
//! Nothing here knows a shard: [`Shard::filtered_candidates`](crate::shard::Shard::filtered_candidates) asks.
//!
//! ```
//! use index::filter::{Filters, Predicate, FilterExpr, Value};
//!
//! let package = FilterExpr::Predicate(Predicate::package(Value::Exact("i3-wm")).unwrap());
//! let vendor = FilterExpr::Predicate(Predicate::path(Value::Regexp("^vendor/")).unwrap());
//! let mut filters = Filters::default();
//! filters.add(package);
//! filters.add(FilterExpr::Not(Box::new(vendor)));
//! filters.add(FilterExpr::Predicate(Predicate::language("c++").unwrap()));
//! assert!(filters.accepts_package(b"i3-wm_4.22"));
//! assert!(filters.accepts_document(b"i3-wm_4.22", b"src/a.cc"));
//! assert!(!filters.accepts_document(b"i3-wm_4.22", b"vendor/a.cc"));
//! ```

use crate::document::{extension, language, language_named, language_similar_to};
use crate::plan::{self, BadPattern};
use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};
use schema::name::package_name;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes that a compiled regular expression may take, and the states of its lazy DFA as much again.
/// `\w{10}` takes 0.4 MB.
pub const FILTER_BYTES_MAX: usize = 1 << 20;

/// What a name is compared with.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A regular expression, found anywhere, case sensitive.
    Regexp(&'a str),
    /// All of it; of a package, the name of its directory, with the version, is as good.
    Exact(&'a str),
    /// A glob for all of it; one without a `/` is about a path's last part.
    Glob(&'a str),
}

/// A language that no document can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no language {name}")]
pub struct UnknownLanguage {
    /// What was asked for.
    pub name: String,
    /// What may have been meant.
    pub similar: Option<&'static str>,
}

/// Filters, compiled; without any, everything is left.
#[derive(Debug, Default)]
pub struct Filters {
    /// Of packages alone: asked before anything else is looked at.
    packages: Vec<FilterExpr>,
    /// All others.
    documents: Vec<FilterExpr>,
}

/// Tests, and how they are joined.
#[derive(Debug)]
pub enum FilterExpr {
    /// One.
    Predicate(Predicate),
    /// All of them hold.
    All(Vec<FilterExpr>),
    /// One of them holds.
    Any(Vec<FilterExpr>),
    /// It does not hold.
    Not(Box<FilterExpr>),
}

/// Something that is so of a document or not.
#[derive(Debug)]
pub struct Predicate(Kind);

#[derive(Debug)]
enum Kind {
    Package(Text),
    Path(Text),
    /// Of directory, `/` and path.
    Name(Text),
    Language(&'static str),
    /// In lower case.
    Extension(Vec<u8>),
}

/// A value, compiled.
#[derive(Debug)]
enum Text {
    Regexp(Regex),
    Exact(Vec<u8>),
    /// And whether it is about the last part of a path alone.
    Glob(GlobMatcher, bool),
}

impl Filters {
    /// Leaves only what `tree` holds of.
    pub fn add(&mut self, tree: FilterExpr) {
        match tree.is_of_packages() {
            true => self.packages.push(tree),
            false => self.documents.push(tree),
        }
    }

    /// Whether packages must be asked.
    pub fn has_package_filters(&self) -> bool {
        !self.packages.is_empty()
    }

    /// Whether documents must be asked.
    pub fn has_document_filters(&self) -> bool {
        !self.documents.is_empty()
    }

    /// Whether the package in `directory` is searched.
    pub fn accepts_package(&self, directory: &[u8]) -> bool {
        self.packages.iter().all(|tree| tree.holds(directory, b""))
    }

    /// Whether, of a package that is searched, the document at `path` is.
    pub fn accepts_document(&self, directory: &[u8], path: &[u8]) -> bool {
        self.documents
            .iter()
            .all(|tree| tree.holds(directory, path))
    }
}

impl FilterExpr {
    /// Whether it holds of the document at `path` in the package in `directory`.
    pub fn holds(&self, directory: &[u8], path: &[u8]) -> bool {
        match self {
            FilterExpr::Predicate(test) => test.holds(directory, path),
            FilterExpr::All(parts) => parts.iter().all(|part| part.holds(directory, path)),
            FilterExpr::Any(parts) => parts.iter().any(|part| part.holds(directory, path)),
            FilterExpr::Not(inner) => !inner.holds(directory, path),
        }
    }

    fn is_of_packages(&self) -> bool {
        match self {
            FilterExpr::Predicate(test) => matches!(test.0, Kind::Package(_)),
            FilterExpr::All(parts) | FilterExpr::Any(parts) => {
                parts.iter().all(FilterExpr::is_of_packages)
            }
            FilterExpr::Not(inner) => inner.is_of_packages(),
        }
    }
}

impl Predicate {
    /// The package's name is as `value` says.
    pub fn package(value: Value<'_>) -> Result<Predicate, BadPattern> {
        Ok(Predicate(Kind::Package(Text::compile(value)?)))
    }

    /// The path is.
    pub fn path(value: Value<'_>) -> Result<Predicate, BadPattern> {
        Ok(Predicate(Kind::Path(Text::compile(value)?)))
    }

    /// The package's directory, `/` and the path are.
    pub fn name(value: Value<'_>) -> Result<Predicate, BadPattern> {
        Ok(Predicate(Kind::Name(Text::compile(value)?)))
    }

    /// The document is in the language `name`, whatever its case.
    pub fn language(name: &str) -> Result<Predicate, UnknownLanguage> {
        let named = language_named(name).ok_or_else(|| UnknownLanguage {
            name: name.to_owned(),
            similar: language_similar_to(name),
        })?;
        Ok(Predicate(Kind::Language(named)))
    }

    /// The file's name ends with a dot and `extension`, whatever its case.
    pub fn extension(extension: &str) -> Predicate {
        let extension = extension.strip_prefix('.').unwrap_or(extension);
        Predicate(Kind::Extension(extension.to_ascii_lowercase().into()))
    }

    fn holds(&self, directory: &[u8], path: &[u8]) -> bool {
        match &self.0 {
            Kind::Package(text) => {
                text.is(package_name(directory)) || (!text.is_regexp() && text.is(directory))
            }
            Kind::Path(text) => text.is(path),
            Kind::Name(text) => text.is(&[directory, b"/", path].concat()),
            Kind::Language(name) => language(path) == Some(name),
            Kind::Extension(own) => {
                let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
                extension(last).is_some_and(|extension| extension.eq_ignore_ascii_case(own))
            }
        }
    }
}

impl Text {
    fn compile(value: Value<'_>) -> Result<Text, BadPattern> {
        match value {
            Value::Exact(text) => Ok(Text::Exact(text.as_bytes().to_vec())),
            Value::Regexp(text) => Text::regexp(text),
            Value::Glob(text) => Text::glob(text),
        }
    }

    fn regexp(text: &str) -> Result<Text, BadPattern> {
        // Says where a mistake is, which `regex` shows but does not tell.
        plan::parse(text, false)?;
        RegexBuilder::new(text)
            .nest_limit(plan::NESTING_MAX)
            .size_limit(FILTER_BYTES_MAX)
            .dfa_size_limit(FILTER_BYTES_MAX)
            .build()
            .map(Text::Regexp)
            .map_err(|error| BadPattern {
                at: None,
                reason: match error {
                    regex::Error::CompiledTooBig(_) => too_large(),
                    other => other.to_string(),
                },
            })
    }

    fn glob(text: &str) -> Result<Text, BadPattern> {
        let glob = GlobBuilder::new(text)
            .literal_separator(true)
            .backslash_escape(true)
            .build();
        let bad = |reason| BadPattern { at: None, reason };
        let glob = glob.map_err(|error| bad(format!("not a glob: {}", error.kind())))?;
        // Alternatives multiply: a glob is held to what an expression is.
        Text::regexp(glob.regex()).map_err(|_| bad(too_large()))?;
        Ok(Text::Glob(glob.compile_matcher(), !text.contains('/')))
    }

    fn is_regexp(&self) -> bool {
        matches!(self, Text::Regexp(_))
    }

    fn is(&self, name: &[u8]) -> bool {
        match self {
            Text::Regexp(regexp) => regexp.is_match(name),
            Text::Exact(exact) => name == exact,
            Text::Glob(glob, of_last) => {
                let part = match of_last {
                    true => name.rsplit(|&byte| byte == b'/').next().unwrap_or(name),
                    false => name,
                };
                glob.is_match(Path::new(OsStr::from_bytes(part)))
            }
        }
    }
}

fn too_large() -> String {
    format!("it is too large: compiled it may take {FILTER_BYTES_MAX} bytes (FILTER_BYTES_MAX)")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column of filters, as `-=text`: `-` negates, `=` is exact, `:` is a glob.
    fn filters(test: fn(Value<'_>) -> Result<Predicate, BadPattern>, typed: &str) -> Filters {
        let mut filters = Filters::default();
        for typed in typed.split_whitespace() {
            let (text, negated) = match typed.strip_prefix('-') {
                Some(text) => (text, true),
                None => (typed, false),
            };
            let value = match text.split_at(1) {
                ("=", text) => Value::Exact(text),
                (":", text) => Value::Glob(text),
                _ => Value::Regexp(text),
            };
            let tree = FilterExpr::Predicate(test(value).unwrap());
            filters.add(match negated {
                true => FilterExpr::Not(Box::new(tree)),
                false => tree,
            });
        }
        filters
    }

    #[test]
    fn packages_are_known_by_their_names() {
        let directories = ["i3-wm_4.22", "i3-status_2.14", "linux_6.1-4", "serde-1.0.1"];
        let table: [(&str, &[usize]); 14] = [
            ("", &[0, 1, 2, 3]),
            ("i3", &[0, 1]),
            ("^i3-wm$", &[0]),
            ("=i3-wm", &[0]),
            ("=i3-wm_4.22", &[0]),
            ("=i3", &[]),
            ("I3", &[]),
            ("(?i)I3", &[0, 1]),
            // The version is not looked at.
            ("4", &[]),
            ("-i3", &[2, 3]),
            ("i3 -=i3-wm", &[1]),
            ("^s|x$ -linux", &[3]),
            (":i3-*", &[0, 1]),
            ("-:*_6*", &[0, 1, 3]),
        ];
        for (typed, expected) in table {
            let filters = filters(Predicate::package, typed);
            let left = |&number: &usize| filters.accepts_package(directories[number].as_bytes());
            let left: Vec<usize> = (0..directories.len()).filter(left).collect();
            assert_eq!(left, expected, "{typed}");
            assert_eq!(filters.has_package_filters(), !typed.is_empty());
            assert!(!filters.has_document_filters() && filters.accepts_document(b"", b"x"));
        }
    }

    #[test]
    fn paths_are_bytes() {
        let paths: [&[u8]; 4] = [b"src/a.c", b"vendor/a.c", b"src/\xff.h", b"a\nb.c"];
        let table: [(&str, &[usize]); 13] = [
            (r"\.c$", &[0, 1, 3]),
            ("^src/", &[0, 2]),
            ("-^vendor/", &[0, 2, 3]),
            (r"\.c$ -vendor", &[0, 3]),
            ("=src/a.c", &[0]),
            ("=src/a", &[]),
            (r"(?-u:\xff)\.h$", &[2]),
            ("^.*$", &[0, 1]),
            ("^b", &[]),
            (":*.c", &[0, 1, 3]),
            (":src/*.{c,h}", &[0, 2]),
            (":**/?.c", &[0, 1]),
            ("-:vendor/**", &[0, 2, 3]),
        ];
        for (typed, expected) in table {
            let filters = filters(Predicate::path, typed);
            let left: Vec<usize> = (0..paths.len())
                .filter(|&number| filters.accepts_document(b"p", paths[number]))
                .collect();
            assert_eq!(left, expected, "{typed}");
            assert!(filters.has_document_filters() && !filters.has_package_filters());
        }
    }

    #[test]
    fn languages_are_exact_whatever_their_case() {
        let c = FilterExpr::Predicate(Predicate::language("c").unwrap());
        assert!(c.holds(b"p", b"a.c") && !c.holds(b"p", b"a.cc"));
        assert!(!c.holds(b"p", b"no-language"));
        let makefile = Predicate::language("MAKEFILE").unwrap();
        assert!(makefile.holds(b"p", b"Makefile") && !makefile.holds(b"p", b"no-language"));
        let unknown = Predicate::language("Pyton").unwrap_err();
        assert_eq!(unknown.similar, Some("Python"));
        assert!(Predicate::language("cpp").unwrap().holds(b"p", b"a.cc"));
    }

    #[test]
    fn extensions_are_those_of_the_file() {
        for (typed, path, holds) in [
            ("c", "a.c", true),
            (".c", "a.C", true),
            ("c", "a.cc", false),
            ("c", "a.c/b", false),
            ("gz", "a.tar.gz", true),
            ("tar.gz", "a.tar.gz", false),
            ("c", ".c", false),
        ] {
            let test = Predicate::extension(typed);
            assert_eq!(test.holds(b"p", path.as_bytes()), holds, "{typed} {path}");
        }
    }

    #[test]
    fn tests_are_joined() {
        let test = |test: Result<Predicate, BadPattern>| FilterExpr::Predicate(test.unwrap());
        let of_package = || test(Predicate::package(Value::Exact("p")));
        let of_name = test(Predicate::name(Value::Regexp("^p_1/src/")));
        let mut filters = Filters::default();
        filters.add(FilterExpr::Any(vec![of_package(), of_package()]));
        assert!(filters.has_package_filters() && !filters.has_document_filters());
        filters.add(FilterExpr::Any(vec![
            of_name,
            FilterExpr::All(vec![
                FilterExpr::Not(Box::new(of_package())),
                FilterExpr::Predicate(Predicate::extension("h")),
            ]),
        ]));
        assert!(filters.has_document_filters());
        assert!(filters.accepts_document(b"p_1", b"src/a.c"));
        assert!(!filters.accepts_document(b"p_1", b"a.h"));
        assert!(filters.accepts_document(b"q_1", b"a.h"));
    }

    #[test]
    fn what_is_wrong_says_where_and_why() {
        let error = |text| Predicate::path(Value::Regexp(text)).unwrap_err();
        assert_eq!(error("ü(b").at, Some(2));
        assert!(error(r"\w{1000}").reason.contains("FILTER_BYTES_MAX"));
        assert!(Predicate::path(Value::Exact("(b")).is_ok());
        let glob = |text| Predicate::path(Value::Glob(text)).unwrap_err().reason;
        assert!(glob("a[").contains("not a glob"));
        assert!(glob(&"{a,b}{c,d}".repeat(9999)).contains("FILTER_BYTES_MAX"));
    }
}
