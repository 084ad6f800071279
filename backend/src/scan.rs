//! Finds the matching lines of a text, with ripgrep's loop over a buffer.
//!
//! The matcher is asked for the next offset that may match, which costs a scan for the pattern's
//! literals. Only the line around it is verified.
//!
//! **Invariant:** whether a line matches does not depend on the lines around it.

use crate::line_matcher::LineMatcher;
use crate::pattern::{infallible, is_match};
use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::RegexMatcher;
use std::ops::{ControlFlow, Range};

/// Ranges of a line that are reported, at most. 40 fill a screen.
pub const RANGES_MAX: usize = 128;

/// Bytes that may be scanned to find the ranges of a line, in the worst case. Finding the next
/// range may scan the rest of the line: `.*[^A-Z]|[A-Z]` on 80 kB of capitals does that 80,000
/// times (6 s). The line is found in any case; further ranges are not reported. In lines of up to 8
/// MiB, [`RANGES_MAX`] is reached first.
const RANGES_STEPS_MAX: usize = 1 << 30;

/// Calls `found` with the range of every matching line of `text`, line end included. `text`
/// consists of whole lines. Ends early when `found` breaks.
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

/// Returns the first matching line that begins at or after `at`, which is the start of a line.
pub(crate) fn next_line(matcher: &LineMatcher, text: &[u8], mut at: usize) -> Option<Range<usize>> {
    loop {
        let line = match matcher.finder.line_terminator() {
            Some(_) => fast(&matcher.finder, text, at),
            // The pattern has `\A` or `\z`, which must match at the ends of the line.
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
        let (offset, confirmed) = match infallible(matcher.find_candidate_line(&text[at..])) {
            None => break,
            Some(LineMatchKind::Confirmed(offset)) => (at + offset, true),
            Some(LineMatchKind::Candidate(offset)) => (at + offset, false),
        };
        let line = line_around(text, offset);
        if line.is_empty() {
            // An empty match behind the end of the last line.
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

/// Returns the line of the byte, or of the empty match, at `offset`.
pub(crate) fn line_around(text: &[u8], offset: usize) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &text[..offset]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[offset..]).map_or(text.len(), |end| offset + end + 1);
    start..end
}

/// Returns a line without its end, `\n` or `\r\n`. A `\r` at the end of the text does not end a
/// line.
pub fn without_end(line: &[u8]) -> &[u8] {
    let Some(line) = line.strip_suffix(b"\n") else {
        return line;
    };
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Finds the ranges that match in a matching line, which is without its end. They are ascending: at
/// least one, at most [`RANGES_MAX`], and fewer when finding them takes too many steps.
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

    fn line_matcher(pattern: &str) -> LineMatcher {
        let pattern = Pattern {
            text: pattern.to_owned(),
            syntax: Syntax::Regexp,
            ..Pattern::default()
        };
        LineMatcher::joined(&Expr::Pattern(pattern)).unwrap()
    }

    fn lines(pattern: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let _ = matching_lines(&line_matcher(pattern), text.as_bytes(), |line| {
            found.push(text[line].trim_end_matches(['\r', '\n']).to_owned());
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn lines_match_independently() {
        let text = "one\r\ntwo\n\nthree;\r\nfour;";
        assert_eq!(lines("o", text), ["one", "two", "four;"]);
        assert_eq!(lines(";$", text), ["three;", "four;"]);
        assert_eq!(lines("^$", text), [""]);
        assert_eq!(lines("$", text).len(), 5);
        assert_eq!(lines("e\\s*t", text), [""; 0]);
        assert_eq!(lines("[^x]{4}", text), ["three;", "four;"]);
        assert_eq!(lines(r"\Atwo\z", text), ["two"]);
        assert_eq!(lines(r"four;\z", text), ["four;"]);
        assert_eq!(
            lines("x*", "a\n"),
            ["a"],
            "there is no line after the last end"
        );
    }

    #[test]
    fn ranges_are_found_and_limited() {
        let matcher = line_matcher("(?i)a+|$").finder;
        let mut found = Vec::new();
        ranges(&matcher, b"aaxA-", &mut found);
        assert_eq!(found, [(0, 2), (3, 4), (5, 5)]);
        ranges(&matcher, &b"a-".repeat(1000), &mut found);
        assert_eq!(found.len(), RANGES_MAX);
    }

    #[test]
    fn steps_to_find_ranges_are_limited() {
        let matcher = line_matcher(".*[^A-Z]|[A-Z]").finder;
        let mut found = Vec::new();
        ranges(&matcher, &b"A".repeat(80_000), &mut found);
        assert_eq!(found.len(), RANGES_MAX);
        ranges_in_steps(&matcher, &b"A".repeat(80_000), 800_000, &mut found);
        assert_eq!(found.len(), 10);
    }
}
