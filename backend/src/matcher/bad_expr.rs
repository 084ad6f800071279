//! Error of an expression, with its faulty part.

use index::filter::UnknownLanguage;
use index::plan::BadPattern;
use schema::message::{Failure, FailureKind};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadExpr {
    /// Index in [`Expr::atoms`](schema::message::Expr::atoms).
    pub atom: usize,
    /// Offset in its text, in bytes, if known.
    pub at: Option<usize>,
    pub reason: String,
    /// Advice, or empty.
    pub hint: String,
}

impl BadExpr {
    pub(crate) fn new(atom: usize, bad: BadPattern) -> BadExpr {
        BadExpr {
            atom,
            at: bad.at,
            reason: bad.reason,
            hint: String::new(),
        }
    }

    pub(crate) fn filter(atom: usize, field: &str, bad: BadPattern) -> BadExpr {
        let reason = format!("the filter by {field}: {}", bad.reason);
        BadExpr::new(atom, BadPattern { reason, ..bad })
    }

    pub(crate) fn language(atom: usize, unknown: &UnknownLanguage) -> BadExpr {
        BadExpr {
            hint: match unknown.similar {
                Some(similar) => format!("did you mean {similar}?"),
                None => "use GitHub's names of languages, such as C, C++ or Python".to_owned(),
            },
            ..BadExpr::new(atom, BadPattern::new(unknown.to_string()))
        }
    }

    pub(crate) fn after(self, atoms: usize) -> BadExpr {
        BadExpr {
            atom: atoms + self.atom,
            ..self
        }
    }
}

impl From<BadExpr> for Failure {
    fn from(bad: BadExpr) -> Failure {
        Failure {
            atom: u32::try_from(bad.atom).ok(),
            offset: bad.at.and_then(|at| u32::try_from(at).ok()),
            hint: bad.hint,
            ..Failure::new(FailureKind::BadQuery, bad.reason)
        }
    }
}
