//! A search's filters, from what was sent to what shards are asked with.

use index::filter::{Filters, UnknownLanguage, Value};
use index::plan::BadPattern;
use schema::message::{Failure, FailureKind, Field, Filter, Reading};

/// Compiles filters; the failure says which one is at fault, and where in its text.
pub(super) fn compile(filters: &[(u32, &Filter, bool)]) -> Result<Filters, Failure> {
    let mut compiled = Filters::default();
    for &(atom, filter, negated) in filters {
        add(&mut compiled, filter, negated).map_err(|failure| Failure {
            atom: Some(atom),
            ..failure
        })?;
    }
    Ok(compiled)
}

fn add(to: &mut Filters, filter: &Filter, negated: bool) -> Result<(), Failure> {
    let text = &filter.text[..];
    let value = match filter.reading {
        Reading::Regexp => Value::Regexp(text),
        Reading::Exact | Reading::Glob => Value::Exact(text),
    };
    match (filter.field, filter.reading) {
        (Field::Package, _) => to
            .package(value, negated)
            .map_err(|bad| bad_value("package", bad)),
        (Field::Path, _) => to
            .path(value, negated)
            .map_err(|bad| bad_value("path", bad)),
        (Field::Language, Reading::Exact) => to.language(text, negated).map_err(unknown_language),
        _ => Err(Failure::new(
            FailureKind::BadQuery,
            "a language is a name, not a regular expression",
        )),
    }
}

fn bad_value(field: &str, bad: BadPattern) -> Failure {
    Failure {
        offset: bad.at.and_then(|at| u32::try_from(at).ok()),
        ..Failure::new(
            FailureKind::BadQuery,
            format!("the filter by {field}: {}", bad.reason),
        )
    }
}

fn unknown_language(unknown: UnknownLanguage) -> Failure {
    let hint = match unknown.similar {
        Some(similar) => format!("did you mean {similar}?"),
        None => "languages have the names that GitHub gives them, as C, C++ and Python".to_owned(),
    };
    Failure {
        hint,
        ..Failure::new(FailureKind::BadQuery, unknown.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(field: Field, reading: Reading, text: &str) -> Filter {
        Filter {
            field,
            reading,
            text: text.to_owned(),
        }
    }

    #[test]
    fn what_is_wrong_says_where_and_what_to_do() {
        let good = filter(Field::Path, Reading::Exact, "a(b");
        assert!(compile(&[(0, &good, false)]).is_ok());
        let check = |field, reading, text, offset, says: &str| {
            let bad = filter(field, reading, text);
            let failure = compile(&[(0, &good, false), (1, &bad, false)]).unwrap_err();
            assert_eq!(failure.kind, FailureKind::BadQuery);
            assert_eq!((failure.atom, failure.offset), (Some(1), offset));
            let said = format!("{}; {}", failure.message, failure.hint);
            assert!(said.contains(says), "{said}");
        };
        let (regexp, exact) = (Reading::Regexp, Reading::Exact);
        check(
            Field::Path,
            regexp,
            "a(b",
            Some(1),
            "by path: unclosed group",
        );
        check(Field::Package, regexp, "[", Some(0), "by package: unclosed");
        check(Field::Package, regexp, r"\w{999}", None, "FILTER_BYTES_MAX");
        check(
            Field::Language,
            exact,
            "pyhton",
            None,
            "did you mean Python?",
        );
        check(Field::Language, exact, "cpp", None, "did you mean C++?");
        check(Field::Language, exact, "", None, "as C, C++ and Python");
        check(
            Field::Language,
            regexp,
            "C",
            None,
            "not a regular expression",
        );
    }
}
