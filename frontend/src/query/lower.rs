//! Lowers the syntax tree to an expression: applies options and defaults, joins alternatives.

use super::ast::{Node, Term};
use super::case::Case;
use super::checked::filter_order;
use super::source_map::SourceMap;
use schema::message::{Expr, Field, Pattern, Reading};

/// What holds for patterns without flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defaults {
    pub(super) case: Case,
    pub(super) word: bool,
    /// Patterns search names of documents.
    pub(super) names: bool,
}

/// Lowers a node, and adds its atoms to `sources`.
pub(super) fn lower(node: Node, defaults: Defaults, sources: &mut SourceMap) -> Expr {
    let list = |nodes: Vec<Node>, sources: &mut SourceMap| -> Vec<Expr> {
        let nodes = nodes.into_iter();
        nodes.map(|node| lower(node, defaults, sources)).collect()
    };
    match node {
        Node::Pattern(term) => {
            let pattern = Expr::Pattern(pattern(&term, defaults));
            sources.add(pattern.clone(), term.text);
            pattern
        }
        Node::Filter(filter, text) => {
            let filter = Expr::Filter(filter);
            sources.add(filter.clone(), text);
            filter
        }
        Node::All(nodes) => joined(list(nodes, sources)),
        Node::Any(nodes) => Expr::any(list(nodes, sources)),
        Node::Not(inner) => lower(*inner, defaults, sources).negated(),
        Node::Line(inner) => {
            let in_text = Defaults {
                names: false,
                ..defaults
            };
            Expr::Line(Box::new(lower(*inner, in_text, sources)))
        }
    }
}

fn pattern(term: &Term, defaults: Defaults) -> Pattern {
    let text = term.text.as_str();
    let smart = defaults.case.ignores(text, term.syntax);
    Pattern {
        text: text.to_owned(),
        syntax: term.syntax,
        ignore_case: term.flags.ignore_case.unwrap_or(smart),
        word: term.flags.word || defaults.word,
        in_path: defaults.names && !term.in_text,
    }
}

/// Joins parts by AND. Exact filters of a field that has one value in each document are joined by OR.
pub(super) fn joined(parts: Vec<Expr>) -> Expr {
    let mut parts = match Expr::all(parts) {
        Expr::All(parts) => parts,
        other => return other,
    };
    for field in [
        Field::Package,
        Field::Path,
        Field::Language,
        Field::Extension,
    ] {
        parts = with_alternatives(parts, field);
    }
    Expr::all(parts)
}

fn with_alternatives(parts: Vec<Expr>, field: Field) -> Vec<Expr> {
    let is_exact = |part: &Expr| {
        matches!(part, Expr::Filter(filter)
            if filter.field == field && filter.reading == Reading::Exact)
    };
    let first = parts.iter().position(is_exact);
    let (mut found, mut rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_exact);
    found.sort_by_cached_key(filter_order);
    found.dedup();
    if let Some(first) = first {
        rest.insert(first, Expr::any(found));
    }
    rest
}
