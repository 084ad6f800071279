//! Filters: values of `path:` in a query, `path=` in a URL and `--path` on a command line.
//!
//! A value is a glob if it looks like one, else a regular expression with smart case, unless it
//! selects a directory (`^src/`). `=` marks an exact value, `g:` a glob, quotes or slashes a
//! regular expression. In a parameter, a leading `-` negates; a regular expression with `-` is
//! typed `\-x`. Languages, extensions and kinds are exact; revisions are never regular expressions.
//!
//! **Invariant:** a rendered filter parses to the same filter. Marks and quotes appear only where
//! plain text would parse differently or end elsewhere.

use super::case::Case;
use super::date;
use super::error::BadQuery;
use super::lex::{Flags, Lexer, quoted, slashed};
use super::regexp::check_syntax;
use super::revision_name;
use super::source_text::SourceText;
use crate::similar::similar;
use language::symbols;
use schema::message::{DocumentKind, Expr, Field, Filter, Reading, Syntax};

/// Fields and names, in display order.
pub const FIELDS: [(Field, &str); 14] = [
    (Field::Package, "package"),
    (Field::Path, "path"),
    (Field::Name, "name"),
    (Field::Language, "lang"),
    (Field::Extension, "ext"),
    (Field::Kind, "kind"),
    (Field::Revision, "rev"),
    (Field::Branch, "branch"),
    (Field::Type, "type"),
    (Field::Author, "author"),
    (Field::Committer, "committer"),
    (Field::Message, "message"),
    (Field::Before, "before"),
    (Field::After, "after"),
];

/// Values of `type:` that are filters: documents of histories.
pub(super) const HISTORY_TYPES: [&str; 2] = ["commit", "diff"];

pub fn field(name: &str) -> Option<Field> {
    let field = FIELDS.iter().find(|(_, known)| *known == name);
    field.map(|(field, _)| *field)
}

pub fn name(field: Field) -> &'static str {
    let mut fields = FIELDS.into_iter();
    let named = fields.find(|(known, _)| *known == field);
    named.map(|(_, name)| name).expect("FIELDS has every field")
}

/// Parses and checks a parameter. Errors have an offset in it.
pub fn parse(field: Field, typed: &str) -> Result<Expr, BadQuery> {
    let (filter, text, negated) = parse_parameter(field, typed)?;
    check(&filter).map_err(|bad| BadQuery {
        at: bad.at.map(|at| text.at(at)),
        filter: Some(typed.to_owned()),
        ..bad
    })?;
    let filter = Expr::Filter(filter);
    Ok(if negated { filter.negated() } else { filter })
}

pub(super) fn parse_parameter(
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

pub(super) fn read(field: Field, lexer: &mut Lexer<'_>) -> Result<(Filter, SourceText), BadQuery> {
    let takes = Takes::of(field);
    let marked = match lexer.rest() {
        rest if rest.starts_with('=') => Some((Reading::Exact, 1)),
        rest if rest.starts_with("g:") && takes != Takes::Names => Some((Reading::Glob, 2)),
        _ => None,
    };
    if let Some((_, bytes)) = marked {
        lexer.at += bytes;
    }
    let start = lexer.at;
    let mut ignore_case = None;
    let enclosed = match lexer.peek() {
        Some('"' | '\'') => Some(lexer.string()?),
        Some('/') if marked.is_none() && takes == Takes::Regexps => lexer.regexp(),
        _ => None,
    };
    let reading = match marked {
        Some((reading, _)) => reading,
        None if takes == Takes::Regexps => Reading::Regexp,
        None => Reading::Exact,
    };
    let (text, reading) = match enclosed {
        Some((text, flags)) => {
            ignore_case = check_flags(flags, reading, start)?;
            (text, reading)
        }
        None if marked.is_some() || takes == Takes::Names => (lexer.bare(false).0, reading),
        None if takes == Takes::Revisions => revision_name::read(lexer)?,
        None => {
            let (text, _) = lexer.bare(true);
            let is_glob = is_glob(text.as_str());
            (text, if is_glob { Reading::Glob } else { reading })
        }
    };
    let (text, reading) = match (reading, field) {
        (Reading::Regexp, _) => {
            let regexp = text.into_regexp();
            if ignore_case.unwrap_or_else(|| has_smart_case(regexp.as_str())) {
                (regexp, Reading::RegexpIgnoringCase)
            } else {
                (regexp, reading)
            }
        }
        (_, Field::Extension) => (text.without_prefix('.'), reading),
        _ => (text, reading),
    };
    let seconds = is_time(field)
        .then(|| date::seconds_of(text.as_str()))
        .flatten();
    let filter = Filter {
        field,
        reading,
        text: seconds.map_or_else(|| text.as_str().to_owned(), |it| it.to_string()),
    };
    Ok((filter, text))
}

fn is_time(field: Field) -> bool {
    matches!(field, Field::Before | Field::After)
}

/// Case flag after quotes or slashes, allowed only for regular expressions.
fn check_flags(flags: Flags, reading: Reading, at: usize) -> Result<Option<bool>, BadQuery> {
    match flags.ignore_case {
        _ if flags.word => {
            let bad = BadQuery::new("the flag w is not allowed in a filter").at(at);
            Err(bad.hint("in a regular expression \\b matches a word boundary"))
        }
        Some(true) if reading != Reading::Regexp => {
            let bad = BadQuery::new("the flag i is not allowed for an exact value or a glob");
            Err(bad
                .at(at)
                .hint("remove it, or type a regular expression: /name/i"))
        }
        ignore_case => Ok(ignore_case),
    }
}

/// Smart case of an expression without flags. Directories respect case: links of the facets must
/// select exactly the counted directory.
fn has_smart_case(regexp: &str) -> bool {
    selected_directory(regexp).is_none() && Case::Auto.ignores(regexp, Syntax::Regexp)
}

/// Directory, with its slash, that a regular expression like `^src/` selects.
pub(super) fn selected_directory(regexp: &str) -> Option<String> {
    let mut letters = regexp.strip_prefix('^')?.chars();
    let mut directory = String::with_capacity(regexp.len());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => directory.push(letters.next().filter(char::is_ascii_punctuation)?),
            special if is_special(special) => return None,
            _ => directory.push(letter),
        }
    }
    (directory.len() > 1 && directory.ends_with('/')).then_some(directory)
}

/// Filter value that selects a directory, given without the last slash.
pub fn selecting(directory: &str) -> String {
    let mut value = "^".to_owned();
    for letter in directory.chars() {
        if is_special(letter) || letter == '\\' {
            value.push('\\');
        }
        value.push(letter);
    }
    value.push('/');
    value
}

fn is_special(letter: char) -> bool {
    ".+*?()|[]{}^$".contains(letter)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// Regular expressions, globs and exact values.
    Regexps,
    /// Globs and exact values.
    Revisions,
    /// Exact values.
    Names,
}

impl Takes {
    fn of(field: Field) -> Takes {
        match field {
            Field::Package | Field::Path | Field::Name => Takes::Regexps,
            Field::Author | Field::Committer | Field::Message => Takes::Regexps,
            Field::Revision | Field::Branch => Takes::Revisions,
            Field::Language | Field::Extension | Field::Kind => Takes::Names,
            Field::Type | Field::Before | Field::After => Takes::Names,
        }
    }
}

fn is_glob(text: &str) -> bool {
    let is_regexp = text.contains(['\\', '^', '$', '+', '(', ')', '|'])
        || [".*", ".?"].iter().any(|part| text.contains(part));
    text.contains(['*', '?', '[']) && !is_regexp
}

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

pub(super) fn check(filter: &Filter) -> Result<(), BadQuery> {
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
        _ if text.is_empty() => Err(BadQuery::new("the value is empty")),
        Reading::Exact if filter.field == Field::Extension => match text.rfind(['.', '/', '*']) {
            Some(at) => Err(BadQuery::new("an extension is the text after the last dot")
                .at(at)
                .hint("for x.tar.gz type gz; to match more of a name, use path:")),
            None => Ok(()),
        },
        Reading::Exact if is_time(filter.field) && text.parse::<i64>().is_err() => {
            Err(BadQuery::new(format!("{text} is no time"))
                .hint(format!("type {}", date::DATE_EXPECTED)))
        }
        Reading::Exact
            if filter.field == Field::Type && !HISTORY_TYPES.contains(&text.as_str()) =>
        {
            Err(BadQuery::new(format!("there is no type {text}"))
                .hint("the types of histories are commit and diff"))
        }
        Reading::Exact if filter.field == Field::Kind && DocumentKind::named(text).is_none() => {
            let files = DocumentKind::ALL.map(DocumentKind::name);
            let names = files.into_iter().chain(symbols::Kind::names());
            let near = similar(text.to_ascii_lowercase(), names).into_iter().next();
            let hint = match near {
                Some(near) => format!("did you mean kind:{near}?"),
                None => format!(
                    "the kinds are {}; those of symbols are function, type, macro, field and others",
                    files.join(", ")
                ),
            };
            Err(BadQuery::new(format!("there is no kind {text}")).hint(hint))
        }
        reading if reading.is_regexp() && Takes::of(filter.field) != Takes::Regexps => {
            Err(BadQuery::new("a regular expression is not allowed"))
        }
        _ if Takes::of(filter.field) == Takes::Revisions => revision_name::check(filter),
        Reading::Exact | Reading::Glob => Ok(()),
        Reading::Regexp | Reading::RegexpIgnoringCase => check_syntax(text).map_err(|bad| {
            bad.hint("escape the character with \\, or mark an exact value with =, a glob with g:")
        }),
    }
}

/// Field name and parameter that [`parse`] reads as this filter.
pub fn typed(expr: &Expr) -> Option<(&'static str, String)> {
    let (filter, negated) = of(expr)?;
    let sign = if negated { "-" } else { "" };
    let reads_back = |value: &str| {
        parse_parameter(filter.field, value)
            .is_ok_and(|(read, _, negated)| read == *filter && !negated)
    };
    let mut candidates = [filter.text.clone()].into_iter().chain(marked(filter));
    let value = candidates.find(|value| reads_back(value));
    let value = value.unwrap_or_else(|| value_in_query(filter));
    Some((name(filter.field), format!("{sign}{value}")))
}

/// Marked values: a regular expression without and with its flag.
fn marked(filter: &Filter) -> impl Iterator<Item = String> {
    let text = &filter.text;
    let (value, flag) = match filter.reading {
        Reading::Exact => (format!("={text}"), None),
        Reading::Glob => (format!("g:{text}"), None),
        Reading::Regexp => (slashed(text), Some("c")),
        Reading::RegexpIgnoringCase => (slashed(text), Some("i")),
    };
    let flagged = flag.map(|flag| format!("{value}{flag}"));
    [value].into_iter().chain(flagged)
}

pub(super) fn in_query(filter: &Filter) -> String {
    format!("{}:{}", name(filter.field), value_in_query(filter))
}

fn value_in_query(filter: &Filter) -> String {
    let (text, takes) = (&filter.text, Takes::of(filter.field));
    if let Some(seconds) = text.parse().ok().filter(|_| is_time(filter.field)) {
        return date::date_shown(seconds);
    }
    let is_plain = match filter.reading {
        Reading::Exact => takes != Takes::Regexps,
        // A later slash in the query could close it.
        _ => !text.starts_with('/'),
    };
    let plain = is_plain.then(|| text.clone());
    let marked = marked(filter).filter(|_| takes != Takes::Names);
    let mut values = plain.into_iter().chain(marked);
    let value = values.find(|value| reads_back(filter, value));
    value.unwrap_or_else(|| match filter.reading {
        Reading::Exact if takes == Takes::Names => quoted(text),
        Reading::Exact => format!("={}", quoted(text)),
        Reading::Glob => format!("g:{}", quoted(text)),
        Reading::Regexp => format!("{}c", slashed(text)),
        Reading::RegexpIgnoringCase => format!("{}i", slashed(text)),
    })
}

/// True if the value reads as this filter in a group.
fn reads_back(filter: &Filter, value: &str) -> bool {
    let mut lexer = Lexer::new(value);
    lexer.depth = 1;
    let is_slashed = filter.reading.is_regexp() && value.starts_with('/');
    let is_balanced = is_slashed || lexer.clone().bare(false).1;
    let read = read(filter.field, &mut lexer);
    !value.starts_with(':')
        && is_balanced
        && lexer.rest().is_empty()
        && read.is_ok_and(|(read, _)| read == *filter)
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
                crate::interpreted_as(&filter)
            }
            Err(BadQuery {
                at, reason, filter, ..
            }) => format!("{at:?} of {filter:?}: {reason}"),
        };
        expected.assert_eq(&out);
    }

    #[test]
    fn parses_marks_quotes_and_negation() {
        check(Field::Package, "^i3", expect!["package:^i3"]);
        check(Field::Package, "=i3-wm", expect!["package:=i3-wm"]);
        check(Field::Path, "-vendor/", expect!["-path:vendor/"]);
        check(Field::Path, "/credits/i", expect!["path:credits"]);
        check(Field::Path, "/credits/c", expect!["path:/credits/c"]);
        check(Field::Path, "/Credits/c", expect!["path:Credits"]);
        check(Field::Path, "/Credits/i", expect!["path:/Credits/i"]);
        check(Field::Path, "(?i)Credits", expect!["path:(?i)Credits"]);
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
    fn a_regular_expression_without_an_upper_case_letter_ignores_case() {
        let reading = |typed| match parse(Field::Path, typed).unwrap() {
            Expr::Filter(filter) => filter.reading,
            other => panic!("{other:?}"),
        };
        for ignoring in ["credits", r"^\S+[a-z]$", "\"a b\"", "/Credits/i"] {
            assert_eq!(reading(ignoring), Reading::RegexpIgnoringCase, "{ignoring}");
        }
        for respecting in ["CREDITS", r"^\d+/", "^src/", "/credits/c"] {
            assert_eq!(reading(respecting), Reading::Regexp, "{respecting}");
        }
    }

    #[test]
    fn errors_name_the_filter() {
        check(
            Field::Package,
            "",
            expect![[r#"None of Some(""): the filter by package: the value is empty"#]],
        );
        check(
            Field::Language,
            "-",
            expect![[r#"None of Some("-"): the filter by lang: the value is empty"#]],
        );
        check(
            Field::Path,
            "-=",
            expect![[r#"None of Some("-="): the filter by path: the value is empty"#]],
        );
        check(
            Field::Path,
            "-a(b",
            expect![[
                r#"Some(2) of Some("-a(b"): the filter by path: invalid regular expression: unclosed group"#
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
