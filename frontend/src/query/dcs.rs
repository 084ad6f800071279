//! The language of Debian Code Search.

use super::{BadQuery, Parsed};
use schema::message::Syntax;

/// Parses.
pub fn parse(_query: &str, _syntax: Syntax) -> Result<Parsed, BadQuery> {
    Err(BadQuery::new("not yet"))
}
