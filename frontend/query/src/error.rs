//! Errors in a query, and notices about ambiguous ones.

use schema::message::{ATOMS_MAX, DEPTH_MAX};

/// Ambiguous part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Byte offset in the query.
    pub at: Option<usize>,
    /// Chosen reading.
    pub reason: String,
    /// Text for the other reading.
    pub hint: Option<String>,
}

/// Error in a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadQuery {
    /// Byte offset in the query or filter, if known.
    pub at: Option<usize>,
    /// Filter with the error, as typed; `None`: the query.
    pub filter: Option<String>,
    /// Description.
    pub reason: String,
    /// Remedy.
    pub hint: Option<String>,
    /// Index of the atom in [`Expr::atoms`](schema::message::Expr::atoms); `at` is then an offset
    /// in its text. [`ParsedQuery::locate`](super::ParsedQuery::locate) converts it.
    pub atom: Option<usize>,
}

impl BadQuery {
    /// Error without position and hint.
    pub fn new(reason: impl Into<String>) -> Self {
        BadQuery {
            at: None,
            filter: None,
            reason: reason.into(),
            hint: None,
            atom: None,
        }
    }

    /// Adds a position.
    pub fn at(self, at: usize) -> Self {
        BadQuery {
            at: Some(at),
            ..self
        }
    }

    /// Adds a remedy.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        BadQuery {
            hint: Some(hint.into()),
            ..self
        }
    }

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
