//! Filters as they are typed, after `package=`, `path=` and `lang=` in an address and after the
//! same words on a command line.
//!
//! A regular expression as it is; `=` in front of what is meant exactly, and before all a `-` for
//! what is not wanted: `-vendor/`, `=i3-wm`, `-=test.c`. A regular expression that begins with one
//! of the two says so with a backslash: `\-x`. A language is always exact, with `=` or without.
//! Which languages there are is for a backend to say.

use crate::query::{BadQuery, check_syntax};
use schema::message::{Expr, Field, Filter, Reading};

/// The fields and what they are called, in the order in which filters are shown.
pub const FIELDS: [(Field, &str); 3] = [
    (Field::Package, "package"),
    (Field::Path, "path"),
    (Field::Language, "lang"),
];

/// The field that is called `name`.
pub fn field(name: &str) -> Option<Field> {
    let mut fields = FIELDS.into_iter();
    fields
        .find(|(_, known)| *known == name)
        .map(|(field, _)| field)
}

/// What a field is called.
pub fn name(field: Field) -> &'static str {
    let mut fields = FIELDS.into_iter();
    let named = fields.find(|(known, _)| *known == field);
    named.map_or("name", |(_, name)| name)
}

/// Parses what was typed.
pub fn parse(field: Field, typed: &str) -> Result<Expr, BadQuery> {
    let (rest, negated) = stripped(typed, '-');
    let (text, exact) = stripped(rest, '=');
    let reading = match exact || field == Field::Language {
        true => Reading::Exact,
        false => Reading::Regexp,
    };
    let filter = Filter {
        field,
        reading,
        text: text.to_owned(),
    };
    check(&filter)?;
    let filter = Expr::Filter(filter);
    Ok(if negated { filter.negated() } else { filter })
}

/// A filter, and whether it is negated.
fn of(expr: &Expr) -> Option<(&Filter, bool)> {
    match expr {
        Expr::Filter(filter) => Some((filter, false)),
        Expr::Not(inner) => match &**inner {
            Expr::Filter(filter) => Some((filter, true)),
            _ => None,
        },
        _ => None,
    }
}

/// What filters are sorted by.
pub(crate) fn key(expr: &Expr) -> Option<(Field, Reading, bool, String)> {
    let (filter, negated) = of(expr)?;
    Some((filter.field, filter.reading, negated, filter.text.clone()))
}

fn stripped(text: &str, first: char) -> (&str, bool) {
    match text.strip_prefix(first) {
        Some(rest) => (rest, true),
        None => (text, false),
    }
}

/// What is typed for a filter: [`parse`] makes the same of it, but for the backslash that some
/// regular expressions need.
pub fn typed(expr: &Expr) -> Option<(&'static str, String)> {
    let (filter, negated) = of(expr)?;
    let sign = if negated { "-" } else { "" };
    let mark = match (filter.reading, filter.field) {
        (Reading::Exact, Field::Language) => "",
        (Reading::Exact, _) => "=",
        (Reading::Glob, _) => "",
        (Reading::Regexp, _) if filter.text.starts_with(['-', '=']) => "\\",
        (Reading::Regexp, _) => "",
    };
    Some((name(filter.field), format!("{sign}{mark}{}", filter.text)))
}

/// The filter as it was understood, in the notation of the query language to come.
pub(crate) fn interpreted_as(expr: &Expr) -> String {
    let Some((filter, negated)) = of(expr) else {
        return format!("{expr:?}");
    };
    let sign = if negated { "-" } else { "" };
    let mark = match (filter.reading, filter.field) {
        (Reading::Exact, Field::Package | Field::Path) => "=",
        _ => "",
    };
    let text = &filter.text;
    let needs_quotes = |letter: char| letter == '"' || letter.is_whitespace();
    let value = match text.starts_with(['=', '/', '\'']) || text.contains(needs_quotes) {
        true => quoted(text),
        false => text.clone(),
    };
    format!("{sign}{}:{mark}{value}", name(filter.field))
}

/// In quotes, with a backslash before what would end them.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Refuses what no backend could search with.
pub(crate) fn check(filter: &Filter) -> Result<(), BadQuery> {
    let name = name(filter.field);
    let checked = match filter.reading {
        _ if filter.text.is_empty() => Err(BadQuery::new("there is nothing to look for")),
        Reading::Exact | Reading::Glob => Ok(()),
        Reading::Regexp if filter.field == Field::Language => {
            Err(BadQuery::new("a language is a name"))
        }
        Reading::Regexp => check_syntax(&filter.text, false)
            .map_err(|bad| bad.hint("escape the character with \\, or put = before an exact name")),
    };
    checked.map_err(|bad| BadQuery {
        reason: format!("the filter by {name}: {}", bad.reason),
        filter: Some(filter.text.clone()),
        ..bad
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(field: Field, text: &str, expected: Expect) {
        let out = match parse(field, text) {
            Ok(filter) => {
                let (_, again) = typed(&filter).unwrap();
                assert_eq!(parse(field, &again).unwrap(), filter, "{text}");
                interpreted_as(&filter)
            }
            Err(BadQuery {
                at, reason, filter, ..
            }) => format!("{at:?} of {filter:?}: {reason}"),
        };
        expected.assert_eq(&out);
    }

    #[test]
    fn what_is_typed_is_understood() {
        check(Field::Package, "^i3", expect!["package:^i3"]);
        check(Field::Package, "=i3-wm", expect!["package:=i3-wm"]);
        check(Field::Path, "-vendor/", expect!["-path:vendor/"]);
        check(Field::Path, "-=a.c", expect!["-path:=a.c"]);
        check(Field::Path, r"\-a", expect![r"path:\-a"]);
        check(Field::Path, r"\=a", expect![r"path:\=a"]);
        check(Field::Path, "=-a", expect!["path:=-a"]);
        check(Field::Path, r"a b\.", expect![[r#"path:"a b\\.""#]]);
        check(Field::Path, "=a\"b", expect![[r#"path:="a\"b""#]]);
        check(Field::Path, "/src/", expect![[r#"path:"/src/""#]]);
        check(Field::Language, "C", expect!["lang:C"]);
        check(
            Field::Language,
            "-=Common Lisp",
            expect![[r#"-lang:"Common Lisp""#]],
        );
    }

    #[test]
    fn what_is_not_says_of_which_filter() {
        check(
            Field::Package,
            "",
            expect![[r#"None of Some(""): the filter by package: there is nothing to look for"#]],
        );
        check(
            Field::Language,
            "-",
            expect![[r#"None of Some(""): the filter by lang: there is nothing to look for"#]],
        );
        check(
            Field::Path,
            "-=",
            expect![[r#"None of Some(""): the filter by path: there is nothing to look for"#]],
        );
        check(
            Field::Path,
            "-a(b",
            expect![[
                r#"Some(1) of Some("a(b"): the filter by path: not a regular expression: unclosed group"#
            ]],
        );
        let regexp = Expr::Filter(Filter {
            field: Field::Path,
            reading: Reading::Regexp,
            text: "-=".to_owned(),
        });
        assert_eq!(typed(&regexp.negated()).unwrap().1, r"-\-=");
    }
}
