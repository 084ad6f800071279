//! BlockRanges of lines in a whole document: what judges find of which one at least may match over lines.
//!
//! Each judge goes through the text once; lines that two matches share are one run, so that no line is
//! found twice. Nothing is kept but each judge's next lines, and the ranges of the run in hand.
//! How long one look of a matcher takes is bounded by the text's length; between any two it is asked
//! whether anybody still waits.

use crate::document_matcher::{TextMatcher, apart};
use crate::scan::{self, RANGES_MAX};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use std::ops::{ControlFlow, Range};

/// What in a run matches, from its first byte, none beyond its last line's end: at least one range, at
/// most [`RANGES_MAX`].
pub(super) type Ranges = Vec<(usize, usize)>;

/// Calls `found` with every run of the lines of `text`, from the one that begins at `at` on, line ends
/// included, ascending, and with what matches in it. Ends early when it breaks, or `stop` says so.
pub(super) fn for_each(
    judges: &[&TextMatcher],
    text: &[u8],
    at: usize,
    stop: &dyn Fn() -> bool,
    mut found: impl FnMut(Range<usize>, &Ranges) -> ControlFlow<()>,
) {
    let walks = judges.iter().map(|judge| MatchCursor::new(judge, text, at));
    let mut walks: Vec<MatchCursor<'_>> = walks.collect();
    let mut ranges = Ranges::new();
    while !stop() {
        let starts = walks.iter().filter_map(|walk| walk.next.as_ref());
        let Some(mut run) = starts.min_by_key(|lines| lines.start).cloned() else {
            return;
        };
        ranges.clear();
        while let Some(walk) = walks.iter_mut().find(|walk| walk.begins_before(run.end)) {
            run.end = run.end.max(walk.take(text, run.start, &mut ranges));
            if stop() {
                return;
            }
        }
        within(&mut ranges, scan::without_end(&text[run.clone()]).len());
        if found(run, &ranges).is_break() {
            return;
        }
    }
}

/// Whether there is a run that a matcher finds.
pub(super) fn is_any(matcher: &RegexMatcher, text: &[u8]) -> bool {
    find(matcher, text, 0).is_some_and(|found| lines_of(text, &found).is_some())
}

/// Sorts ranges, and cuts them at the end of what is shown of a run.
fn within(ranges: &mut Ranges, last: usize) {
    for (start, end) in &mut *ranges {
        (*start, *end) = ((*start).min(last), (*end).min(last));
    }
    apart(ranges);
    ranges.truncate(RANGES_MAX);
    if ranges.is_empty() {
        ranges.push((0, 0));
    }
}

/// A judge's way through a text.
struct MatchCursor<'a> {
    judge: &'a TextMatcher,
    /// What it found last, when a match may go over lines.
    found: Range<usize>,
    /// The lines of that.
    next: Option<Range<usize>>,
    /// For the ranges of a line.
    line: Ranges,
}

impl<'a> MatchCursor<'a> {
    fn new(judge: &'a TextMatcher, text: &[u8], at: usize) -> Self {
        let mut walk = MatchCursor {
            judge,
            found: 0..0,
            next: None,
            line: Ranges::new(),
        };
        walk.advance(text, at);
        walk
    }

    fn begins_before(&self, end: usize) -> bool {
        self.next.as_ref().is_some_and(|lines| lines.start < end)
    }

    /// Adds what it found to the ranges of a run that begins at `start`, and goes on: where the lines
    /// end that it found.
    fn take(&mut self, text: &[u8], start: usize, ranges: &mut Ranges) -> usize {
        let Some(lines) = self.next.take() else {
            return 0;
        };
        let has_room = ranges.len() < RANGES_MAX;
        let at = match self.judge {
            TextMatcher::Line(matcher) => {
                if has_room {
                    let line = scan::without_end(&text[lines.clone()]);
                    scan::ranges(&matcher.finder, line, &mut self.line);
                    let shift = lines.start - start;
                    ranges.extend(
                        self.line
                            .iter()
                            .map(|(from, to)| (shift + from, shift + to)),
                    );
                }
                lines.end
            }
            TextMatcher::MultiLine(_) => {
                if has_room {
                    ranges.push((self.found.start - start, self.found.end - start));
                }
                behind(&self.found)
            }
        };
        self.advance(text, at);
        lines.end
    }

    /// Finds the next lines from `at` on.
    fn advance(&mut self, text: &[u8], at: usize) {
        self.next = match self.judge {
            TextMatcher::Line(matcher) => scan::next_line(matcher, text, at),
            TextMatcher::MultiLine(matcher) => find(matcher, text, at).and_then(|found| {
                let lines = lines_of(text, &found);
                self.found = found;
                lines
            }),
        };
    }
}

fn find(matcher: &RegexMatcher, text: &[u8], at: usize) -> Option<Range<usize>> {
    if at > text.len() {
        return None;
    }
    let found = matcher
        .find_at(text, at)
        .unwrap_or_else(|error| unreachable!("{error}"));
    found.map(|found| found.start()..found.end())
}

/// Where to look for the next match.
fn behind(found: &Range<usize>) -> usize {
    found.end + usize::from(found.is_empty())
}

/// The lines that a match lies in; `None` when it is behind the last one.
fn lines_of(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    let first = scan::line_around(text, found.start);
    let last = scan::line_around(text, found.end.max(found.start + 1) - 1);
    (!first.is_empty()).then_some(first.start..last.end.max(first.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_matcher::LineMatcher;
    use crate::pattern::{self, SizeLimits};
    use schema::message::{Expr, Pattern, Syntax};

    fn judge(text: &str) -> TextMatcher {
        let pattern = Pattern {
            text: text.to_owned(),
            syntax: Syntax::Regexp,
            ..Pattern::default()
        };
        match pattern::crosses_lines(&pattern) {
            true => TextMatcher::MultiLine(
                pattern::matcher_across(&pattern, SizeLimits::of_one_of(1)).unwrap(),
            ),
            false => TextMatcher::Line(LineMatcher::joined(&Expr::Pattern(pattern)).unwrap()),
        }
    }

    /// BlockRanges with their ranges, as text.
    fn check(patterns: &[&str], text: &str, expected: &[&str]) {
        let judges: Vec<TextMatcher> = patterns.iter().map(|text| judge(text)).collect();
        let judges: Vec<&TextMatcher> = judges.iter().collect();
        let mut found = Vec::new();
        for_each(&judges, text.as_bytes(), 0, &|| false, |run, ranges| {
            let mut shown = text[run].to_owned();
            for &(start, end) in ranges.iter().rev() {
                shown.insert(end, ']');
                shown.insert(start, '[');
            }
            found.push(shown);
            ControlFlow::Continue(())
        });
        assert_eq!(found, expected, "{patterns:?}");
    }

    #[test]
    fn matches_over_lines_are_runs_of_whole_lines() {
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
    fn lines_that_two_matches_share_are_one_run() {
        check(&[r"a\nb", r"b\nc"], "a\nb\nc\nd\n", &["[a\nb]\nc\n"]);
        check(&[r"a\nb", "c"], "a\nbc\nc\n", &["[a\nb][c]\n", "[c]\n"]);
        check(&["a", r"c\nd"], "a\nc\nd", &["[a]\n", "[c\nd]"]);
    }

    /// Each judge looks at the text once, however many runs there are.
    #[test]
    fn a_judge_without_a_match_is_asked_once() {
        let text = "ab\n".repeat(200_000);
        let judges = [judge("a"), judge(r"x[^\n]*\ny")];
        let mut runs = 0;
        for_each(&judges.each_ref(), text.as_bytes(), 0, &|| false, |_, _| {
            runs += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(runs, 200_000);
    }

    #[test]
    fn it_stops_between_two_looks() {
        let (text, asked) = ("ab\n".repeat(1000), std::cell::Cell::new(0));
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 10
        };
        let mut runs = 0;
        for_each(
            &[&judge(r"a[^\n]*\n")],
            text.as_bytes(),
            0,
            &stop,
            |_, _| {
                runs += 1;
                ControlFlow::Continue(())
            },
        );
        assert!(runs <= 10);
    }
}
