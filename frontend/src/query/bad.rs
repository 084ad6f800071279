//! What is wrong with a query, and what may have been meant otherwise.

/// Something in a query that may have been meant otherwise than it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where in the query, in bytes.
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
    /// Where in what was typed as the query, or as the filter, in bytes, when the fault has a place.
    pub at: Option<usize>,
    /// The filter that is at fault, as it was typed; `None`: the query is.
    pub filter: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do about it, when there is something to say.
    pub hint: Option<String>,
    /// Which of [`Expr::atoms`](schema::message::Expr::atoms) is refused, when `at` is an offset in
    /// its text; [`ParsedQuery::locate`](super::ParsedQuery::locate) makes a place in the query of it.
    pub atom: Option<usize>,
}

impl BadQuery {
    /// A reason alone.
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

    /// Adds what to write instead.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        BadQuery {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// A value that a field or an option does not have.
    pub(super) fn unknown(what: &str, expected: &str) -> Self {
        BadQuery::new(format!("{what} is not understood")).hint(format!("expected {expected}"))
    }
}
