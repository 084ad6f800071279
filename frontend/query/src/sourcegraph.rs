//! Query language of Sourcegraph, for its clients and links.
//!
//! Words, `AND`, `OR`, `NOT`, parentheses and `field:value`, in the four pattern types. A pattern
//! matches a text or its path, in any case. Filters around alternatives apply to all of them.
//!
//! Unlike there, words of a type without parentheses never make the query invalid, and a predicate
//! of repositories needs a query for repositories.

mod field;
mod hoist;
mod lower;
mod names;
mod parser;
mod predicate;
mod scan;

use super::error::{BadQuery, Notice};
use super::input::{ParsedQuery, check_length};
use lower::Lowering;
pub use names::NameFilter;
use std::time::Duration;

/// Reading of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PatternType {
    /// Each word is a literal.
    #[default]
    Keyword,
    /// Words side by side are one literal.
    Standard,
    /// Like `Standard`, without `/regexps/`.
    Literal,
    /// Regular expressions; side by side, in this order on a line.
    Regexp,
}

impl PatternType {
    pub fn named(name: &str) -> Option<PatternType> {
        Some(match &name.to_ascii_lowercase()[..] {
            "keyword" | "newstandardrc1" | "codycontext" => PatternType::Keyword,
            "standard" | "lucky" => PatternType::Standard,
            "literal" => PatternType::Literal,
            "regexp" | "regex" => PatternType::Regexp,
            _ => return None,
        })
    }

    /// Default of a version of the API.
    pub fn of_version(version: &str) -> Option<PatternType> {
        Some(match version {
            "V1" => PatternType::Regexp,
            "V2" => PatternType::Standard,
            "V3" => PatternType::Keyword,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Lines, or paths.
    #[default]
    Matches,
    Files,
    Directories,
    Repositories,
    Symbols,
}

/// Parsed query, and its options for the answer.
#[derive(Clone, Debug)]
pub struct Search {
    pub parsed: ParsedQuery,
    pub show: Show,
    /// Number of matches; 0: all.
    pub count: Option<u64>,
    /// Condition on names of repositories, if nothing else is searched.
    pub names: Option<NameFilter>,
}

/// Parses a query, in which `patterntype:` overrides the type.
pub fn parse(query: &str, default: PatternType) -> Result<Search, BadQuery> {
    check_length(query)?;
    let pattern_type = field::pattern_type(query)?.unwrap_or(default);
    let (node, options) = parser::parse(query, pattern_type)?;
    Lowering::new(options).search(node)
}

/// Options anywhere in a query.
#[derive(Clone, Debug, Default)]
struct Options {
    respects_case: bool,
    count: Option<u64>,
    timeout: Option<Duration>,
    types: Vec<Type>,
    show: Option<Show>,
    is_text_only: bool,
    /// Bits of kinds of symbols; 0: all.
    kinds: u32,
    /// Offset of a predicate of repositories.
    predicate: Option<usize>,
    notices: Vec<Notice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    File,
    Path,
    Repository,
    Symbol,
}
