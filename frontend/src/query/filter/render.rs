//! Filters as they are shown, which is as they can be typed.
//!
//! **Invariant:** a mark stands where its text alone would be read as something else, or would end
//! elsewhere, and only there.

use super::{Filter, Lexer, Reading, is_name, name, of, parse_alone, read};
use crate::query::{quoted, slashed};
use schema::message::Expr;

/// What is typed for a filter that stands alone: [`parse`] makes the same of it.
pub fn typed(expr: &Expr) -> Option<(&'static str, String)> {
    let (filter, negated) = of(expr)?;
    let sign = if negated { "-" } else { "" };
    let reads_back = |value: &str| {
        parse_alone(filter.field, value).is_ok_and(|(read, _, negated)| read == *filter && !negated)
    };
    let value = match reads_back(&filter.text) {
        true => filter.text.clone(),
        false => marked(filter),
    };
    let value = match reads_back(&value) {
        true => value,
        false => value_in_query(filter),
    };
    Some((name(filter.field), format!("{sign}{value}")))
}

/// With the mark that its reading has.
fn marked(filter: &Filter) -> String {
    match filter.reading {
        Reading::Exact => format!("={}", filter.text),
        Reading::Glob => format!("g:{}", filter.text),
        Reading::Regexp => slashed(&filter.text),
    }
}

/// The filter as it is written in a query.
pub fn interpreted_as(expr: &Expr) -> String {
    match of(expr) {
        Some((filter, true)) => format!("-{}", in_query(filter)),
        Some((filter, false)) => in_query(filter),
        None => crate::query::render(expr, false, 0),
    }
}

/// Key and value of a filter, as a query has them.
pub(crate) fn in_query(filter: &Filter) -> String {
    format!("{}:{}", name(filter.field), value_in_query(filter))
}

fn value_in_query(filter: &Filter) -> String {
    let text = &filter.text;
    let is_plain = match filter.reading {
        Reading::Exact => is_name(filter.field),
        // What begins with a slash may end at one that stands behind it in the query.
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

/// Whether this value, in a group, is the filter's and ends by itself.
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
