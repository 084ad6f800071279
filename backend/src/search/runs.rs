//! Runs of lines in a whole document: what judges find of which one at least may match over lines.
//!
//! Each judge goes through the text by itself; lines that two matches share are one run, so that no
//! line is found twice. Nothing is kept but each judge's next lines.

use crate::document::{Judge, apart};
use crate::scan::{self, RANGES_MAX};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use std::ops::{ControlFlow, Range};

/// Calls `found` with every run, line ends included, ascending. Ends early when it breaks.
pub(super) fn for_each(
    judges: &[&Judge],
    text: &[u8],
    mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
) {
    let mut walks: Vec<Walk<'_>> = judges.iter().map(|judge| Walk::new(judge, text)).collect();
    loop {
        let starts = walks.iter().filter_map(|walk| walk.next.as_ref());
        let Some(mut run) = starts.min_by_key(|lines| lines.start).cloned() else {
            return;
        };
        let overlaps = |walk: &Walk<'_>, run: &Range<usize>| {
            walk.next
                .as_ref()
                .is_some_and(|lines| lines.start < run.end)
        };
        while let Some(walk) = walks.iter_mut().find(|walk| overlaps(walk, &run)) {
            let lines = walk.next.take();
            run.end = run.end.max(lines.map_or(0, |lines| lines.end));
            walk.advance(text);
        }
        if found(run).is_break() {
            return;
        }
    }
}

/// Whether there is a run that a matcher finds.
pub(super) fn is_any(matcher: &RegexMatcher, text: &[u8]) -> bool {
    find(matcher, text, 0).is_some_and(|found| lines_of(text, &found).is_some())
}

/// What matches in a run, from its first byte, none beyond its last line's end: at least one range,
/// at most [`RANGES_MAX`].
pub(super) fn ranges(
    judges: &[&Judge],
    text: &[u8],
    run: &Range<usize>,
    out: &mut Vec<(usize, usize)>,
) {
    out.clear();
    let (mut one, last) = (Vec::new(), scan::without_end(&text[run.clone()]).len());
    for judge in judges {
        match judge {
            Judge::Line(matcher) => {
                let mut at = 0;
                let within = &text[run.clone()];
                while let Some(line) = scan::next_line(matcher, within, at) {
                    let without_end = scan::without_end(&within[line.clone()]);
                    scan::ranges(&matcher.finder, without_end, &mut one);
                    let shift = |&(start, end)| (line.start + start, line.start + end);
                    out.extend(one.iter().map(shift));
                    at = line.end;
                }
            }
            Judge::Across(matcher) => {
                let mut at = run.start;
                while let Some(found) = find(matcher, text, at)
                    && found.start < run.end
                    && out.len() < RANGES_MAX
                {
                    at = behind(&found);
                    let (start, end) = (found.start - run.start, found.end - run.start);
                    out.push((start.min(last), end.min(last)));
                }
            }
        }
    }
    apart(out);
    out.truncate(RANGES_MAX);
    if out.is_empty() {
        out.push((0, 0));
    }
}

/// A judge's way through a text.
struct Walk<'a> {
    judge: &'a Judge,
    /// Where to look on.
    at: usize,
    /// The lines of its next match.
    next: Option<Range<usize>>,
}

impl<'a> Walk<'a> {
    fn new(judge: &'a Judge, text: &[u8]) -> Self {
        let mut walk = Walk {
            judge,
            at: 0,
            next: None,
        };
        walk.advance(text);
        walk
    }

    fn advance(&mut self, text: &[u8]) {
        self.next = match self.judge {
            Judge::Line(matcher) => scan::next_line(matcher, text, self.at),
            Judge::Across(matcher) => find(matcher, text, self.at).and_then(|found| {
                self.at = behind(&found);
                lines_of(text, &found)
            }),
        };
        if let (Judge::Line(_), Some(line)) = (self.judge, &self.next) {
            self.at = line.end;
        }
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
    use crate::line::LineMatcher;
    use crate::pattern;
    use schema::message::{Expr, Pattern, Syntax};

    fn judge(text: &str) -> Judge {
        let pattern = Pattern {
            text: text.to_owned(),
            syntax: Syntax::Regexp,
            ..Pattern::default()
        };
        match pattern::crosses_lines(&pattern) {
            true => Judge::Across(pattern::matcher_across(&pattern).unwrap()),
            false => Judge::Line(LineMatcher::new(&Expr::Pattern(pattern)).unwrap()),
        }
    }

    /// Runs with their ranges, as text.
    fn check(patterns: &[&str], text: &str, expected: &[&str]) {
        let judges: Vec<Judge> = patterns.iter().map(|text| judge(text)).collect();
        let judges: Vec<&Judge> = judges.iter().collect();
        let (mut found, mut out) = (Vec::new(), Vec::new());
        for_each(&judges, text.as_bytes(), |run| {
            ranges(&judges, text.as_bytes(), &run, &mut out);
            let mut shown = text[run.clone()].to_owned();
            for &(start, end) in out.iter().rev() {
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
}
