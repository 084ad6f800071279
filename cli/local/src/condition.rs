//! Condition on the files that can change the output of a search.

use crate::arguments::{Arguments, Binary, Case, Mode, Output, TextEncoding};
use crate::haystack;
use crate::input::Input;
use grep::regex::RegexMatcher;
use grep::searcher::{Searcher, Sink, SinkMatch};
use ignore::Match;
use ignore::overrides::Override;
use ignore::types::Types;
use index::plan::{DocumentQuery, plan, plan_multiline};
use std::cell::RefCell;
use std::io;
use std::path::Path;

/// Longest pattern that is planned.
const PATTERN_BYTES_MAX: usize = 16 << 10;

pub(crate) struct Condition {
    pub(crate) query: DocumentQuery,
    /// Present if files are searched up to their first NUL.
    search: Option<Search>,
    pub(crate) follows_links: bool,
    globs: Override,
    types: Types,
}

pub(crate) struct Search {
    pub(crate) matcher: RegexMatcher,
    pub(crate) searcher: RefCell<Searcher>,
}

impl Condition {
    /// `None` if every file can change the output.
    pub(crate) fn new(
        arguments: &Arguments,
        input: &Input,
        search: Option<Search>,
    ) -> Option<Condition> {
        if arguments.no_index || arguments.logging.is_some() || input.is_one_file {
            return None;
        }
        let is_cut = matches!(arguments.binary, Binary::Auto);
        let condition = Condition {
            query: match arguments.mode {
                Mode::Files => DocumentQuery::ALL,
                _ => of_contents(arguments, input)?,
            },
            search: search.filter(|_| is_cut),
            follows_links: arguments.follow,
            globs: haystack::globs(arguments, input).ok()?,
            types: haystack::types(arguments).ok()?,
        };
        let is_narrowing = !condition.query.is_all() || condition.has_selection();
        is_narrowing.then_some(condition)
    }

    #[cfg(test)]
    pub(crate) fn of(query: DocumentQuery) -> Condition {
        Condition {
            query,
            search: None,
            follows_links: false,
            globs: Override::empty(),
            types: Types::empty(),
        }
    }

    /// Tests if a file with these bytes before its first NUL can match.
    pub(crate) fn has_match(&self, text: &[u8]) -> bool {
        self.search
            .as_ref()
            .is_none_or(|search| search.has_match(text))
    }

    /// Tests if globs or types of the command line name the files to search.
    fn has_selection(&self) -> bool {
        self.globs.num_whitelists() > 0 || !self.types.is_empty()
    }

    /// Tests if globs and types select a file, by its path in the walk.
    pub(crate) fn selects(&self, path: &Path) -> bool {
        match self.globs.matched(path, false) {
            Match::None => !self.types.matched(path, false).is_ignore(),
            matched => matched.is_whitelist(),
        }
    }
}

impl Search {
    fn has_match(&self, text: &[u8]) -> bool {
        let mut first = FirstMatch(false);
        let mut searcher = self.searcher.borrow_mut();
        let found = searcher.search_slice(&self.matcher, text, &mut first);
        first.0 || found.is_err()
    }
}

struct FirstMatch(bool);

impl Sink for FirstMatch {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 = true;
        Ok(false)
    }
}

/// Query for the files whose contents can change the output.
fn of_contents(arguments: &Arguments, input: &Input) -> Option<DocumentQuery> {
    let is_narrowing = match arguments.mode {
        Mode::Search(Output::Lines | Output::Json) => !arguments.context.is_passthru,
        Mode::Search(Output::Count | Output::CountMatches) => !arguments.include_zero,
        Mode::Search(Output::FilesWithMatches) => true,
        // Files without a match are printed.
        Mode::Search(Output::FilesWithoutMatch) | Mode::Files | Mode::Types => false,
    };
    let reads_bytes = matches!(arguments.encoding, TextEncoding::Auto)
        && arguments.pre.is_none()
        && !arguments.search_zip
        && !arguments.null_data
        && !arguments.no_unicode;
    if !is_narrowing || !reads_bytes || arguments.invert_match {
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
    if pattern.len() > PATTERN_BYTES_MAX {
        return None;
    }
    if arguments.multiline_dotall && arguments.multiline {
        pattern = format!("(?s:{pattern})");
    }
    let planned = |ignore_case| {
        if arguments.multiline {
            plan_multiline(&pattern, ignore_case)
        } else {
            plan(&pattern, ignore_case).map(DocumentQuery::Block)
        }
    };
    let query = match arguments.case {
        Case::Sensitive => planned(false),
        Case::Insensitive => planned(true),
        // One of both.
        Case::Smart => planned(false)
            .and_then(|sensitive| Ok(DocumentQuery::Or(vec![sensitive, planned(true)?]))),
    };
    query.ok()
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
    use grep::regex::RegexMatcherBuilder;

    #[test]
    fn a_text_is_searched_as_a_file() {
        let search = |pattern, text: &[u8]| {
            let mut builder = RegexMatcherBuilder::new();
            let matcher = builder.multi_line(true).line_terminator(Some(b'\n'));
            let search = Search {
                matcher: matcher.build(pattern).unwrap(),
                searcher: Searcher::new().into(),
            };
            search.has_match(text)
        };
        assert!(search("^b$", b"a\nb\nc"));
        assert!(!search("^b$", b"a\nbc"));
        assert!(search(r"b\z", b"a\nb"));
        assert!(!search("a\\sb", b"a\nb"));
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
