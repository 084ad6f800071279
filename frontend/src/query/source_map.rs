//! Where the atoms of a query were typed, to locate the errors that backends report by atom.

use super::error::BadQuery;
use super::source_text::SourceText;
use schema::message::Expr;

/// The atoms of an expression with their sources. Equal atoms have equal errors, so the first one stands
/// for all, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceMap(Vec<AtomSource>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct AtomSource {
    atom: Expr,
    text: SourceText,
    /// The parameter, if the atom is not in the query itself.
    filter: Option<String>,
}

impl SourceMap {
    /// Adds an atom of the query.
    pub(super) fn add(&mut self, atom: Expr, text: SourceText) {
        let filter = None;
        self.0.push(AtomSource { atom, text, filter });
    }

    /// Adds a filter that was given as a parameter of its own.
    pub(super) fn add_parameter(&mut self, atom: Expr, text: SourceText, typed: &str) {
        let filter = Some(typed.to_owned());
        self.0.push(AtomSource { atom, text, filter });
    }

    /// Turns the error of an atom of `expr` into an error of the input.
    pub(super) fn locate(&self, expr: &Expr, bad: BadQuery) -> BadQuery {
        let atoms = expr.atoms();
        let atom = bad.atom.and_then(|index| atoms.get(index));
        let source = atom.and_then(|atom| self.0.iter().find(|source| source.atom == **atom));
        let Some(source) = source else { return bad };
        BadQuery {
            at: Some(source.text.at(bad.at.unwrap_or_default())),
            filter: source.filter.clone(),
            atom: None,
            ..bad
        }
    }
}
