//! Options of a whole query: `case:no`, `word:yes`, `type:path`, `count:10`, `context:3`,
//! `timeout:2s`.

use super::case::Case;
use super::error::BadQuery;
use super::keys::Setting;
use super::limits::{CONTEXT_LINES_MAX, LIMIT_MAX};
use std::time::Duration;

/// The options that were typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) case: Option<Case>,
    pub(super) word: Option<bool>,
    /// Searches and finds names of documents.
    pub(super) names: Option<bool>,
    /// 0: all.
    pub(super) count: Option<u64>,
    pub(super) context_lines: Option<u32>,
    pub(super) timeout: Option<Duration>,
}

impl Options {
    /// Sets an option from key and value.
    pub(super) fn set(&mut self, setting: Setting, key: &str, value: &str) -> Result<(), BadQuery> {
        let typed = format!("{key}:{value}");
        let invalid = |expected: &str| BadQuery::invalid(&typed, expected);
        let again = match setting {
            Setting::Case => {
                let case = Case::parse(value).ok_or_else(|| invalid(Case::EXPECTED))?;
                self.case.replace(case).is_some()
            }
            Setting::Word => {
                let word = yes_or_no(value).ok_or_else(|| invalid("yes or no"))?;
                self.word.replace(word).is_some()
            }
            Setting::Type => {
                let names = match value {
                    "path" => true,
                    "file" => false,
                    _ => return Err(invalid("file (lines of files) or path (names of files)")),
                };
                self.names.replace(names).is_some()
            }
            Setting::Count => self.count.replace(count(value)?).is_some(),
            Setting::Context => {
                let lines = lines(value).ok_or_else(|| invalid(&lines_expected()))?;
                self.context_lines.replace(lines).is_some()
            }
            Setting::Timeout => {
                let time = time(value).ok_or_else(|| invalid(TIME_EXPECTED))?;
                self.timeout.replace(time).is_some()
            }
        };
        if again {
            return Err(BadQuery::new(format!("{key}: is given twice")).hint("remove one"));
        }
        Ok(())
    }
}

const TIME_EXPECTED: &str = "seconds, such as 2s or 0.5, or milliseconds, such as 500ms";

/// Parses seconds (`2`, `0.5`, `2s`) or milliseconds (`500ms`), above 0.
pub fn time(value: &str) -> Option<Duration> {
    let (number, unit) = match value.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (value.strip_suffix('s').unwrap_or(value), 1.0),
    };
    let seconds = number.parse().map_or(f64::NAN, |number: f64| number * unit);
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    (!time.is_zero()).then_some(time)
}

/// Parses `yes` or `no`.
pub(super) fn yes_or_no(value: &str) -> Option<bool> {
    match value {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn count(value: &str) -> Result<u64, BadQuery> {
    match value.parse() {
        _ if value == "all" => Ok(0),
        Ok(count) if (1..=LIMIT_MAX).contains(&count) => Ok(count),
        _ => {
            let expected = format!("a number from 1 to {LIMIT_MAX}, or all");
            Err(BadQuery::invalid(&format!("count:{value}"), &expected))
        }
    }
}

fn lines(value: &str) -> Option<u32> {
    let lines = value.parse().ok();
    lines.filter(|&lines| lines <= CONTEXT_LINES_MAX)
}

fn lines_expected() -> String {
    format!("a number of lines from 0 to {CONTEXT_LINES_MAX}")
}
