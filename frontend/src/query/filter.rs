//! Filters as they are typed, behind `path:` in a query, after `path=` in an address and after
//! `--path` on a command line, and as they are shown.
//!
//! A value is a glob when it looks like one, and else a regular expression; `=` in front of what is
//! meant exactly, `g:` of a glob, and quotes or slashes around a regular expression say so. Where it
//! stands alone, a `-` before all is for what is not wanted (in a query it stands before the key); a
//! regular expression that begins with one says so with a backslash: `\-x`. A language and an
//! extension are always exact. Which languages there are is for a backend to say.

mod render;

pub(crate) use render::in_query;
pub use render::{interpreted_as, typed};

use crate::query::lex::{Flags, Lexer};
use crate::query::{BadQuery, SourceText, check_syntax};
use schema::message::{Expr, Field, Filter, Reading};

/// The fields and what they are called, in the order in which filters are shown.
pub const FIELDS: [(Field, &str); 5] = [
    (Field::Package, "package"),
    (Field::Path, "path"),
    (Field::Name, "name"),
    (Field::Language, "lang"),
    (Field::Extension, "ext"),
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
    named.map(|(_, name)| name).expect("all are named")
}

/// Parses what was typed as a value of its own. Faults have a place in it.
pub fn parse(field: Field, typed: &str) -> Result<Expr, BadQuery> {
    let (filter, text, negated) = parse_alone(field, typed)?;
    check(&filter).map_err(|bad| BadQuery {
        at: bad.at.map(|at| text.at(at)),
        filter: Some(typed.to_owned()),
        ..bad
    })?;
    let filter = Expr::Filter(filter);
    Ok(if negated { filter.negated() } else { filter })
}

/// The same, unchecked: where its text was typed, and whether it is negated.
pub(crate) fn parse_alone(
    field: Field,
    typed: &str,
) -> Result<(Filter, SourceText, bool), BadQuery> {
    let negated = typed.starts_with('-');
    let mut lexer = Lexer::new(typed);
    (lexer.at, lexer.whole) = (usize::from(negated), true);
    let (filter, text) = read(field, &mut lexer).map_err(|bad| BadQuery {
        filter: Some(typed.to_owned()),
        ..bad
    })?;
    Ok((filter, text, negated))
}

/// Reads a value, which may be nothing.
pub(crate) fn read(field: Field, lexer: &mut Lexer<'_>) -> Result<(Filter, SourceText), BadQuery> {
    let is_name = is_name(field);
    let marked = match lexer.rest() {
        rest if rest.starts_with('=') => Some((Reading::Exact, 1)),
        rest if rest.starts_with("g:") && !is_name => Some((Reading::Glob, 2)),
        _ => None,
    };
    if let Some((_, bytes)) = marked {
        lexer.at += bytes;
    }
    let plain = if is_name {
        Reading::Exact
    } else {
        Reading::Regexp
    };
    let start = lexer.at;
    let enclosed = match lexer.peek() {
        Some('"' | '\'') => Some(lexer.string()?),
        Some('/') if marked.is_none() && !is_name => lexer.regexp(),
        _ => None,
    };
    let reading = marked.map_or(plain, |(reading, _)| reading);
    let (text, reading) = match enclosed {
        Some((text, flags)) => (with_flags(text, flags, reading, start)?, reading),
        None if marked.is_some() || is_name => (lexer.bare(false).0, reading),
        None => bare(lexer),
    };
    let text = match (reading, field) {
        (Reading::Regexp, _) => text.into_regexp(),
        (_, Field::Extension) => text.without_prefix('.'),
        _ => text,
    };
    let filter = Filter {
        field,
        reading,
        text: text.as_str().to_owned(),
    };
    Ok((filter, text))
}

/// A filter has no flags but those that stand within a regular expression as well.
fn with_flags(
    text: SourceText,
    flags: Flags,
    reading: Reading,
    at: usize,
) -> Result<SourceText, BadQuery> {
    match flags.ignore_case {
        _ if flags.word => Err(BadQuery::new("a filter has no flag w")
            .at(at)
            .hint("in a regular expression \\b stands for the border of a word")),
        Some(true) if reading == Reading::Regexp => Ok(text.with_prefix("(?i)")),
        Some(true) => Err(BadQuery::new("a name has no flag i")
            .at(at)
            .hint("leave it out, or write a regular expression: /name/i")),
        _ => Ok(text),
    }
}

fn bare(lexer: &mut Lexer<'_>) -> (SourceText, Reading) {
    let (text, _) = lexer.bare(true);
    let reading = match is_glob(text.as_str()) {
        true => Reading::Glob,
        false => Reading::Regexp,
    };
    (text, reading)
}

/// Whether what a field holds is one of a few names.
fn is_name(field: Field) -> bool {
    matches!(field, Field::Language | Field::Extension)
}

/// Whether a value looks like a glob rather than a regular expression.
fn is_glob(text: &str) -> bool {
    let is_regexp = text.contains(['\\', '^', '$', '+', '(', ')', '|'])
        || [".*", ".?"].iter().any(|part| text.contains(part));
    text.contains(['*', '?', '[']) && !is_regexp
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

/// Refuses what no backend could search with.
pub(crate) fn check(filter: &Filter) -> Result<(), BadQuery> {
    let name = name(filter.field);
    check_text(filter).map_err(|bad| BadQuery {
        reason: format!("the filter by {name}: {}", bad.reason),
        filter: Some(filter.text.clone()),
        ..bad
    })
}

fn check_text(filter: &Filter) -> Result<(), BadQuery> {
    let text = &filter.text;
    match filter.reading {
        _ if text.is_empty() => Err(BadQuery::new("there is nothing to look for")),
        Reading::Exact if filter.field == Field::Extension => match text.rfind(['.', '/', '*']) {
            Some(at) => Err(
                BadQuery::new("an extension is what stands behind the last dot")
                    .at(at)
                    .hint("of x.tar.gz it is gz; for more of a name there is path:"),
            ),
            None => Ok(()),
        },
        Reading::Exact | Reading::Glob => Ok(()),
        Reading::Regexp if is_name(filter.field) => Err(BadQuery::new("it is about a name")),
        Reading::Regexp => check_syntax(text, false).map_err(|bad| {
            bad.hint(
                "escape the character with \\, or put = before an exact name, or g: before a glob",
            )
        }),
    }
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
        check(Field::Path, r"a b\.", expect![[r#"path:/a b\./"#]]);
        check(Field::Path, "=a\"b", expect![[r#"path:=a"b"#]]);
        check(Field::Path, "/src/", expect!["path:src"]);
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
            expect![[r#"None of Some("-"): the filter by lang: there is nothing to look for"#]],
        );
        check(
            Field::Path,
            "-=",
            expect![[r#"None of Some("-="): the filter by path: there is nothing to look for"#]],
        );
        check(
            Field::Path,
            "-a(b",
            expect![[
                r#"Some(2) of Some("-a(b"): the filter by path: not a regular expression: unclosed group"#
            ]],
        );
        let regexp = Expr::Filter(Filter {
            field: Field::Path,
            reading: Reading::Regexp,
            text: "-=".to_owned(),
        });
        assert_eq!(typed(&regexp.negated()).unwrap().1, "-/-=/");
    }
}
