//! Where the patterns and filters of a query were typed: a backend says of an atom what is wrong
//! with it, and whoever typed it wants to see where.

use super::{BadQuery, SourceText};
use schema::message::Expr;

/// The atoms of an expression with what they were typed as. Equal atoms have one fault, so the first
/// of them stands for all, in whatever order the expression has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places(Vec<Place>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    atom: Expr,
    text: SourceText,
    /// The parameter, when it is not in the query.
    filter: Option<String>,
}

impl Places {
    /// An atom that was typed in the query.
    pub(super) fn add(&mut self, atom: Expr, text: SourceText) {
        self.0.push(Place {
            atom,
            text,
            filter: None,
        });
    }

    /// A filter that is a parameter of its own.
    pub(super) fn add_parameter(&mut self, atom: Expr, text: SourceText, typed: &str) {
        self.0.push(Place {
            atom,
            text,
            filter: Some(typed.to_owned()),
        });
    }

    /// The fault of an atom of `expr` as one of what was typed.
    pub(super) fn locate(&self, expr: &Expr, bad: BadQuery) -> BadQuery {
        let atoms = expr.atoms();
        let atom = bad.atom.and_then(|index| atoms.get(index));
        let Some(place) = atom.and_then(|atom| self.0.iter().find(|place| place.atom == **atom))
        else {
            return bad;
        };
        BadQuery {
            at: Some(place.text.at(bad.at.unwrap_or_default())),
            filter: place.filter.clone(),
            atom: None,
            ..bad
        }
    }
}
