//! Finds plain text without a regular expression, which takes longer to compile than a small
//! search.
//!
//! With regard to case this is `memmem`, as in ripgrep. Otherwise it searches for the rarest three
//! letters in all cases (Teddy), or for the rarest letter. The latter is slower than ripgrep's
//! matcher in many blocks.
//!
//! **Invariant:** finds the same as ripgrep's matcher, including `ſ` for `s` and the Kelvin sign
//! for `k` without regard to case.

use aho_corasick::packed::{Config, Searcher};
use memchr::memmem::Finder;
use regex_syntax::hir::{Hir, HirKind, Look};
use std::ops::{ControlFlow, Range};

const BYTES_MAX: usize = 127;

/// Above any matching range: cases have up to three bytes.
pub(crate) const RANGE_BYTES_MAX: usize = 4 * BYTES_MAX;

/// Letters searched together, with 8 cases. Two give 8 times as many false hits, four take too
/// long.
const WINDOW: usize = 3;

/// Letters of source code by descending frequency, roughly.
const BY_FREQUENCY: &[u8] = b"etaoinrslcdupmfhgybvxwkqjz_";

#[derive(Debug)]
pub(crate) enum Literal {
    Exact(Box<Exact>),
    Folded(Folded),
}

#[derive(Debug)]
pub(crate) struct Exact {
    finder: Finder<'static>,
    /// Only ends of lines count.
    at_line_end: bool,
}

#[derive(Debug)]
pub(crate) struct Folded {
    /// In lower case.
    text: Vec<u8>,
    /// First character searched; it has no case outside of ASCII.
    anchor: usize,
    /// Finds the [`WINDOW`] characters from the anchor. `None`: the anchor alone.
    window: Option<Box<Searcher>>,
}

impl Literal {
    pub(crate) fn new(text: &str, ignore_case: bool) -> Option<Literal> {
        let has_line_end = text.contains(['\r', '\n']);
        if text.is_empty() || text.len() > BYTES_MAX || has_line_end {
            return None;
        }
        if !ignore_case {
            return Some(Literal::exact(text.as_bytes(), false));
        }
        Folded::new(text).map(Literal::Folded)
    }

    /// Plain text of a regular expression, possibly at a line end: `exit\(1\)`, `;$`. Setting up
    /// ripgrep's matcher takes longer than finding it.
    pub(crate) fn of(hir: &Hir) -> Option<Literal> {
        let (text, at_line_end) = match hir.kind() {
            HirKind::Concat(parts) => match &parts[..] {
                [text, end] if *end.kind() == HirKind::Look(Look::EndCRLF) => (text, true),
                _ => return None,
            },
            _ => (hir, false),
        };
        let HirKind::Literal(text) = text.kind() else {
            return None;
        };
        let has_line_end = text.0.iter().any(|byte| b"\r\n".contains(byte));
        (text.0.len() <= BYTES_MAX && !has_line_end).then(|| Literal::exact(&text.0, at_line_end))
    }

    fn exact(text: &[u8], at_line_end: bool) -> Literal {
        Literal::Exact(Box::new(Exact {
            finder: Finder::new(text).into_owned(),
            at_line_end,
        }))
    }

    /// Slower than ripgrep's matcher in many blocks.
    pub(crate) fn is_slow(&self) -> bool {
        matches!(self, Literal::Folded(folded) if folded.window.is_none())
    }

    pub(crate) fn find(&self, haystack: &[u8], at: usize) -> Option<Range<usize>> {
        match self {
            Literal::Exact(exact) => exact.find(haystack, at),
            Literal::Folded(folded) => folded.find(haystack, at),
        }
    }

    pub(crate) fn for_each(
        &self,
        haystack: &[u8],
        mut each: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) {
        if let Some(byte) = self.single_byte() {
            // Starting a search for each takes longer than finding them.
            let _ = memchr::memchr_iter(byte, haystack).try_for_each(|at| each(at..at + 1));
            return;
        }
        let mut at = 0;
        while let Some(found) = self.find(haystack, at) {
            at = found.end;
            if each(found).is_break() {
                return;
            }
        }
    }

    /// Text of one byte that may be anywhere.
    pub(crate) fn single_byte(&self) -> Option<u8> {
        match self {
            Literal::Exact(exact) if !exact.at_line_end => match exact.finder.needle() {
                [byte] => Some(*byte),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Exact {
    fn find(&self, haystack: &[u8], mut at: usize) -> Option<Range<usize>> {
        loop {
            let start = at + self.finder.find(haystack.get(at..)?)?;
            let end = start + self.finder.needle().len();
            if !self.at_line_end || matches!(haystack.get(end), None | Some(b'\r' | b'\n')) {
                return Some(start..end);
            }
            at = start + 1;
        }
    }
}

impl Folded {
    fn new(text: &str) -> Option<Folded> {
        if !text.is_ascii() {
            return None;
        }
        let text = text.to_ascii_lowercase().into_bytes();
        let windows = (0..text.len()).filter_map(|at| Some((at, text.get(at..at + WINDOW)?)));
        let sought = |part: &[u8]| part.iter().all(|&byte| other_case(byte).is_none());
        let rarity = |part: &[u8]| part.iter().map(|&byte| rarity(byte)).sum::<usize>();
        let windows = windows.filter(|(_, part)| sought(part));
        let rarest = windows.max_by_key(|(_, part)| rarity(part));
        let rarest = rarest.and_then(|(at, part)| Some((at, Box::new(in_all_cases(part)?))));
        let (anchor, window) = match rarest {
            Some((anchor, window)) => (anchor, Some(window)),
            None => {
                let candidates = (0..text.len()).filter(|&at| sought(&text[at..=at]));
                (candidates.max_by_key(|&at| rarity(&text[at..=at]))?, None)
            }
        };
        Some(Folded {
            text,
            anchor,
            window,
        })
    }

    fn find(&self, haystack: &[u8], at: usize) -> Option<Range<usize>> {
        let mut from = at;
        loop {
            let anchor = from + self.find_anchor(haystack.get(from..)?)?;
            if let Some(start) = self.start(&haystack[at..anchor])
                && let Some(bytes) = self.end(&haystack[anchor..])
            {
                return Some(at + start..anchor + bytes);
            }
            from = anchor + 1;
        }
    }

    fn find_anchor(&self, haystack: &[u8]) -> Option<usize> {
        if let Some(window) = &self.window {
            return Some(window.find(haystack)?.start());
        }
        let lower = self.text[self.anchor];
        memchr::memchr2(lower, lower.to_ascii_uppercase(), haystack)
    }

    /// Start of the part before the anchor, if `before` ends with it.
    fn start(&self, before: &[u8]) -> Option<usize> {
        let mut left = before;
        for &byte in self.text[..self.anchor].iter().rev() {
            left = match left.split_last() {
                Some((last, rest)) if last.eq_ignore_ascii_case(&byte) => rest,
                _ => left.strip_suffix(other_case(byte)?)?,
            };
        }
        Some(left.len())
    }

    /// Length of the part from the anchor, if `behind` begins with it.
    fn end(&self, behind: &[u8]) -> Option<usize> {
        let mut right = behind;
        for &byte in &self.text[self.anchor..] {
            right = match right.split_first() {
                Some((first, rest)) if first.eq_ignore_ascii_case(&byte) => rest,
                _ => right.strip_prefix(other_case(byte)?)?,
            };
        }
        Some(behind.len() - right.len())
    }
}

fn rarity(byte: u8) -> usize {
    let rank = BY_FREQUENCY.iter().position(|&it| it == byte);
    rank.unwrap_or(BY_FREQUENCY.len())
}

/// `None` if the processor lacks the instructions.
fn in_all_cases(text: &[u8]) -> Option<Searcher> {
    let mut cases = vec![Vec::new()];
    for &lower in text {
        let upper = lower.to_ascii_uppercase();
        let letters = [Some(lower), (upper != lower).then_some(upper)];
        let longer = letters.into_iter().flatten().flat_map(|letter| {
            let cases = cases.iter();
            cases.map(move |case: &Vec<u8>| [&case[..], &[letter]].concat())
        });
        cases = longer.collect();
    }
    let mut builder = Config::new().builder();
    builder.extend(&cases);
    builder.build()
}

/// Case of a letter outside of ASCII.
fn other_case(byte: u8) -> Option<&'static [u8]> {
    match byte {
        b'k' => Some("\u{212a}".as_bytes()),
        b's' => Some("\u{17f}".as_bytes()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::pattern::{self, Recipe, infallible};
    use grep_matcher::Matcher;
    use grep_regex::RegexMatcher;
    use proptest::prelude::*;
    use schema::message::{Pattern, Syntax};

    #[test]
    fn texts_that_need_a_regular_expression_are_refused() {
        for text in ["", "a\nb", "a\r", &"x".repeat(BYTES_MAX + 1)] {
            assert!(Literal::new(text, false).is_none(), "{text:?}");
        }
        assert!(Literal::new("é", true).is_none(), "not ASCII");
        assert!(
            Literal::new("ksSK", true).is_none(),
            "no letter to look for"
        );
        assert!(Literal::new("é", false).is_some());
    }

    fn of(text: &str, ignore_case: bool) -> (Pattern, Option<Literal>) {
        let pattern = Pattern {
            text: text.to_owned(),
            syntax: Syntax::Regexp,
            ignore_case,
            ..Pattern::default()
        };
        let literal = Literal::of(&Recipe::new(&[&pattern], false).hir());
        (pattern, literal)
    }

    #[test]
    fn regular_expressions_that_are_texts_are_recognised() {
        for text in ["e", "return", ";$", "a\\.b$", "(?:foo)", "exit\\("] {
            assert!(of(text, false).1.is_some(), "{text}");
        }
        for text in [
            "a|b", "^a", "a+", "[ab]", "$", "\\bfoo", "a$b", "(?i)a", "a\\z", "a(",
        ] {
            assert!(of(text, false).1.is_none(), "{text}");
        }
        assert!(of("a", true).1.is_none());
        assert!(of("_;", true).1.is_some(), "no letters");
    }

    const PIECES: &[&str] = &[
        "a", "A", "k", "K", "s", "S", "\u{17f}", "\u{212a}", "_", "é", "É", ".", "\n", " ", "ks",
        "aS",
    ];

    fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(PIECES), pieces).prop_map(|it| it.concat())
    }

    fn check_all(literal: &Literal, regex: &RegexMatcher, haystack: &[u8]) {
        let mut expected = Vec::new();
        infallible(regex.find_iter(haystack, |found| {
            expected.push(found.start()..found.end());
            true
        }));
        for most in [1, 2, usize::MAX] {
            let mut ranges = Vec::new();
            literal.for_each(haystack, |range| {
                ranges.push(range);
                if ranges.len() < most {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
            assert_eq!(ranges, expected[..expected.len().min(most)]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn finds_ends_of_lines_where_the_regular_expression_does(
            expression in "[ab;]{1,3}[$]?",
            haystack in "[ab;\r\n]{0,40}",
        ) {
            let (pattern, literal) = of(&expression, false);
            let literal = literal.expect("it is a text");
            let regex = pattern::compile(&pattern, 1).unwrap();
            check_all(&literal, &regex, haystack.as_bytes());
            for at in 0..=haystack.len() {
                let expected = infallible(regex.find_at(haystack.as_bytes(), at));
                let expected = expected.map(|found| found.start()..found.end());
                prop_assert_eq!(literal.find(haystack.as_bytes(), at), expected, "at {}", at);
            }
        }

        #[test]
        fn finds_what_the_regular_expression_finds(
            needle in text(1..5),
            mut haystack in text(0..40).prop_map(String::into_bytes),
            broken in prop::collection::vec((0..60usize, any::<u8>()), 0..3),
            ignore_case in any::<bool>(),
        ) {
            for (at, byte) in broken {
                haystack.insert(at.min(haystack.len()), byte);
            }
            let Some(literal) = Literal::new(&needle, ignore_case) else {
                return Ok(());
            };
            let pattern = Pattern {
                text: needle,
                syntax: Syntax::Literal,
                ignore_case,
                ..Pattern::default()
            };
            let regex = pattern::compile(&pattern, 1).unwrap();
            check_all(&literal, &regex, &haystack);
            for at in 0..=haystack.len() {
                let expected = infallible(regex.find_at(&haystack, at));
                let expected = expected.map(|found| found.start()..found.end());
                prop_assert_eq!(literal.find(&haystack, at), expected, "at {}", at);
            }
        }
    }
}
