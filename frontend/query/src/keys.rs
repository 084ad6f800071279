//! Keys before a colon, and whole-query options: `case:no`, `word:yes`, `type:path`, `count:10`,
//! `context:3`, `timeout:2s`.

use super::case::Case;
use super::error::BadQuery;
use super::limits::{CONTEXT_LINES_MAX, LIMIT_MAX};
use crate::similar::similar;
use schema::message::Field;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Restricts the documents.
    Filter(Field),
    /// A pattern in text, even if names are searched.
    Content,
    /// Patterns on one line.
    Line,
    /// Applies to the whole query.
    Option(Setting),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Case,
    Word,
    Type,
    Count,
    Context,
    Timeout,
}

/// All keys; the first name is canonical.
const KEYS: &[(&str, Key)] = &[
    ("package", Key::Filter(Field::Package)),
    ("pkg", Key::Filter(Field::Package)),
    ("repo", Key::Filter(Field::Package)),
    ("r", Key::Filter(Field::Package)),
    ("path", Key::Filter(Field::Path)),
    ("file", Key::Filter(Field::Path)),
    ("f", Key::Filter(Field::Path)),
    ("name", Key::Filter(Field::Name)),
    ("lang", Key::Filter(Field::Language)),
    ("language", Key::Filter(Field::Language)),
    ("filetype", Key::Filter(Field::Language)),
    ("l", Key::Filter(Field::Language)),
    ("ext", Key::Filter(Field::Extension)),
    ("kind", Key::Filter(Field::Kind)),
    ("rev", Key::Filter(Field::Revision)),
    ("revision", Key::Filter(Field::Revision)),
    ("branch", Key::Filter(Field::Branch)),
    ("content", Key::Content),
    ("c", Key::Content),
    ("line", Key::Line),
    ("case", Key::Option(Setting::Case)),
    ("word", Key::Option(Setting::Word)),
    ("type", Key::Option(Setting::Type)),
    ("count", Key::Option(Setting::Count)),
    ("context", Key::Option(Setting::Context)),
    ("ctx", Key::Option(Setting::Context)),
    ("timeout", Key::Option(Setting::Timeout)),
];

pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_main = |at: usize| KEYS[..at].iter().all(|(_, key)| *key != KEYS[at].1);
    let main = (0..KEYS.len()).filter(move |&at| is_main(at));
    main.map(|at| (KEYS[at].0, about(KEYS[at].1)))
}

fn about(key: Key) -> &'static str {
    match key {
        Key::Filter(field) => match field {
            Field::Package => "packages by name",
            Field::Path => "files by path",
            Field::Name => "files by package and path together",
            Field::Language => "files in a language",
            Field::Extension => "files with an extension",
            Field::Kind => "source, tests, documentation or vendored files",
            Field::Revision => "files of a branch, tag or commit",
            Field::Branch => "files of a branch",
        },
        Key::Content => "text in the file, where names are searched",
        Key::Line => "several words on one line: line:(a b)",
        Key::Option(setting) => match setting {
            Setting::Case => "whether upper and lower case differ",
            Setting::Word => "whole words only",
            Setting::Type => "lines of files, or names of files",
            Setting::Count => "only the best matches",
            Setting::Context => "lines around each match",
            Setting::Timeout => "how long to search",
        },
    }
}

/// Keys by canonical name, with their aliases.
pub fn names() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut last = None;
    for &(name, key) in KEYS {
        match names.last_mut() {
            Some((_, others)) if last == Some(key) => others.push(name),
            _ => names.push((name, Vec::new())),
        }
        last = Some(key);
    }
    names
}

pub(super) enum Prefix<'a> {
    Known(&'a str, Key),
    /// An unknown word before a colon.
    Unknown(&'a str),
    /// Neither.
    None,
}

/// Key at the start of a term. A word before `::` is a C++, Rust or Perl name.
pub(super) fn prefix(term: &str) -> Prefix<'_> {
    let is_inner = |letter: char| letter.is_ascii_alphanumeric() || "_.+-".contains(letter);
    let end = term.find(|letter| !is_inner(letter));
    let Some(name) = end.map(|end| &term[..end]) else {
        return Prefix::None;
    };
    let is_key = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    if !is_key || !term[name.len()..].starts_with(':') {
        return Prefix::None;
    }
    let known = KEYS.iter().find(|(known, _)| *known == name);
    match known {
        Some(&(known, key)) if !term[name.len()..].starts_with("::") => Prefix::Known(known, key),
        _ => Prefix::Unknown(name),
    }
}

pub(super) fn near(name: &str) -> Option<&'static str> {
    let long = KEYS.iter().map(|(known, _)| *known);
    let long = long.filter(|known| known.len() > 2);
    similar(name.to_ascii_lowercase(), long).into_iter().next()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) case: Option<Case>,
    pub(super) word: Option<bool>,
    pub(super) names: Option<bool>,
    /// 0: all.
    pub(super) count: Option<u64>,
    pub(super) context_lines: Option<u32>,
    pub(super) timeout: Option<Duration>,
}

impl Options {
    /// Sets an option. Returns true if it was set before.
    pub(super) fn set(
        &mut self,
        setting: Setting,
        key: &str,
        value: &str,
    ) -> Result<bool, BadQuery> {
        let typed = format!("{key}:{value}");
        let invalid = |expected: &str| BadQuery::invalid(&typed, expected);
        Ok(match setting {
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
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_keys_only_for_near_misses() {
        assert_eq!(near("Path"), Some("path"));
        assert_eq!(near("pakcage"), Some("package"));
        assert_eq!(near("langauge"), Some("language"));
        assert_eq!(near("pth"), Some("path"));
        for far in ["std", "http", "foo", "display", "sym", "select", "C"] {
            assert_eq!(near(far), None, "{far}");
        }
    }
}
