//! Filters: conditions on packages and documents. All must hold.
//!
//! A package is tested by its name without version, a document by path, language, class and
//! revisions. Matching works on bytes: `(?-u:\xff)` finds a byte that is not UTF-8.
//! Filters read no shard; [`Shard::filtered_candidates`](crate::shard::Shard::filtered_candidates)
//! applies them.
//!
//! ```
//! use index::filter::{DocumentFacts, Filters, Predicate, FilterExpr, NamePattern};
//!
//! let package = FilterExpr::Predicate(Predicate::package(NamePattern::Exact("i3-wm")).unwrap());
//! let vendor = FilterExpr::Predicate(Predicate::path(NamePattern::Regexp("^vendor/")).unwrap());
//! let mut filters = Filters::default();
//! filters.add(package);
//! filters.add(FilterExpr::Not(Box::new(vendor)));
//! filters.add(FilterExpr::Predicate(Predicate::language("c++").unwrap()));
//! assert!(filters.accepts_package(b"i3-wm_4.22", b"i3-wm"));
//! let file = |path| DocumentFacts { directory: b"i3-wm_4.22", name: b"i3-wm", path, language: "C++", ..DocumentFacts::default() };
//! assert!(filters.accepts_document(&file(b"src/a.cc")));
//! assert!(!filters.accepts_document(&file(b"vendor/a.cc")));
//! ```

mod matcher;

pub use matcher::{FILTER_BYTES_MAX, NamePattern};

use crate::document::Class;
use crate::plan::BadPattern;
use crate::revisions::DocumentRevisions;
use language::Language;
use language::path::extension;
use matcher::{NameMatcher, RevisionMatcher, last_component};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no language {name}")]
pub struct UnknownLanguage {
    pub name: String,
    pub similar: Option<&'static str>,
}

#[derive(Clone, Debug, Default)]
pub struct DocumentFacts<'a> {
    pub directory: &'a [u8],
    pub name: &'a [u8],
    pub path: &'a [u8],
    pub class: Class,
    /// Canonical, or empty.
    pub language: &'a str,
    pub revisions: DocumentRevisions<'a>,
    pub history: Option<Box<HistoryFacts>>,
}

/// Facts of a commit, also for its changes.
#[derive(Clone, Debug, Default)]
pub struct HistoryFacts {
    pub is_commit: bool,
    pub author: Vec<u8>,
    pub committer: Vec<u8>,
    pub committed: i64,
    pub message: Vec<u8>,
    /// Former path of a change; all paths of a commit.
    pub paths: Vec<Vec<u8>>,
}

/// An empty set accepts every document.
#[derive(Debug, Default)]
pub struct Filters {
    /// Searches all indexed revisions, not only default ones.
    pub all_revisions: bool,
    pub in_histories: bool,
    /// Tested first.
    packages: Vec<FilterExpr>,
    documents: Vec<FilterExpr>,
    reads_languages: bool,
}

#[derive(Debug)]
pub enum FilterExpr {
    Predicate(Predicate),
    All(Vec<FilterExpr>),
    Any(Vec<FilterExpr>),
    Not(Box<FilterExpr>),
}

#[derive(Debug)]
pub struct Predicate(Property);

#[derive(Debug)]
enum Property {
    Package(NameMatcher),
    Path(NameMatcher),
    Name(NameMatcher),
    Language(&'static str),
    /// Lower case.
    Extension(Vec<u8>),
    Revision(RevisionMatcher),
    Class(Class),
    Type(bool),
    Author(NameMatcher),
    Committer(NameMatcher),
    Message(NameMatcher),
    Before(i64),
    After(i64),
}

impl Filters {
    pub fn add(&mut self, expr: FilterExpr) {
        self.reads_languages |= expr.reads_languages();
        if expr.is_of_packages() {
            self.packages.push(expr);
        } else {
            self.documents.push(expr);
        }
    }

    pub fn has_package_filters(&self) -> bool {
        !self.packages.is_empty()
    }

    pub fn has_document_filters(&self) -> bool {
        !self.documents.is_empty()
    }

    /// True for filters by language, class or message.
    pub fn read_languages(&self) -> bool {
        self.reads_languages
    }

    pub fn accepts_package(&self, directory: &[u8], name: &[u8]) -> bool {
        let facts = DocumentFacts {
            directory,
            name,
            ..DocumentFacts::default()
        };
        self.packages.iter().all(|tree| tree.holds(&facts))
    }

    pub fn accepts_document(&self, document: &DocumentFacts<'_>) -> bool {
        self.documents.iter().all(|tree| tree.holds(document))
    }
}

impl FilterExpr {
    pub fn holds(&self, document: &DocumentFacts<'_>) -> bool {
        match self {
            FilterExpr::Predicate(test) => test.holds(document),
            FilterExpr::All(parts) => parts.iter().all(|part| part.holds(document)),
            FilterExpr::Any(parts) => parts.iter().any(|part| part.holds(document)),
            FilterExpr::Not(inner) => !inner.holds(document),
        }
    }

    pub fn reads_languages(&self) -> bool {
        match self {
            FilterExpr::Predicate(test) => {
                matches!(
                    test.0,
                    Property::Language(_) | Property::Class(_) | Property::Message(_)
                )
            }
            FilterExpr::All(parts) | FilterExpr::Any(parts) => {
                parts.iter().any(FilterExpr::reads_languages)
            }
            FilterExpr::Not(inner) => inner.reads_languages(),
        }
    }

    fn is_of_packages(&self) -> bool {
        match self {
            FilterExpr::Predicate(test) => matches!(test.0, Property::Package(_)),
            FilterExpr::All(parts) | FilterExpr::Any(parts) => {
                parts.iter().all(FilterExpr::is_of_packages)
            }
            FilterExpr::Not(inner) => inner.is_of_packages(),
        }
    }
}

impl Predicate {
    pub fn package(value: NamePattern<'_>) -> Result<Predicate, BadPattern> {
        Ok(Predicate(Property::Package(NameMatcher::compile(value)?)))
    }

    pub fn path(value: NamePattern<'_>) -> Result<Predicate, BadPattern> {
        Ok(Predicate(Property::Path(NameMatcher::compile(value)?)))
    }

    /// Package directory, `/` and path as one string.
    pub fn name(value: NamePattern<'_>) -> Result<Predicate, BadPattern> {
        Ok(Predicate(Property::Name(NameMatcher::compile(value)?)))
    }

    /// Language, ignoring case; `unknown` for none.
    pub fn language(name: &str) -> Result<Predicate, UnknownLanguage> {
        if name.eq_ignore_ascii_case("unknown") {
            return Ok(Predicate(Property::Language("")));
        }
        let named = Language::named(name).ok_or_else(|| UnknownLanguage {
            name: name.to_owned(),
            similar: Language::similar_to(name).map(|it| it.name),
        })?;
        Ok(Predicate(Property::Language(named.name)))
    }

    /// Ignores case.
    pub fn extension(extension: &str) -> Predicate {
        let extension = extension.strip_prefix('.').unwrap_or(extension);
        Predicate(Property::Extension(extension.to_ascii_lowercase().into()))
    }

    pub fn class(class: Class) -> Predicate {
        Predicate(Property::Class(class))
    }

    /// Revision with the document: short or full name, a glob of either, a commit id prefix, or
    /// `HEAD` for the default. `branches`: only branches.
    pub fn revision(value: NamePattern<'_>, branches: bool) -> Result<Predicate, BadPattern> {
        RevisionMatcher::compile(value, branches).map(|it| Predicate(Property::Revision(it)))
    }

    pub fn history_type(name: &str) -> Option<Predicate> {
        let is_commit = match name {
            "commit" => true,
            "diff" => false,
            _ => return None,
        };
        Some(Predicate(Property::Type(is_commit)))
    }

    pub fn author(value: NamePattern<'_>) -> Result<Predicate, BadPattern> {
        Ok(Predicate(Property::Author(NameMatcher::compile(value)?)))
    }

    pub fn committer(value: NamePattern<'_>) -> Result<Predicate, BadPattern> {
        Ok(Predicate(Property::Committer(NameMatcher::compile(value)?)))
    }

    pub fn message(value: NamePattern<'_>) -> Result<Predicate, BadPattern> {
        Ok(Predicate(Property::Message(NameMatcher::compile(value)?)))
    }

    pub fn before(seconds: i64) -> Predicate {
        Predicate(Property::Before(seconds))
    }

    pub fn after(seconds: i64) -> Predicate {
        Predicate(Property::After(seconds))
    }

    fn holds(&self, document: &DocumentFacts<'_>) -> bool {
        let of_history =
            |holds: &dyn Fn(&HistoryFacts) -> bool| document.history.as_deref().is_some_and(holds);
        match &self.0 {
            Property::Type(is_commit) => of_history(&|it| it.is_commit == *is_commit),
            Property::Author(text) => of_history(&|it| text.matches(&it.author)),
            Property::Committer(text) => of_history(&|it| text.matches(&it.committer)),
            Property::Message(text) => of_history(&|it| text.matches(&it.message)),
            Property::Before(seconds) => of_history(&|it| it.committed < *seconds),
            Property::After(seconds) => of_history(&|it| it.committed >= *seconds),
            _ => {
                let paths = document.history.as_deref();
                let mut paths = paths.into_iter().flat_map(|it| &it.paths);
                self.holds_at(document, document.path)
                    || self.is_of_paths() && paths.any(|path| self.holds_at(document, path))
            }
        }
    }

    fn is_of_paths(&self) -> bool {
        matches!(
            self.0,
            Property::Path(_) | Property::Name(_) | Property::Extension(_)
        )
    }

    fn holds_at(&self, document: &DocumentFacts<'_>, path: &[u8]) -> bool {
        let directory = document.directory;
        match &self.0 {
            Property::Package(text) => {
                let is_regexp = matches!(text, NameMatcher::Regexp(_));
                text.matches(document.name) || (!is_regexp && text.matches(directory))
            }
            Property::Path(text) => text.matches(path),
            Property::Name(text) => text.matches(&[directory, b"/", path].concat()),
            Property::Language(name) => document.language == *name,
            Property::Extension(own) => {
                let extension = extension(last_component(path));
                extension.is_some_and(|extension| extension.eq_ignore_ascii_case(own))
            }
            Property::Revision(matcher) => matcher.matches(document.revisions),
            Property::Class(class) => document.class == *class,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::name::package_name;

    fn facts<'a>(directory: &'a [u8], path: &'a [u8]) -> DocumentFacts<'a> {
        DocumentFacts {
            directory,
            name: package_name(directory),
            path,
            language: Language::name_of(path).unwrap_or_default(),
            ..DocumentFacts::default()
        }
    }

    /// Parses filters like `-=text`: `-` negates, `=` is exact, `:` a glob.
    fn filters(test: fn(NamePattern<'_>) -> Result<Predicate, BadPattern>, typed: &str) -> Filters {
        let mut filters = Filters::default();
        for typed in typed.split_whitespace() {
            let (text, negated) = match typed.strip_prefix('-') {
                Some(text) => (text, true),
                None => (typed, false),
            };
            let value = match text.split_at(1) {
                ("=", text) => NamePattern::Exact(text),
                (":", text) => NamePattern::Glob(text),
                _ => NamePattern::Regexp(text),
            };
            let tree = FilterExpr::Predicate(test(value).unwrap());
            filters.add(if negated {
                FilterExpr::Not(Box::new(tree))
            } else {
                tree
            });
        }
        filters
    }

    #[test]
    fn packages_match_by_name_or_directory() {
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
            ("4", &[]),
            ("-i3", &[2, 3]),
            ("i3 -=i3-wm", &[1]),
            ("^s|x$ -linux", &[3]),
            (":i3-*", &[0, 1]),
            ("-:*_6*", &[0, 1, 3]),
        ];
        for (typed, expected) in table {
            let filters = filters(Predicate::package, typed);
            let left = |&number: &usize| {
                let directory = directories[number].as_bytes();
                filters.accepts_package(directory, package_name(directory))
            };
            let left: Vec<usize> = (0..directories.len()).filter(left).collect();
            assert_eq!(left, expected, "{typed}");
            assert_eq!(filters.has_package_filters(), !typed.is_empty());
            assert!(!filters.has_document_filters() && filters.accepts_document(&facts(b"", b"x")));
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
                .filter(|&number| filters.accepts_document(&facts(b"p", paths[number])))
                .collect();
            assert_eq!(left, expected, "{typed}");
            assert!(filters.has_document_filters() && !filters.has_package_filters());
        }
    }

    #[test]
    fn languages_ignore_case_and_have_aliases() {
        let c = FilterExpr::Predicate(Predicate::language("c").unwrap());
        assert!(c.holds(&facts(b"p", b"a.c")) && !c.holds(&facts(b"p", b"a.cc")));
        assert!(!c.holds(&facts(b"p", b"no-language")));
        let makefile = Predicate::language("MAKEFILE").unwrap();
        assert!(
            makefile.holds(&facts(b"p", b"Makefile"))
                && !makefile.holds(&facts(b"p", b"no-language"))
        );
        let none = Predicate::language("unknown").unwrap();
        assert!(none.holds(&facts(b"p", b"no-language")) && !none.holds(&facts(b"p", b"a.c")));
        let unknown = Predicate::language("Pyton").unwrap_err();
        assert_eq!(unknown.similar, Some("Python"));
        assert!(
            Predicate::language("cpp")
                .unwrap()
                .holds(&facts(b"p", b"a.cc"))
        );
    }

    #[test]
    fn extensions_match_the_end_of_the_file_name() {
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
            assert_eq!(
                test.holds(&facts(b"p", path.as_bytes())),
                holds,
                "{typed} {path}"
            );
        }
    }

    #[test]
    fn classes_of_documents_are_compared() {
        let tests = FilterExpr::Predicate(Predicate::class(Class::Tests));
        let of = |class| DocumentFacts {
            class,
            ..facts(b"p", b"a.c")
        };
        assert!(tests.holds(&of(Class::Tests)) && !tests.holds(&of(Class::Source)));
    }

    #[test]
    fn predicates_combine_with_all_any_and_not() {
        let test = |test: Result<Predicate, BadPattern>| FilterExpr::Predicate(test.unwrap());
        let of_package = || test(Predicate::package(NamePattern::Exact("p")));
        let of_name = test(Predicate::name(NamePattern::Regexp("^p_1/src/")));
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
        assert!(filters.accepts_document(&facts(b"p_1", b"src/a.c")));
        assert!(!filters.accepts_document(&facts(b"p_1", b"a.h")));
        assert!(filters.accepts_document(&facts(b"q_1", b"a.h")));
    }

    #[test]
    fn errors_say_where_and_why() {
        let error = |text| Predicate::path(NamePattern::Regexp(text)).unwrap_err();
        assert_eq!(error("ü(b").at, Some(2));
        assert!(error(r"\w{1000}").reason.contains("FILTER_BYTES_MAX"));
        assert!(Predicate::path(NamePattern::Exact("(b")).is_ok());
        let glob = |text| Predicate::path(NamePattern::Glob(text)).unwrap_err().reason;
        assert!(glob("a[").contains("not a glob"));
        assert!(glob(&"{a,b}{c,d}".repeat(9999)).contains("FILTER_BYTES_MAX"));
    }
}
