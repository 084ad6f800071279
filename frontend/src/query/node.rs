//! What was typed, as a tree, before the options are known that hold for all of it; and the
//! expression that it means then.

use super::SourceText;
use super::case::Case;
use super::lex::Flags;
use super::place::Places;
use schema::message::{Expr, Field, Filter, Pattern, Reading, Syntax};

/// A part of a query.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Pattern(Term),
    Filter(Filter, SourceText),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Line(Box<Node>),
}

/// A pattern as it was typed.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) text: SourceText,
    pub(super) syntax: Syntax,
    pub(super) flags: Flags,
    /// It is about the text of documents, even where names are searched.
    pub(super) in_text: bool,
}

/// What patterns are like that do not say otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defaults {
    pub(super) case: Case,
    pub(super) word: bool,
    /// They are about names.
    pub(super) names: bool,
}

impl Node {
    /// The expression, and where its atoms were typed.
    pub(super) fn into_expr(self, defaults: Defaults, places: &mut Places) -> Expr {
        let list = |parts: Vec<Node>, places: &mut Places| -> Vec<Expr> {
            let parts = parts.into_iter();
            parts.map(|part| part.into_expr(defaults, places)).collect()
        };
        match self {
            Node::Pattern(term) => {
                let pattern = Expr::Pattern(term.pattern(defaults));
                places.add(pattern.clone(), term.text);
                pattern
            }
            Node::Filter(filter, text) => {
                let filter = Expr::Filter(filter);
                places.add(filter.clone(), text);
                filter
            }
            Node::All(parts) => joined(list(parts, places)),
            Node::Any(parts) => Expr::any(list(parts, places)),
            Node::Not(inner) => inner.into_expr(defaults, places).negated(),
            Node::Line(inner) => {
                let in_text = Defaults {
                    names: false,
                    ..defaults
                };
                Expr::Line(Box::new(inner.into_expr(in_text, places)))
            }
        }
    }
}

impl Term {
    fn pattern(&self, defaults: Defaults) -> Pattern {
        let text = self.text.as_str();
        let smart = defaults.case.ignores(text, self.syntax);
        Pattern {
            text: text.to_owned(),
            syntax: self.syntax,
            ignore_case: self.flags.ignore_case.unwrap_or(smart),
            word: self.flags.word || defaults.word,
            in_path: defaults.names && !self.in_text,
        }
    }
}

/// All of these; those filters of which a document can satisfy but one are alternatives.
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
    let is_one = |part: &Expr| {
        matches!(part, Expr::Filter(filter)
            if filter.field == field && filter.reading == Reading::Exact)
    };
    let first = parts.iter().position(is_one);
    let (mut found, mut rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_one);
    found.sort_by_cached_key(super::order);
    found.dedup();
    if let Some(first) = first {
        rest.insert(first, Expr::any(found));
    }
    rest
}
