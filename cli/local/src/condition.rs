//! Condition on the files that can change the output of a search.

use crate::arguments::{Arguments, Binary, Case, Mode, Output, TextEncoding};
use crate::input::Input;
use index::plan::{BadPattern, DocumentQuery, plan, plan_multiline};
use regex_syntax::ParserBuilder;

/// Longest pattern that is planned.
const PATTERN_BYTES_MAX: usize = 16 << 10;

/// Pattern for the planner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) pattern: String,
    pub(crate) case: PlannedCase,
    pub(crate) multiline: bool,
    /// Least length of a match in a binary file, in bytes.
    pub(crate) match_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PlannedCase {
    #[default]
    Sensitive,
    Insensitive,
    /// One of both.
    Either,
}

impl Condition {
    /// `None` if every file can change the output.
    pub(crate) fn new(arguments: &Arguments, input: &Input) -> Option<Condition> {
        let is_narrowing = match arguments.mode {
            Mode::Search(Output::Lines) => !arguments.context.is_passthru,
            Mode::Search(Output::Count | Output::CountMatches) => !arguments.include_zero,
            Mode::Search(Output::FilesWithMatches) => true,
            // Files without a match are printed, or counted.
            Mode::Search(Output::FilesWithoutMatch | Output::Json) | Mode::Files | Mode::Types => {
                false
            }
        };
        let reads_bytes = matches!(arguments.encoding, TextEncoding::Auto)
            && arguments.pre.is_none()
            && !arguments.search_zip
            && !arguments.null_data
            && !arguments.no_unicode;
        let is_plain = !arguments.no_index
            && !arguments.invert_match
            && !arguments.stats
            && arguments.logging.is_none();
        if !is_narrowing || !reads_bytes || !is_plain || input.is_one_file {
            return None;
        }
        if !arguments.fixed_strings && input.patterns.iter().any(|each| has_byte_flags(each)) {
            return None;
        }
        let patterns = input
            .patterns
            .iter()
            .map(|each| match arguments.fixed_strings {
                true => regex_syntax::escape(each),
                false => format!("(?:{each})"),
            });
        let mut pattern = patterns.collect::<Vec<_>>().join("|");
        if arguments.multiline_dotall && arguments.multiline {
            pattern = format!("(?s:{pattern})");
        }
        let is_cut = matches!(arguments.binary, Binary::Auto);
        Some(Condition {
            match_bytes: if is_cut { shortest_match(&pattern) } else { 0 },
            pattern,
            case: match arguments.case {
                Case::Sensitive => PlannedCase::Sensitive,
                Case::Insensitive => PlannedCase::Insensitive,
                Case::Smart => PlannedCase::Either,
            },
            multiline: arguments.multiline,
        })
        .filter(|condition| condition.pattern.len() <= PATTERN_BYTES_MAX)
    }

    pub(crate) fn query(&self) -> Result<DocumentQuery, BadPattern> {
        if self.pattern.len() > PATTERN_BYTES_MAX {
            return Ok(DocumentQuery::ALL);
        }
        let planned = |ignore_case| {
            if self.multiline {
                plan_multiline(&self.pattern, ignore_case)
            } else {
                plan(&self.pattern, ignore_case).map(DocumentQuery::Block)
            }
        };
        Ok(match self.case {
            PlannedCase::Sensitive => planned(false)?,
            PlannedCase::Insensitive => planned(true)?,
            PlannedCase::Either => DocumentQuery::Or(vec![planned(false)?, planned(true)?]),
        })
    }
}

/// Least length of a match, in bytes, in any case.
fn shortest_match(pattern: &str) -> u64 {
    let mut parser = ParserBuilder::new();
    let parsed = parser
        .utf8(false)
        .case_insensitive(true)
        .build()
        .parse(pattern);
    let bytes = parsed
        .ok()
        .and_then(|parsed| parsed.properties().minimum_len());
    bytes.unwrap_or(0) as u64
}

/// Tests for flags that let a dot match single bytes: the planner's does not match `\r`.
fn has_byte_flags(pattern: &str) -> bool {
    pattern.split("(?").skip(1).any(|behind| {
        let flags = behind.split([':', ')', '<']).next().unwrap_or_default();
        flags.contains(['u', 'R', '-'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_has_a_least_length() {
        for (pattern, bytes) in [("abc|xy", 2), ("(?:ſk)", 2), ("a*", 0), ("é.", 3), ("(", 0)] {
            assert_eq!(shortest_match(pattern), bytes, "{pattern}");
        }
    }

    #[test]
    fn patterns_of_bytes_are_not_planned() {
        for pattern in ["(?-u:a.b)", "(?i-u)x", "(?R)a.b", "a(?s-u:.)"] {
            assert!(has_byte_flags(pattern), "{pattern}");
        }
        for pattern in [
            "a.b",
            "(?i)a",
            "(?:a|u-)",
            "(?P<u>a)",
            "(?<u-v>a)",
            "(?s:.)",
        ] {
            assert!(!has_byte_flags(pattern), "{pattern}");
        }
    }
}
