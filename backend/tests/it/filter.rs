//! Random filters, and their documents, in the simplest way.
//!
//! Relies on the names of [`corpus`](crate::corpus), without versions or languages in general.

use crate::naive::Document;
use crate::revisions::{REVISIONS, default_of};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use regex::bytes::Regex;
use schema::message::{self, Expr, Reading};

#[derive(Clone, Copy, Debug)]
enum Field {
    Package,
    Path,
    Language,
    Kind,
    Revision,
    Branch,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    field: Field,
    /// Otherwise a regular expression; of revisions, a glob.
    exact: bool,
    text: &'static str,
    negated: bool,
}

/// Field, true for exact, and text.
const VALUES: [(Field, bool, &str); 43] = [
    (Field::Package, false, "p"),
    (Field::Package, false, "^p[12]$"),
    (Field::Package, false, "0|3"),
    (Field::Package, false, "_"),
    (Field::Package, false, "P1"),
    (Field::Package, false, "(?i)P1"),
    (Field::Package, true, "p1"),
    (Field::Package, true, "p0_1"),
    (Field::Package, true, "p"),
    (Field::Path, false, r"\.c$"),
    (Field::Path, false, "^src/"),
    (Field::Path, false, "task|[02]"),
    (Field::Path, false, r"(?-u:\xff)"),
    (Field::Path, false, "^.*$"),
    (Field::Path, false, "TASK"),
    (Field::Path, false, "(?i)TASK"),
    (Field::Path, true, "src/task1.c"),
    (Field::Path, true, "0"),
    (Field::Path, true, "src"),
    (Field::Language, true, "C"),
    (Field::Language, true, "c"),
    (Field::Language, true, "markdown"),
    (Field::Language, true, "JavaScript"),
    (Field::Kind, true, "source"),
    (Field::Kind, true, "documentation"),
    (Field::Kind, true, "tests"),
    (Field::Kind, true, "vendored"),
    (Field::Revision, true, "main"),
    (Field::Revision, true, "refs/tags/v1.0"),
    (Field::Revision, true, "heads/feature/x"),
    (Field::Revision, true, "origin/main"),
    (Field::Revision, true, "HEAD"),
    (Field::Revision, true, "3333333"),
    (Field::Revision, true, "333333"),
    (Field::Revision, true, "v1.*"),
    (Field::Revision, false, "v1.*"),
    (Field::Revision, false, "*"),
    (Field::Revision, false, "{v1.1,*main}"),
    (Field::Revision, false, "refs/heads/*"),
    (Field::Branch, true, "HEAD"),
    (Field::Branch, true, "v1.0"),
    (Field::Branch, false, "*"),
    (Field::Branch, false, "?ain"),
];

pub(crate) fn one() -> impl Strategy<Value = Filter> {
    let filter = (select(&VALUES[..]), any::<bool>());
    filter.prop_map(|((field, exact, text), negated)| Filter {
        field,
        exact,
        text,
        negated,
    })
}

/// No filter half of the time, else up to three.
pub(crate) fn filters() -> impl Strategy<Value = Vec<Filter>> {
    prop_oneof![Just(Vec::new()), vec(one(), 1..=3)]
}

pub(crate) fn sent(filter: &Filter) -> Expr {
    let ignoring_case = filter.text.strip_prefix("(?i)");
    let expr = Expr::Filter(message::Filter {
        field: match filter.field {
            Field::Package => message::Field::Package,
            Field::Path => message::Field::Path,
            Field::Language => message::Field::Language,
            Field::Kind => message::Field::Kind,
            Field::Revision => message::Field::Revision,
            Field::Branch => message::Field::Branch,
        },
        reading: if filter.exact {
            Reading::Exact
        } else if filter.is_of_revisions() {
            Reading::Glob
        } else if ignoring_case.is_some() {
            Reading::RegexpIgnoringCase
        } else {
            Reading::Regexp
        },
        text: ignoring_case.unwrap_or(filter.text).to_owned(),
    });
    if filter.negated { expr.negated() } else { expr }
}

/// True if a search with these filters finds a document.
pub(crate) fn leave(filters: &[Filter], document: &Document) -> bool {
    let all_revisions = filters.iter().any(Filter::is_of_revisions);
    document.state.is_reached(&document.package, all_revisions)
        && filters.iter().all(|filter| holds(filter, document))
}

pub(crate) fn holds(filter: &Filter, document: &Document) -> bool {
    let holds = match filter.field {
        Field::Package => {
            // Directories are like `p3_1`: version 1 of `p3`, or a repository.
            let name = if document.is_of_repository {
                &document.package[..]
            } else {
                &document.package[..2]
            };
            filter.is(name) || (filter.exact && filter.is(&document.package))
        }
        Field::Path => filter.is(&document.path),
        Field::Language => {
            let languages = [(".c", "c"), (".md", "markdown"), (".js", "javascript")];
            let is_it = |(end, _): &&(&str, &str)| document.path.ends_with(end.as_bytes());
            let language = languages.iter().find(is_it);
            language.is_some_and(|(_, name)| *name == filter.text.to_lowercase())
        }
        Field::Kind => kind(&document.path) == filter.text,
        Field::Revision | Field::Branch => {
            let meant = meant(filter.text, filter.exact, &document.package);
            let branches = |name: &str| name.starts_with("refs/heads/") || name.contains("origin");
            let mut names = document.state.revisions(&document.package).into_iter();
            names.any(|name| {
                meant.contains(&name) && (matches!(filter.field, Field::Revision) || branches(name))
            })
        }
    };
    holds != filter.negated
}

fn kind(path: &[u8]) -> &'static str {
    if path.starts_with(b"vendor/") || path.ends_with(b".min.js") {
        "vendored"
    } else if path.starts_with(b"tests/") {
        "tests"
    } else if path.ends_with(b".c") && !path.starts_with(b"doc/") {
        "source"
    } else {
        "documentation"
    }
}

fn meant(text: &str, exact: bool, package: &[u8]) -> Vec<&'static str> {
    let [main, feature, one, two, remote] = REVISIONS;
    match (text, exact) {
        ("main", true) => vec![main],
        ("refs/tags/v1.0" | "3333333" | "v1.0", true) => vec![one],
        ("heads/feature/x", true) => vec![feature],
        ("origin/main", true) => vec![remote],
        ("HEAD", true) => vec![default_of(package)],
        ("333333" | "v1.*", true) => vec![],
        ("v1.*", false) => vec![one, two],
        ("*", false) => REVISIONS.to_vec(),
        ("{v1.1,*main}", false) => vec![two, main, remote],
        ("refs/heads/*", false) => vec![main, feature],
        ("?ain", false) => vec![main],
        other => panic!("{other:?} is no filter of this test"),
    }
}

impl Filter {
    pub(crate) fn is_of_revisions(&self) -> bool {
        matches!(self.field, Field::Revision | Field::Branch)
    }

    fn is(&self, name: &[u8]) -> bool {
        if self.exact {
            name == self.text.as_bytes()
        } else {
            Regex::new(self.text).unwrap().is_match(name)
        }
    }
}
