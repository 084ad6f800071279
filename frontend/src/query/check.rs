//! Checks an expression for what no backend can search.
//!
//! A backend refuses more: patterns that are too large once compiled, and unknown languages.

use super::error::BadQuery;
use super::filter;
use super::limits::{CONTEXT_LINES_MAX, QUERY_BYTES_MAX};
use super::regexp::check_syntax;
use schema::message::{ATOMS_MAX, DEPTH_MAX, Expr, Syntax};

/// Checks an expression and the number of context lines. The error of an atom has its index.
pub(super) fn check(expr: &Expr, context_lines: u32) -> Result<(), BadQuery> {
    let atoms = expr.atoms();
    let text_bytes = |atom: &&Expr| match atom {
        Expr::Pattern(pattern) => pattern.text.len(),
        Expr::Filter(filter) => filter.text.len(),
        _ => 0,
    };
    let bytes: usize = atoms.iter().map(text_bytes).sum();
    let depth = expr.depth();
    if bytes > QUERY_BYTES_MAX {
        return Err(BadQuery::too_long("the query", bytes, QUERY_BYTES_MAX));
    }
    if atoms.len() > ATOMS_MAX {
        return Err(too_many(atoms.len()));
    }
    if depth > DEPTH_MAX {
        return Err(too_deep(depth));
    }
    if context_lines > CONTEXT_LINES_MAX {
        let reason = format!("{context_lines} lines of context, the limit is {CONTEXT_LINES_MAX}");
        return Err(BadQuery::new(reason));
    }
    atoms.into_iter().enumerate().try_for_each(|(index, atom)| {
        check_atom(atom).map_err(|bad| BadQuery {
            atom: Some(index),
            ..bad
        })
    })
}

pub(super) fn too_many(atoms: usize) -> BadQuery {
    let reason = format!("the query has {atoms} patterns and filters, the limit is {ATOMS_MAX}");
    BadQuery::new(reason).hint("put alternatives into one regular expression: /one|other/")
}

pub(super) fn too_deep(depth: usize) -> BadQuery {
    BadQuery::new(format!(
        "the query is nested {depth} levels deep, the limit is {DEPTH_MAX}"
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

/// Refuses an expression that a document can satisfy by what it does not contain: nobody wants every
/// file without a word. The error is at the first negated atom.
pub(super) fn check_positive(expr: &Expr) -> Result<(), BadQuery> {
    if is_positive(expr, false) {
        return Ok(());
    }
    let (reason, hint) = match expr {
        Expr::Any(_) => (
            "an alternative has only negated terms",
            "add a term without - to it",
        ),
        _ => ("the query has only negated terms", "add a term without -"),
    };
    let mut signs = Vec::new();
    signs_of_atoms(expr, false, &mut signs);
    Err(BadQuery {
        atom: signs.iter().position(|&negated| negated),
        ..BadQuery::new(reason).hint(format!(
            "{hint}; to search for text that begins with -, quote it: \"-x\""
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

/// Collects whether each atom is negated, in order.
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
