//! Keys before a colon, and whole-query options: `case:no`, `word:yes`, `exact:yes`, `type:path`,
//! `count:10`, `context:3`, `timeout:2s`.

use super::case::Case;
use super::error::{BadQuery, YES_OR_NO, choose};
use super::limits::{CONTEXT_LINES_MAX, LIMIT_MAX};
use crate::similar::similar;
use language::symbols::Class;
use schema::message::Field;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Filter(Field),
    /// A pattern in text, even if names are searched.
    Content,
    Line,
    /// Name of a definition.
    Symbol,
    /// Name in code that is not defined there.
    Uses,
    /// Class of the bytes of matches.
    In,
    /// Pattern in changed lines of these classes; 0: of all.
    Changed(u32),
    /// Name of the definition around a symbol.
    Parent,
    /// Applies to the whole query.
    Option(Setting),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Case,
    Word,
    Exact,
    Type,
    Count,
    Context,
    Timeout,
}

macro_rules! keys {
    ($($names:literal => $key:expr, $about:literal;)*) => {
        /// Names of each key, the canonical one first, and a description.
        const KEYS: &[(&str, Key, &str)] = &[$(($names, $key, $about)),*];
    };
}

keys! {
    "package pkg repo r" => Key::Filter(Field::Package), "packages by name";
    "path file f" => Key::Filter(Field::Path), "files by path";
    "name" => Key::Filter(Field::Name), "files by package and path together";
    "lang language filetype l" => Key::Filter(Field::Language), "files in a language";
    "ext" => Key::Filter(Field::Extension), "files with an extension";
    "kind" => Key::Filter(Field::Kind), "source, tests, documentation or vendored files; or functions, types, macros …";
    "sym symbol" => Key::Symbol, "definitions by name";
    "uses" => Key::Uses, "uses of a name in code";
    "in" => Key::In, "matches in code, comments or strings";
    "parent" => Key::Parent, "symbols of a class or module";
    "rev revision" => Key::Filter(Field::Revision), "files of a branch, tag or commit";
    "branch" => Key::Filter(Field::Branch), "files of a branch";
    "content c" => Key::Content, "text in the file, where names are searched";
    "line" => Key::Line, "several words on one line: line:(a b)";
    "added" => Key::Changed(1 << Class::Added as u32), "lines that a commit adds, with type:diff";
    "removed" => Key::Changed(1 << Class::Removed as u32), "lines that a commit removes, with type:diff";
    "changed" => Key::Changed(0), "lines that a commit adds or removes, with type:diff";
    "author" => Key::Filter(Field::Author), "commits by their author, with type:commit or type:diff";
    "committer" => Key::Filter(Field::Committer), "commits by their committer";
    "message" => Key::Filter(Field::Message), "commits by their message";
    "before" => Key::Filter(Field::Before), "commits before a date";
    "after" => Key::Filter(Field::After), "commits at or after a date";
    "case" => Key::Option(Setting::Case), "whether upper and lower case differ";
    "word" => Key::Option(Setting::Word), "whole words only";
    "exact" => Key::Option(Setting::Exact), "text as typed, without other forms of it";
    "type" => Key::Option(Setting::Type), "lines, names of files, symbols, commits or diffs";
    "count" => Key::Option(Setting::Count), "only the best matches";
    "context ctx" => Key::Option(Setting::Context), "lines around each match";
    "timeout" => Key::Option(Setting::Timeout), "how long to search";
}

/// Canonical names, with descriptions.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let first = |names: &'static str| names.split(' ').next().unwrap_or_default();
    KEYS.iter()
        .map(move |(names, _, about)| (first(names), *about))
}

pub fn names() -> Vec<(&'static str, Vec<&'static str>)> {
    let split = |(names, ..): &(&'static str, Key, &str)| {
        let mut names = names.split(' ');
        (names.next().unwrap_or_default(), names.collect())
    };
    KEYS.iter().map(split).collect()
}

pub(super) enum Prefix<'a> {
    Known(&'a str, Key),
    /// An unknown word before a colon.
    Unknown(&'a str),
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
    let is_it = |(names, ..): &&(&str, Key, &str)| names.split(' ').any(|known| known == name);
    match KEYS.iter().find(is_it) {
        Some(&(_, key, _)) if !term[name.len()..].starts_with("::") => Prefix::Known(name, key),
        _ => Prefix::Unknown(name),
    }
}

pub(super) fn near(name: &str) -> Option<&'static str> {
    let known = KEYS.iter().flat_map(|(names, ..)| names.split(' '));
    let long = known.filter(|known| known.len() > 2);
    similar(name.to_ascii_lowercase(), long).into_iter().next()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ResultKind {
    #[default]
    Lines,
    Names,
    Symbols,
}

impl ResultKind {
    pub(super) const CHOICES: [(&str, ResultKind); 3] = [
        ("file", ResultKind::Lines),
        ("path", ResultKind::Names),
        ("symbol", ResultKind::Symbols),
    ];
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) case: Option<Case>,
    pub(super) word: Option<bool>,
    pub(super) exact: Option<bool>,
    pub(super) kind: Option<ResultKind>,
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
        let key = format!("{key}:");
        let invalid = |expected: &str| BadQuery::invalid(&format!("{key}{value}"), expected);
        Ok(match setting {
            Setting::Case => {
                let case = choose(&key, value, &Case::CHOICES)?;
                self.case.replace(case).is_some()
            }
            Setting::Word => {
                let word = choose(&key, value, &YES_OR_NO)?;
                self.word.replace(word).is_some()
            }
            Setting::Exact => {
                let exact = choose(&key, value, &YES_OR_NO)?;
                self.exact.replace(exact).is_some()
            }
            Setting::Type => {
                let kind = choose(&key, value, &ResultKind::CHOICES)?;
                self.kind.replace(kind).is_some()
            }
            Setting::Count => {
                let expected = format!("a number from 1 to {LIMIT_MAX}, or all");
                let count = count(value).ok_or_else(|| invalid(&expected))?;
                self.count.replace(count).is_some()
            }
            Setting::Context => {
                let expected = format!("a number of lines from 0 to {CONTEXT_LINES_MAX}");
                let lines = value.parse::<u32>().ok();
                let lines = lines.filter(|&lines| lines <= CONTEXT_LINES_MAX);
                let lines = lines.ok_or_else(|| invalid(&expected))?;
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

/// 0: all.
fn count(value: &str) -> Option<u64> {
    if value == "all" {
        return Some(0);
    }
    let count = value.parse().ok();
    count.filter(|count: &u64| (1..=LIMIT_MAX).contains(count))
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
        for far in ["std", "http", "foo", "display", "select", "C"] {
            assert_eq!(near(far), None, "{far}");
        }
    }
}
