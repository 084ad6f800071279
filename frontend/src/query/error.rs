//! Errors in a query, and notices about ambiguous ones.

use schema::message::{ATOMS_MAX, DEPTH_MAX};

/// A part of a query that may have been meant differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Byte offset in the query.
    pub at: Option<usize>,
    /// How it was understood.
    pub reason: String,
    /// What to type for the other meaning.
    pub hint: Option<String>,
}

/// Why a query cannot be searched for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadQuery {
    /// Byte offset in the query, or in the filter, if the error has a position.
    pub at: Option<usize>,
    /// The filter with the error, as typed; `None`: the error is in the query.
    pub filter: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The index in [`Expr::atoms`](schema::message::Expr::atoms) of the atom with the error; `at` is
    /// then an offset in the atom's text. [`ParsedQuery::locate`](super::ParsedQuery::locate) turns it
    /// into a position in the query.
    pub atom: Option<usize>,
}

impl BadQuery {
    /// An error without a position and without a hint.
    pub fn new(reason: impl Into<String>) -> Self {
        BadQuery {
            at: None,
            filter: None,
            reason: reason.into(),
            hint: None,
            atom: None,
        }
    }

    pub(crate) fn at(self, at: usize) -> Self {
        BadQuery {
            at: Some(at),
            ..self
        }
    }

    /// Adds what to type instead.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        BadQuery {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// An invalid value of a key or a parameter.
    pub(super) fn invalid(value: &str, expected: &str) -> Self {
        BadQuery::new(format!("{value} is not valid")).hint(format!("expected {expected}"))
    }

    pub(super) fn too_long(what: &str, bytes: usize, bytes_max: usize) -> Self {
        BadQuery::new(format!(
            "{what} has {bytes} bytes, the limit is {bytes_max}"
        ))
    }
    pub(super) fn too_many(atoms: usize) -> Self {
        BadQuery::new(format!(
            "the query has {atoms} patterns and filters, the limit is {ATOMS_MAX}"
        ))
        .hint("put alternatives into one regular expression: /one|other/")
    }

    pub(super) fn too_deep(depth: usize) -> Self {
        BadQuery::new(format!(
            "the query is nested {depth} levels deep, the limit is {DEPTH_MAX}"
        ))
    }

    pub(super) fn empty() -> Self {
        BadQuery::new("the query is empty").hint("type what a line should contain")
    }
}
