//! What no backend could search with. A backend refuses more: what is too large once it is compiled,
//! and names of languages that there are none of.

use super::BadQuery;
use super::limits::{CONTEXT_LINES_MAX, NESTING_MAX, QUERY_BYTES_MAX};
use crate::query::filter;
use regex_syntax::ParserBuilder;
use schema::message::{ATOMS_MAX, DEPTH_MAX, Expr, Syntax};

/// Checks an expression and how many lines of context are wanted. The fault of an atom says of
/// which.
pub(super) fn check(expr: &Expr, context_lines: u32) -> Result<(), BadQuery> {
    let atoms = expr.atoms();
    let text = |atom: &&Expr| match atom {
        Expr::Pattern(pattern) => pattern.text.len(),
        Expr::Filter(filter) => filter.text.len(),
        _ => 0,
    };
    let bytes: usize = atoms.iter().map(text).sum();
    let depth = expr.depth();
    if bytes > QUERY_BYTES_MAX {
        let reason = format!("a query of {bytes} bytes, the most is {QUERY_BYTES_MAX}");
        return Err(BadQuery::new(reason));
    }
    if atoms.len() > ATOMS_MAX {
        return Err(too_many(atoms.len()));
    }
    if depth > DEPTH_MAX {
        return Err(too_deep(depth));
    }
    if context_lines > CONTEXT_LINES_MAX {
        let reason = format!("{context_lines} lines of context, the most is {CONTEXT_LINES_MAX}");
        return Err(BadQuery::new(reason));
    }
    let faults = atoms.into_iter().enumerate().map(|(index, atom)| {
        check_atom(atom).map_err(|bad| BadQuery {
            atom: Some(index),
            ..bad
        })
    });
    faults.collect()
}

pub(super) fn too_many(atoms: usize) -> BadQuery {
    let reason = format!("{atoms} patterns and filters, the most is {ATOMS_MAX}");
    BadQuery::new(reason).hint("alternatives can stand in one regular expression: /one|other/")
}

pub(super) fn too_deep(depth: usize) -> BadQuery {
    BadQuery::new(format!(
        "a query that nests {depth} deep, the most is {DEPTH_MAX}"
    ))
}

fn check_atom(atom: &Expr) -> Result<(), BadQuery> {
    match atom {
        Expr::Filter(filter) => filter::check(filter),
        Expr::Pattern(pattern) if pattern.text.is_empty() => Err(empty()),
        Expr::Pattern(pattern) if pattern.syntax == Syntax::Regexp => {
            check_syntax(&pattern.text, pattern.ignore_case)
        }
        _ => Ok(()),
    }
}

pub(super) fn empty() -> BadQuery {
    BadQuery::new("the query is empty").hint("type what a line should contain")
}

/// Parses a regular expression with the options that backends compile patterns with, for the
/// position and the reason of what is wrong.
pub(crate) fn check_syntax(text: &str, ignore_case: bool) -> Result<(), BadQuery> {
    let parsed = ParserBuilder::new()
        .unicode(true)
        .utf8(false)
        .multi_line(true)
        .crlf(true)
        .nest_limit(NESTING_MAX)
        .case_insensitive(ignore_case)
        .build()
        .parse(text);
    let (reason, span) = match &parsed {
        Ok(_) => return Ok(()),
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), error.span()),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), error.span()),
        Err(other) => return Err(BadQuery::new(other.to_string())),
    };
    Err(BadQuery::new(format!("not a regular expression: {reason}"))
        .at(span.start.offset)
        .hint("search for it as literal text, or escape the character with \\"))
}

/// Refuses an expression that finds something only by what is not there: nobody wants every file
/// without a word. The fault is at the first atom that is not wanted.
pub(super) fn check_positive(expr: &Expr) -> Result<(), BadQuery> {
    if is_positive(expr, false) {
        return Ok(());
    }
    let (reason, hint) = match expr {
        Expr::Any(_) => (
            "an alternative only says what is not wanted",
            "add to it what is to be found",
        ),
        _ => (
            "the query only says what is not wanted",
            "add what is to be found",
        ),
    };
    let mut signs = Vec::new();
    signs_of_atoms(expr, false, &mut signs);
    Err(BadQuery {
        atom: signs.iter().position(|&negated| negated),
        ..BadQuery::new(reason).hint(format!(
            "{hint}; what begins with a - is text in quotes: \"-x\""
        ))
    })
}

fn is_positive(expr: &Expr, negated: bool) -> bool {
    match (expr, negated) {
        (Expr::Pattern(_) | Expr::Filter(_), _) => !negated,
        (Expr::All(parts), false) | (Expr::Any(parts), true) => {
            parts.iter().any(|part| is_positive(part, negated))
        }
        (Expr::All(parts), true) | (Expr::Any(parts), false) => {
            parts.iter().all(|part| is_positive(part, negated))
        }
        (Expr::Not(inner), _) => is_positive(inner, !negated),
        (Expr::Line(inner), false) => is_positive(inner, false),
        (Expr::Line(_), true) => false,
    }
}

/// Whether each atom is negated, in order.
fn signs_of_atoms(expr: &Expr, negated: bool, signs: &mut Vec<bool>) {
    match expr {
        Expr::Pattern(_) | Expr::Filter(_) => signs.push(negated),
        Expr::All(parts) | Expr::Any(parts) => {
            let parts = parts.iter();
            parts.for_each(|part| signs_of_atoms(part, negated, signs));
        }
        Expr::Not(inner) => signs_of_atoms(inner, !negated, signs),
        Expr::Line(inner) => signs_of_atoms(inner, negated, signs),
    }
}
