//! Errors in a query, and notices about ambiguous ones.

use schema::message::{ATOMS_MAX, DEPTH_MAX};

/// Ambiguous part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Byte offset in the query.
    pub at: Option<usize>,
    pub reason: String,
    /// Text for the other reading.
    pub hint: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadQuery {
    /// Byte offset in the query or filter, if known.
    pub at: Option<usize>,
    /// Filter with the error, as typed; `None`: the query.
    pub filter: Option<String>,
    pub reason: String,
    pub hint: Option<String>,
    /// Index of the atom in [`Expr::atoms`](schema::message::Expr::atoms); `at` is then an offset
    /// in its text. [`ParsedQuery::locate`](super::ParsedQuery::locate) converts it.
    pub atom: Option<usize>,
}

impl BadQuery {
    pub fn new(reason: impl Into<String>) -> Self {
        BadQuery {
            reason: reason.into(),
            ..BadQuery::default()
        }
    }

    pub fn at(mut self, at: usize) -> Self {
        self.at = Some(at);
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
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

/// The choice that `value` names. The error begins with `key`, and lists all names.
pub(super) fn choose<T: Copy>(
    key: &str,
    value: &str,
    choices: &[(&str, T)],
) -> Result<T, BadQuery> {
    let chosen = choices.iter().find(|(name, _)| *name == value);
    chosen.map(|(_, choice)| *choice).ok_or_else(|| {
        let mut names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let last = names.pop().unwrap_or_default();
        let expected = format!("{} or {last}", names.join(", "));
        BadQuery::invalid(&format!("{key}{value}"), &expected)
    })
}

pub(super) const YES_OR_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];
