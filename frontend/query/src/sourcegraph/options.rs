//! Options of a query.

use crate::error::Notice;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PatternType {
    #[default]
    Keyword,
    /// Words side by side are one literal.
    Standard,
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
    #[default]
    Matches,
    Files,
    Directories,
    Repositories,
    Symbols,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) respects_case: bool,
    pub(super) count: Option<u64>,
    pub(super) timeout: Option<Duration>,
    pub(super) types: Vec<Type>,
    pub(super) show: Option<Show>,
    pub(super) is_text_only: bool,
    /// Bits of kinds of symbols; 0: all.
    pub(super) kinds: u32,
    pub(super) notices: Vec<Notice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    File,
    Path,
    Repository,
    Symbol,
}
