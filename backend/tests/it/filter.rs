//! Random filters, and which documents they leave, in the simplest way.
//!
//! It relies on the names that [`corpus`](crate::corpus) gives to packages and files, and knows
//! nothing of versions or languages in general.

use crate::naive::Document;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use regex::bytes::Regex;
use schema::message::{self, Expr, Reading};

/// What a filter tests.
#[derive(Clone, Copy, Debug)]
enum Field {
    Package,
    Path,
    Language,
}

/// A filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    field: Field,
    exact: bool,
    text: &'static str,
    negated: bool,
}

/// Field, whether the filter is exact, and its text.
const VALUES: [(Field, bool, &str); 22] = [
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
    (Field::Path, true, "src/task1.c"),
    (Field::Path, true, "0"),
    (Field::Path, true, "src"),
    (Field::Language, true, "C"),
    (Field::Language, true, "c"),
    (Field::Language, true, "markdown"),
    (Field::Language, true, "JavaScript"),
];

/// Generates a filter.
pub(crate) fn one() -> impl Strategy<Value = Filter> {
    let filter = (select(&VALUES[..]), any::<bool>());
    filter.prop_map(|((field, exact, text), negated)| Filter {
        field,
        exact,
        text,
        negated,
    })
}

/// Generates no filter half of the time, else up to three.
pub(crate) fn filters() -> impl Strategy<Value = Vec<Filter>> {
    prop_oneof![Just(Vec::new()), vec(one(), 1..=3)]
}

/// Returns the filter as it is sent.
pub(crate) fn sent(filter: &Filter) -> Expr {
    let expr = Expr::Filter(message::Filter {
        field: match filter.field {
            Field::Package => message::Field::Package,
            Field::Path => message::Field::Path,
            Field::Language => message::Field::Language,
        },
        reading: if filter.exact {
            Reading::Exact
        } else {
            Reading::Regexp
        },
        text: filter.text.to_owned(),
    });
    if filter.negated { expr.negated() } else { expr }
}

/// Returns whether a document passes all filters.
pub(crate) fn leave(filters: &[Filter], document: &Document) -> bool {
    filters.iter().all(|filter| {
        let holds = match filter.field {
            Field::Package => {
                // All packages have names like `p3_1`.
                let name = &document.package[..2];
                filter.is(name) || (filter.exact && filter.is(&document.package))
            }
            Field::Path => filter.is(&document.path),
            Field::Language => {
                let languages = [(".c", "c"), (".md", "markdown"), (".js", "javascript")];
                let is_it = |(end, _): &&(&str, &str)| document.path.ends_with(end.as_bytes());
                let language = languages.iter().find(is_it);
                language.is_some_and(|(_, name)| *name == filter.text.to_lowercase())
            }
        };
        holds != filter.negated
    })
}

impl Filter {
    fn is(&self, name: &[u8]) -> bool {
        if self.exact {
            name == self.text.as_bytes()
        } else {
            Regex::new(self.text).unwrap().is_match(name)
        }
    }
}
