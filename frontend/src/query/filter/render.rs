//! Renders filters so that they can be typed again.
//!
//! **Invariant:** a mark or quotes appear only where the text alone would be parsed differently or would
//! end elsewhere.

use super::{is_name, name, of, parse_parameter, read};
use crate::query::lex::{Lexer, quoted, slashed};
use schema::message::{Expr, Filter, Reading};

/// Returns the field's name and the parameter that [`parse`](super::parse) reads as this filter.
pub fn typed(expr: &Expr) -> Option<(&'static str, String)> {
    let (filter, negated) = of(expr)?;
    let sign = if negated { "-" } else { "" };
    let reads_back = |value: &str| {
        parse_parameter(filter.field, value)
            .is_ok_and(|(read, _, negated)| read == *filter && !negated)
    };
    let candidates = [filter.text.clone(), marked(filter)];
    let value = candidates.into_iter().find(|value| reads_back(value));
    let value = value.unwrap_or_else(|| value_in_query(filter));
    Some((name(filter.field), format!("{sign}{value}")))
}

/// Returns the value with the mark of its kind.
fn marked(filter: &Filter) -> String {
    match filter.reading {
        Reading::Exact => format!("={}", filter.text),
        Reading::Glob => format!("g:{}", filter.text),
        Reading::Regexp => slashed(&filter.text),
    }
}

/// Returns key and value as in a query.
pub(in crate::query) fn in_query(filter: &Filter) -> String {
    format!("{}:{}", name(filter.field), value_in_query(filter))
}

fn value_in_query(filter: &Filter) -> String {
    let text = &filter.text;
    let is_plain = match filter.reading {
        Reading::Exact => is_name(filter.field),
        // A later slash in the query could end a value that begins with one.
        Reading::Glob | Reading::Regexp => !text.starts_with('/'),
    };
    if is_plain && reads_back(filter, text) {
        return text.clone();
    }
    let marked = marked(filter);
    if !is_name(filter.field) && reads_back(filter, &marked) {
        return marked;
    }
    match filter.reading {
        Reading::Exact if is_name(filter.field) => quoted(text),
        Reading::Exact => format!("={}", quoted(text)),
        Reading::Glob => format!("g:{}", quoted(text)),
        Reading::Regexp => marked,
    }
}

/// Whether the value, in a group, is read as this filter and ends where it should.
fn reads_back(filter: &Filter, value: &str) -> bool {
    let mut lexer = Lexer::new(value);
    lexer.depth = 1;
    let is_slashed = filter.reading == Reading::Regexp && value.starts_with('/');
    let is_balanced = is_slashed || lexer.clone().bare(false).1;
    let read = read(filter.field, &mut lexer);
    !value.starts_with(':')
        && is_balanced
        && lexer.rest().is_empty()
        && read.is_ok_and(|(read, _)| read == *filter)
}
