//! Parses patterns.

use regex_syntax::hir::Hir;
use regex_syntax::{Error, ParserBuilder};

/// Nesting of a pattern, at most: ripgrep's limit.
pub(crate) const NESTING_MAX: u32 = 250;

/// Why a pattern cannot be planned or searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadPattern {
    /// Offset of the mistake in the pattern, in bytes, if known.
    pub at: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl BadPattern {
    /// Returns a mistake at an unknown offset.
    pub fn new(reason: impl Into<String>) -> BadPattern {
        BadPattern {
            at: None,
            reason: reason.into(),
        }
    }
}

/// Parses a regular expression.
pub(crate) fn parse(pattern: &str, ignore_case: bool) -> Result<Hir, BadPattern> {
    let parsed = ParserBuilder::new()
        .utf8(false)
        .multi_line(true)
        .crlf(true)
        .case_insensitive(ignore_case)
        .nest_limit(NESTING_MAX)
        .build()
        .parse(pattern);
    parsed.map_err(|error| {
        let (at, reason) = match error {
            Error::Parse(error) => (Some(error.span().start.offset), error.kind().to_string()),
            Error::Translate(error) => (Some(error.span().start.offset), error.kind().to_string()),
            other => (None, other.to_string()),
        };
        BadPattern { at, reason }
    })
}
