//! Finds spans in a whole document: lines of matches over several lines.
//!
//! Each matcher scans the text once. Matches that share a line become one span, so no line repeats.
//! Only the next lines of each matcher and the ranges of the current span are in memory. Can be
//! stopped at any time.

use crate::matcher::bounded_matcher::BoundedMatcher;
use crate::matcher::document_matcher::TextMatcher;
use crate::matcher::line_matcher::{self, LineSearch, RANGES_MAX};
use crate::matcher::long_line::{Effort, LINE_STEPS_MAX};
use crate::matcher::place::Haystack;
use crate::matcher::ranges::remove_overlaps;
use std::ops::{ControlFlow, Range};

/// Ranges from the span's first byte: one to [`RANGES_MAX`], within its last line.
pub(super) type Ranges = Vec<(usize, usize)>;

/// Calls `found` with each span from `at` on, and its ranges. Ends if `found` breaks or `effort` is
/// stopped.
pub(super) fn for_each(
    matchers: &[&TextMatcher],
    text: &[u8],
    at: usize,
    effort: &mut Effort<'_>,
    mut found: impl FnMut(Range<usize>, &Ranges) -> ControlFlow<()>,
) {
    let cursors = matchers.iter();
    let cursors = cursors.map(|matcher| MatchCursor::new(matcher, text, at, effort));
    let mut cursors: Vec<MatchCursor<'_>> = cursors.collect();
    let mut ranges = Ranges::new();
    while !effort.is_stopped() {
        let next = cursors.iter().filter_map(|cursor| cursor.lines.as_ref());
        let Some(mut span) = next.min_by_key(|lines| lines.start).cloned() else {
            return;
        };
        ranges.clear();
        while let Some(cursor) = cursors.iter_mut().find(|it| it.begins_before(span.end)) {
            span.end = span
                .end
                .max(cursor.take(text, span.start, effort, &mut ranges));
            if effort.is_stopped() {
                return;
            }
        }
        normalize(
            &mut ranges,
            line_matcher::without_end(&text[span.clone()]).len(),
        );
        if found(span, &ranges).is_break() {
            return;
        }
    }
}

pub(super) fn is_any(matcher: &BoundedMatcher, text: &[u8], effort: &mut Effort<'_>) -> bool {
    effort.left = LINE_STEPS_MAX;
    let found = matcher.find(text, 0, true, effort);
    let found = effort.decide(found);
    found.is_some_and(|found| lines_of(text, &found).is_some())
}

fn normalize(ranges: &mut Ranges, len: usize) {
    for (start, end) in &mut *ranges {
        (*start, *end) = ((*start).min(len), (*end).min(len));
    }
    remove_overlaps(ranges);
    ranges.truncate(RANGES_MAX);
    if ranges.is_empty() {
        ranges.push((0, 0));
    }
}

struct MatchCursor<'a> {
    matcher: &'a TextMatcher,
    search: Option<LineSearch<'a>>,
    found: Range<usize>,
    steps: u64,
    /// Lines of the current match; `None` at the end.
    lines: Option<Range<usize>>,
    line_ranges: Ranges,
}

impl<'a> MatchCursor<'a> {
    fn new(matcher: &'a TextMatcher, text: &'a [u8], at: usize, effort: &mut Effort<'_>) -> Self {
        let search = match matcher {
            TextMatcher::Line(matcher) => Some(LineSearch::new(matcher, Haystack::plain(text), at)),
            TextMatcher::MultiLine(_) => None,
        };
        let mut cursor = MatchCursor {
            matcher,
            search,
            found: 0..0,
            steps: LINE_STEPS_MAX,
            lines: None,
            line_ranges: Ranges::new(),
        };
        cursor.advance(text, at, true, effort);
        cursor
    }

    fn begins_before(&self, end: usize) -> bool {
        self.lines.as_ref().is_some_and(|lines| lines.start < end)
    }

    /// Adds the current match, and advances. Returns the end of its last line.
    fn take(
        &mut self,
        text: &'a [u8],
        start: usize,
        effort: &mut Effort<'_>,
        ranges: &mut Ranges,
    ) -> usize {
        let Some(lines) = self.lines.take() else {
            return 0;
        };
        let has_room = ranges.len() < RANGES_MAX;
        let at = match self.matcher {
            TextMatcher::Line(matcher) => {
                if has_room {
                    let line = line_matcher::without_end(&text[lines.clone()]);
                    line_matcher::ranges(
                        matcher,
                        Haystack::plain(line),
                        effort,
                        &mut self.line_ranges,
                    );
                    let shift = lines.start - start;
                    let line_ranges = self.line_ranges.iter();
                    ranges.extend(line_ranges.map(|(from, to)| (shift + from, shift + to)));
                }
                lines.end
            }
            TextMatcher::MultiLine(_) => {
                if has_room {
                    ranges.push((self.found.start - start, self.found.end - start));
                }
                // Past an empty match, so it is not found again.
                self.found.end + usize::from(self.found.is_empty())
            }
        };
        self.advance(text, at, false, effort);
        lines.end
    }

    fn advance(&mut self, text: &'a [u8], at: usize, first: bool, effort: &mut Effort<'_>) {
        self.lines = match (self.matcher, &mut self.search) {
            (TextMatcher::MultiLine(matcher), _) => {
                effort.left = self.steps;
                let found = matcher.find(text, at, first, effort);
                self.steps = effort.left;
                effort.decide(found).and_then(|found| {
                    let lines = lines_of(text, &found);
                    self.found = found;
                    lines
                })
            }
            (_, Some(search)) => search.next(effort),
            (_, None) => None,
        };
    }
}

/// Lines of a match; `None` for an empty one behind the last line.
fn lines_of(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    let first = line_matcher::line_around(text, found.start);
    let last = line_matcher::line_around(text, found.end.max(found.start + 1) - 1);
    (!first.is_empty()).then_some(first.start..last.end.max(first.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::compiler::Compiler;
    use crate::matcher::line_matcher::LineMatcher;
    use crate::matcher::pattern;
    use schema::message::{Expr, Pattern, Syntax};

    fn text_matcher(text: &str) -> TextMatcher {
        let pattern = Pattern {
            text: text.to_owned(),
            syntax: Syntax::Regexp,
            ..Pattern::default()
        };
        let compiler = Compiler::default();
        if pattern::is_multiline(&pattern) {
            TextMatcher::MultiLine(BoundedMatcher::new(&[&pattern], true, &compiler).unwrap())
        } else {
            TextMatcher::Line(
                LineMatcher::new(&Expr::Pattern(pattern), &compiler.for_all()).unwrap(),
            )
        }
    }

    /// Compares spans, with ranges in brackets.
    fn check(patterns: &[&str], text: &str, expected: &[&str]) {
        let matchers: Vec<TextMatcher> = patterns.iter().map(|text| text_matcher(text)).collect();
        let matchers: Vec<&TextMatcher> = matchers.iter().collect();
        let mut found = Vec::new();
        let mut effort = Effort::new(&|| false);
        for_each(
            &matchers,
            text.as_bytes(),
            0,
            &mut effort,
            |span, ranges| {
                let mut shown = text[span].to_owned();
                for &(start, end) in ranges.iter().rev() {
                    shown.insert(end, ']');
                    shown.insert(start, '[');
                }
                found.push(shown);
                ControlFlow::Continue(())
            },
        );
        assert_eq!(found, expected, "{patterns:?}");
    }

    #[test]
    fn spans_are_whole_lines() {
        check(&[r"b\nc"], "ab\ncd\nb\nx\n", &["a[b\nc]d\n"]);
        check(
            &["(?s)a.*?d"],
            "xa\nb\ncd\nad\n",
            &["x[a\nb\ncd]\n", "[ad]\n"],
        );
        check(&[r"a\n"], "a\na\nb\n", &["[a]\n", "[a]\n"]);
        check(&[r"\n"], "a\nb", &["a[]\n"]);
        check(&[r"a\nb|b\nc"], "a\nb\nc", &["[a\nb]\n"]);
        check(&[r"x\n*"], "ax", &["a[x]"]);
        check(&[r"(?s).*\n"], "", &[]);
    }

    #[test]
    fn matches_that_share_a_line_are_one_span() {
        check(&[r"a\nb", r"b\nc"], "a\nb\nc\nd\n", &["[a\nb]\nc\n"]);
        check(&[r"a\nb", "c"], "a\nbc\nc\n", &["[a\nb][c]\n", "[c]\n"]);
        check(&["a", r"c\nd"], "a\nc\nd", &["[a]\n", "[c\nd]"]);
    }

    /// Takes forever if each span scans the rest of the text.
    #[test]
    fn each_matcher_scans_the_text_once() {
        let text = "ab\n".repeat(200_000);
        let matchers = [text_matcher("a"), text_matcher(r"x[^\n]*\ny")];
        let mut spans = 0;
        let matchers = matchers.each_ref();
        let mut effort = Effort::new(&|| false);
        for_each(&matchers, text.as_bytes(), 0, &mut effort, |_, _| {
            spans += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(spans, 200_000);
    }

    #[test]
    fn stops_between_two_matches() {
        let (text, asked) = ("ab\n".repeat(1000), std::cell::Cell::new(0));
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 10
        };
        let mut spans = 0;
        let matcher = text_matcher(r"a[^\n]*\n");
        let mut effort = Effort::new(&stop);
        for_each(&[&matcher], text.as_bytes(), 0, &mut effort, |_, _| {
            spans += 1;
            ControlFlow::Continue(())
        });
        assert!(spans <= 10);
    }
}
