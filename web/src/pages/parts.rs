//! Parts of a query: terms, options and filters, with links that remove them.

use super::form::Form;
use super::visible;
use crate::search::choice::Choice;
use frontend::query::{BadQuery, ParsedQuery, Query, QueryInput, filter};
use schema::message::{Expr, Syntax};
use std::ops::Range;

pub(super) const EXCLUDED: &str = "excluded";

#[derive(Clone, Debug)]
pub(super) struct QueryPart {
    pub(super) text: String,
    pub(super) meaning: &'static str,
    /// `None` if that is not a valid query.
    pub(super) without: Option<Form>,
    pub(super) origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Byte range of the query text.
    Term(Range<usize>),
    Parameter(usize),
}

pub(super) fn parts(form: &Form, parsed: &ParsedQuery) -> Vec<QueryPart> {
    let terms = parsed.terms.iter().enumerate().filter_map(|(index, term)| {
        let typed = form.q.get(term.clone())?;
        Some(QueryPart {
            text: visible::plain(typed.as_bytes()),
            meaning: meaning(&with_text(form, typed), parsed),
            without: checked(without_term(form, &parsed.terms, index), parsed),
            origin: Origin::Term(term.clone()),
        })
    });
    let filters = form.filters.iter().enumerate().map(|(index, filter)| {
        let mut without = form.clone();
        without.filters.remove(index);
        QueryPart {
            text: filter.label(),
            meaning: if filter.typed.starts_with('-') {
                "excluding filter"
            } else {
                "filter"
            },
            without: checked(without, parsed),
            origin: Origin::Parameter(index),
        }
    });
    terms.chain(filters).collect()
}

pub(super) fn parse(form: &Form) -> Result<ParsedQuery, BadQuery> {
    let filters = form.filters.iter().filter_map(|each| {
        let field = filter::field(each.name)?;
        Some((field, &each.typed[..]))
    });
    let filters: Vec<_> = filters.collect();
    Query::parse(&QueryInput {
        q: &form.q,
        mode: Some(form.mode.name()),
        case: form.case.map(Choice::name),
        word: form.word.then_some("yes"),
        exact: form.exact.then_some("yes"),
        filters: &filters,
        ..QueryInput::default()
    })
}

pub(super) fn with_text(form: &Form, q: &str) -> Form {
    Form {
        q: q.to_owned(),
        filters: Vec::new(),
        ..form.clone()
    }
}

fn without_term(form: &Form, terms: &[Range<usize>], index: usize) -> Form {
    let others = terms
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != index);
    let others = others.filter_map(|(_, term)| form.q.get(term.clone()));
    Form {
        q: others.collect::<Vec<_>>().join(" "),
        ..form.clone()
    }
}

/// Returns a valid form if its terms keep their meaning in `whole`.
fn checked(form: Form, whole: &ParsedQuery) -> Option<Form> {
    let form = Form { run: None, ..form };
    let parsed = parse(&form).ok()?;
    (!takes_more_signs_for_text(&parsed, whole)).then_some(form)
}

/// True if `part` alone searches for signs that exclude in `whole`.
pub(super) fn takes_more_signs_for_text(part: &ParsedQuery, whole: &ParsedQuery) -> bool {
    part.has_signs_as_text && !whole.has_signs_as_text
}

fn meaning(form: &Form, whole: &ParsedQuery) -> &'static str {
    let has_sign = form.q.starts_with(['-', 'n', 'N']);
    // Other forms of a text are a regular expression.
    let exact = Form {
        exact: true,
        ..form.clone()
    };
    let parsed = match parse(&exact) {
        Ok(parsed) if !has_sign || !takes_more_signs_for_text(&parsed, whole) => parsed,
        // Negated terms and options alone are not queries.
        _ => return if has_sign { EXCLUDED } else { "option" },
    };
    match &parsed.query.expr {
        Expr::Pattern(pattern) => match (pattern.syntax, pattern.ignore_case) {
            (Syntax::Literal, true) => "text, in upper or lower case",
            (Syntax::Literal, false) => "text, in this case",
            (Syntax::Regexp, _) => "regular expression",
        },
        Expr::Filter(_) => "filter",
        Expr::Any(_) => "one of these",
        Expr::All(_) => "all of these",
        Expr::Line(_) => "on one line",
        Expr::Not(_) => EXCLUDED,
    }
}

#[cfg(test)]
mod tests {
    use super::super::form::FormFilter;
    use super::*;
    use crate::search::choice::Mode;
    use expect_test::{Expect, expect};

    fn check(q: &str, mode: Mode, filters: &[(&'static str, &str)], expected: Expect) {
        let filters = filters.iter().map(|(name, typed)| FormFilter {
            name,
            typed: (*typed).to_owned(),
        });
        let form = Form {
            q: q.to_owned(),
            mode,
            filters: filters.collect(),
            ..Form::default()
        };
        let mut out = String::new();
        for part in parts(&form, &parse(&form).unwrap()) {
            let without = part.without.as_ref().map(|form| form.href(0));
            let without = without.unwrap_or_else(|| "kept".to_owned());
            out.push_str(&format!("{} ({}): {without}\n", part.text, part.meaning));
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn each_part_of_a_query_can_be_removed() {
        check(
            "errno -path:test lang:c",
            Mode::Keyword,
            &[("package", "=a"), ("kind", "-tests")],
            expect![[r#"
                errno (text, in upper or lower case): /search?q=-path%3Atest%20lang%3Ac&package=%3Da&kind=-tests
                -path:test (excluded): /search?q=errno%20lang%3Ac&package=%3Da&kind=-tests
                lang:c (filter): /search?q=errno%20-path%3Atest&package=%3Da&kind=-tests
                package:=a (filter): /search?q=errno%20-path%3Atest%20lang%3Ac&kind=-tests
                -kind:tests (excluding filter): /search?q=errno%20-path%3Atest%20lang%3Ac&package=%3Da
            "#]],
        );
    }

    #[test]
    fn what_no_query_can_do_without_is_kept() {
        check(
            "Foo -bar case:no",
            Mode::Keyword,
            &[],
            expect![[r#"
                Foo (text, in this case): kept
                -bar (excluded): /search?q=Foo%20case%3Ano
                case:no (option): /search?q=Foo%20-bar
            "#]],
        );
        check(
            "-bar lang:c",
            Mode::Keyword,
            &[],
            expect![[r#"
                -bar (excluded): /search?q=lang%3Ac
                lang:c (filter): kept
            "#]],
        );
        check(
            "foo -path:x",
            Mode::Keyword,
            &[("package", "=a")],
            expect![[r#"
                foo (text, in upper or lower case): /search?q=-path%3Ax&package=%3Da
                -path:x (excluded): /search?q=foo&package=%3Da
                package:=a (filter): /search?q=foo%20-path%3Ax
            "#]],
        );
        check(
            "-foo -bar",
            Mode::Keyword,
            &[],
            expect![[r#"
                -foo (text, in upper or lower case): /search?q=-bar
                -bar (text, in upper or lower case): /search?q=-foo
            "#]],
        );
        check(
            "a b",
            Mode::Literal,
            &[],
            expect![[r#"
                a b (text, in this case): kept
            "#]],
        );
    }
}
