//! The syntax of regular expressions.

use super::error::BadQuery;
use super::limits::NESTING_MAX;
use regex_syntax::ParserBuilder;

/// Parses a regular expression with the options that backends use. An error has the position.
pub(super) fn check_syntax(text: &str, ignore_case: bool) -> Result<(), BadQuery> {
    let parsed = ParserBuilder::new()
        .unicode(true)
        .utf8(false)
        .multi_line(true)
        .crlf(true)
        .nest_limit(NESTING_MAX)
        .case_insensitive(ignore_case)
        .build()
        .parse(text);
    let (reason, span) = match &parsed {
        Ok(_) => return Ok(()),
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), error.span()),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), error.span()),
        Err(other) => return Err(BadQuery::new(other.to_string())),
    };
    Err(
        BadQuery::new(format!("invalid regular expression: {reason}"))
            .at(span.start.offset)
            .hint("search for it as literal text, or escape the character with \\"),
    )
}
