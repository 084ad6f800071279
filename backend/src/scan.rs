//! Finds the lines of a text that match: ripgrep's loop over a buffer, for a run of blocks.
//!
//! The matcher is asked for the next place that may match, which costs what a scan for the
//! pattern's literals costs; only the line around it is looked at closely.
//! **Invariant:** a line is judged by itself: what is found does not depend on which lines stand
//! around it in the text.

use crate::line_matcher::LineMatcher;
use grep_matcher::{LineMatchKind, Matcher, NoError};
use grep_regex::RegexMatcher;
use std::ops::{ControlFlow, Range};

/// Ranges of a line that are reported; the others are not. 40 would fill a screen.
pub const RANGES_MAX: usize = 128;

/// Bytes that may be looked at to find the ranges of a line, in the worst case. To find the next
/// range may cost a look at the rest of the line: `.*[^A-Z]|[A-Z]` on 80 kB of capitals does that
/// 80,000 times (6 s). The line is found whatever its ranges cost; those beyond are not reported. In
/// lines of up to 8 MiB, [`RANGES_MAX`] is the lower bound.
const RANGES_STEPS_MAX: usize = 1 << 30;

/// Calls `found` with every matching line of `text`, which is whole lines: where in the text it
/// is, line end included. Ends early when `found` breaks.
pub fn matching_lines(
    matcher: &LineMatcher,
    text: &[u8],
    mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut at = 0;
    while let Some(line) = next_line(matcher, text, at) {
        at = line.end;
        found(line)?;
    }
    ControlFlow::Continue(())
}

/// The first matching line of `text` that begins at `at`, where a line does, or behind it.
pub(crate) fn next_line(matcher: &LineMatcher, text: &[u8], mut at: usize) -> Option<Range<usize>> {
    loop {
        let line = match matcher.finder.line_terminator() {
            Some(_) => fast(&matcher.finder, text, at),
            // The pattern looks at the text's ends (`\A`, `\z`), which are to be the line's.
            None => line_by_line(&matcher.finder, text, at),
        }?;
        if matcher.is_plain() || matcher.confirms(without_end(&text[line.clone()])) {
            return Some(line);
        }
        at = line.end;
    }
}

fn fast(matcher: &RegexMatcher, text: &[u8], mut at: usize) -> Option<Range<usize>> {
    while at < text.len() {
        let (place, confirmed) = match infallible(matcher.find_candidate_line(&text[at..])) {
            None => break,
            Some(LineMatchKind::Confirmed(place)) => (at + place, true),
            Some(LineMatchKind::Candidate(place)) => (at + place, false),
        };
        let line = line_around(text, place);
        if line.is_empty() {
            // An empty match behind the last line's end.
            break;
        }
        at = line.end;
        if confirmed || is_match(matcher, without_end(&text[line.clone()])) {
            return Some(line);
        }
    }
    None
}

fn line_by_line(matcher: &RegexMatcher, text: &[u8], mut at: usize) -> Option<Range<usize>> {
    while at < text.len() {
        let line = line_around(text, at);
        at = line.end;
        if is_match(matcher, without_end(&text[line.clone()])) {
            return Some(line);
        }
    }
    None
}

fn is_match(matcher: &RegexMatcher, line: &[u8]) -> bool {
    infallible(matcher.is_match(line))
}

/// `NoError` has a value and so is not known to the compiler to be impossible; nothing makes one.
fn infallible<T>(result: Result<T, NoError>) -> T {
    result.unwrap_or_else(|error| unreachable!("{error}"))
}

/// The line that holds the byte at `place`, or that an empty match at `place` is in.
pub(crate) fn line_around(text: &[u8], place: usize) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &text[..place]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[place..]).map_or(text.len(), |end| place + end + 1);
    start..end
}

/// A line without its end, `\n` or `\r\n`. A `\r` that the text ends with is no end of a line.
pub fn without_end(line: &[u8]) -> &[u8] {
    let Some(line) = line.strip_suffix(b"\n") else {
        return line;
    };
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// What matches in a line that does, ascending: at least one range, at most [`RANGES_MAX`], and
/// none beyond what [`RANGES_STEPS_MAX`] allows.
/// `line` is without its end.
pub fn ranges(matcher: &RegexMatcher, line: &[u8], out: &mut Vec<(usize, usize)>) {
    ranges_in_steps(matcher, line, RANGES_STEPS_MAX, out);
}

fn ranges_in_steps(
    matcher: &RegexMatcher,
    line: &[u8],
    steps_max: usize,
    out: &mut Vec<(usize, usize)>,
) {
    out.clear();
    let mut steps = line.len();
    infallible(matcher.find_iter(line, |found| {
        out.push((found.start(), found.end()));
        steps += line.len() - found.end();
        out.len() < RANGES_MAX && steps < steps_max
    }));
    if out.is_empty() {
        out.push((0, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::{Expr, Pattern, Syntax};

    fn judge(pattern: &str) -> LineMatcher {
        let pattern = Pattern {
            text: pattern.to_owned(),
            syntax: Syntax::Regexp,
            ..Pattern::default()
        };
        LineMatcher::joined(&Expr::Pattern(pattern)).unwrap()
    }

    fn lines(pattern: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let _ = matching_lines(&judge(pattern), text.as_bytes(), |line| {
            found.push(text[line].trim_end_matches(['\r', '\n']).to_owned());
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn lines_match_by_themselves() {
        let text = "one\r\ntwo\n\nthree;\r\nfour;";
        assert_eq!(lines("o", text), ["one", "two", "four;"]);
        assert_eq!(lines(";$", text), ["three;", "four;"]);
        assert_eq!(lines("^$", text), [""]);
        assert_eq!(lines("$", text).len(), 5);
        assert_eq!(lines("e\\s*t", text), [""; 0]);
        assert_eq!(lines("[^x]{4}", text), ["three;", "four;"]);
        assert_eq!(lines(r"\Atwo\z", text), ["two"]);
        assert_eq!(lines(r"four;\z", text), ["four;"]);
        assert_eq!(lines("x*", "a\n"), ["a"], "no line behind the last end");
    }

    #[test]
    fn ranges_are_those_of_the_line() {
        let judge = judge("(?i)a+|$").finder;
        let mut found = Vec::new();
        ranges(&judge, b"aaxA-", &mut found);
        assert_eq!(found, [(0, 2), (3, 4), (5, 5)]);
        ranges(&judge, &b"a-".repeat(1000), &mut found);
        assert_eq!(found.len(), RANGES_MAX);
    }
    #[test]
    fn a_hostile_pattern_costs_a_bounded_number_of_steps() {
        let judge = judge(".*[^A-Z]|[A-Z]").finder;
        let mut found = Vec::new();
        ranges(&judge, &b"A".repeat(80_000), &mut found);
        assert_eq!(found.len(), RANGES_MAX);
        ranges_in_steps(&judge, &b"A".repeat(80_000), 800_000, &mut found);
        assert_eq!(found.len(), 10);
    }
}
