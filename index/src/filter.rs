//! Filters: which documents are searched, said of their packages, paths and languages.
//!
//! All of them must hold. A package is known by its name, before the version; a document by its
//! path within the package, and by the [`language`] that its path tells. Names are bytes, and so is
//! what a regular expression is matched against: `(?-u:\xff)` finds what is not UTF-8.
//! Nothing here knows a shard: [`Shard::filtered_candidates`](crate::shard::Shard::filtered_candidates) asks.
//!
//! ```
//! use index::filter::{Filters, Value};
//!
//! let mut filters = Filters::default();
//! filters.package(Value::Exact("i3-wm"), false).unwrap();
//! filters.path(Value::Regexp("^vendor/"), true).unwrap();
//! filters.language("c++", false).unwrap();
//! assert!(filters.leave_package(b"i3-wm_4.22"));
//! assert!(filters.leave_document(b"src/a.cc") && !filters.leave_document(b"vendor/a.cc"));
//! ```

use crate::document::{language, language_named, language_similar_to, split_version};
use crate::plan::{self, BadPattern};
use regex::bytes::{Regex, RegexBuilder};

/// Bytes that a compiled regular expression may take, and the states of its lazy DFA as much again.
/// `\w{10}` takes 0.4 MB.
pub const FILTER_BYTES_MAX: usize = 1 << 20;

/// What a package's name or a path is compared with.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A regular expression, found anywhere, case sensitive.
    Regexp(&'a str),
    /// All of it; of a package, the name of its directory, with the version, is as good.
    Exact(&'a str),
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
    packages: Vec<Filter<Text>>,
    paths: Vec<Filter<Text>>,
    languages: Vec<Filter<&'static str>>,
}

#[derive(Debug)]
struct Filter<T> {
    test: T,
    negated: bool,
}

impl<T> Filter<T> {
    fn holds(&self, test: impl FnOnce(&T) -> bool) -> bool {
        test(&self.test) != self.negated
    }
}

/// A value, compiled.
#[derive(Debug)]
enum Text {
    Regexp(Regex),
    Exact(Vec<u8>),
}

impl Filters {
    /// Leaves the packages whose name is as `value` says; negated, the others.
    pub fn package(&mut self, value: Value<'_>, negated: bool) -> Result<(), BadPattern> {
        let test = Text::compile(value)?;
        self.packages.push(Filter { test, negated });
        Ok(())
    }

    /// Leaves the documents whose path is as `value` says; negated, the others.
    pub fn path(&mut self, value: Value<'_>, negated: bool) -> Result<(), BadPattern> {
        let test = Text::compile(value)?;
        self.paths.push(Filter { test, negated });
        Ok(())
    }

    /// Leaves the documents in the language `name`, whatever its case; negated, the others.
    pub fn language(&mut self, name: &str, negated: bool) -> Result<(), UnknownLanguage> {
        let test = language_named(name).ok_or_else(|| UnknownLanguage {
            name: name.to_owned(),
            similar: language_similar_to(name),
        })?;
        self.languages.push(Filter { test, negated });
        Ok(())
    }

    /// Whether packages must be asked.
    pub fn ask_packages(&self) -> bool {
        !self.packages.is_empty()
    }

    /// Whether documents must be asked.
    pub fn ask_documents(&self) -> bool {
        !self.paths.is_empty() || !self.languages.is_empty()
    }

    /// Whether the package in `directory` is searched.
    pub fn leave_package(&self, directory: &[u8]) -> bool {
        let name = split_version(directory).0;
        self.packages.iter().all(|filter| {
            filter.holds(|test| match test {
                Text::Regexp(regexp) => regexp.is_match(name),
                Text::Exact(exact) => name == exact || directory == exact,
            })
        })
    }

    /// Whether, of a package that is searched, the document at `path` is.
    pub fn leave_document(&self, path: &[u8]) -> bool {
        let by_path = self.paths.iter().all(|filter| {
            filter.holds(|test| match test {
                Text::Regexp(regexp) => regexp.is_match(path),
                Text::Exact(exact) => path == exact,
            })
        });
        by_path && (self.languages.is_empty() || self.leave_language(language(path)))
    }

    fn leave_language(&self, language: Option<&str>) -> bool {
        let mut filters = self.languages.iter();
        filters.all(|filter| filter.holds(|&name| language == Some(name)))
    }
}

impl Text {
    fn compile(value: Value<'_>) -> Result<Text, BadPattern> {
        let text = match value {
            Value::Exact(text) => return Ok(Text::Exact(text.as_bytes().to_vec())),
            Value::Regexp(text) => text,
        };
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
                    regex::Error::CompiledTooBig(most) => format!(
                        "it is too large: compiled it may take {most} bytes (FILTER_BYTES_MAX)"
                    ),
                    other => other.to_string(),
                },
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column of filters, as `-=text`: `-` negates, `=` is exact.
    fn filters(
        add: fn(&mut Filters, Value<'_>, bool) -> Result<(), BadPattern>,
        typed: &str,
    ) -> Filters {
        let mut filters = Filters::default();
        for typed in typed.split_whitespace() {
            let (text, negated) = match typed.strip_prefix('-') {
                Some(text) => (text, true),
                None => (typed, false),
            };
            let value = match text.strip_prefix('=') {
                Some(text) => Value::Exact(text),
                None => Value::Regexp(text),
            };
            add(&mut filters, value, negated).unwrap();
        }
        filters
    }

    #[test]
    fn packages_are_known_by_their_names() {
        let directories = ["i3-wm_4.22", "i3-status_2.14", "linux_6.1-4", "serde-1.0.1"];
        let table: [(&str, &[usize]); 12] = [
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
        ];
        for (typed, expected) in table {
            let filters = filters(Filters::package, typed);
            let left = |&number: &usize| filters.leave_package(directories[number].as_bytes());
            let left: Vec<usize> = (0..directories.len()).filter(left).collect();
            assert_eq!(left, expected, "{typed}");
            assert_eq!(filters.ask_packages(), !typed.is_empty());
            assert!(!filters.ask_documents() && filters.leave_document(b"x"));
        }
    }

    #[test]
    fn paths_are_bytes() {
        let paths: [&[u8]; 4] = [b"src/a.c", b"vendor/a.c", b"src/\xff.h", b"a\nb.c"];
        let table: [(&str, &[usize]); 9] = [
            (r"\.c$", &[0, 1, 3]),
            ("^src/", &[0, 2]),
            ("-^vendor/", &[0, 2, 3]),
            (r"\.c$ -vendor", &[0, 3]),
            ("=src/a.c", &[0]),
            ("=src/a", &[]),
            (r"(?-u:\xff)\.h$", &[2]),
            ("^.*$", &[0, 1]),
            ("^b", &[]),
        ];
        for (typed, expected) in table {
            let filters = filters(Filters::path, typed);
            let left: Vec<usize> = (0..paths.len())
                .filter(|&number| filters.leave_document(paths[number]))
                .collect();
            assert_eq!(left, expected, "{typed}");
            assert!(filters.ask_documents() && !filters.ask_packages());
        }
    }

    #[test]
    fn languages_are_exact_whatever_their_case() {
        let mut filters = Filters::default();
        filters.language("c", false).unwrap();
        assert!(filters.leave_document(b"a.c") && !filters.leave_document(b"a.cc"));
        assert!(!filters.leave_document(b"no-language"));
        let mut filters = Filters::default();
        filters.language("MAKEFILE", true).unwrap();
        assert!(filters.leave_document(b"no-language") && !filters.leave_document(b"Makefile"));
        let unknown = Filters::default().language("Pyton", false).unwrap_err();
        assert_eq!(unknown.similar, Some("Python"));
    }

    #[test]
    fn what_is_wrong_says_where_and_why() {
        let error = |text| {
            Filters::default()
                .path(Value::Regexp(text), false)
                .unwrap_err()
        };
        assert_eq!(error("ü(b").at, Some(2));
        assert!(error(r"\w{1000}").reason.contains("FILTER_BYTES_MAX"));
        assert!(Filters::default().path(Value::Exact("(b"), false).is_ok());
    }
}
