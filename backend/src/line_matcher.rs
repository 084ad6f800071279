//! Matches lines: finds the matching lines of a text, and plans the trigram query for their blocks.
//!
//! A line matches when one of several patterns matches in it, or an expression of patterns does. The
//! lines of a text are found with ripgrep's loop over a buffer: the matcher is asked for the next
//! offset that may match, which costs a scan for the pattern's literals, and only the line around it
//! is verified.
//!
//! **Invariant:** whether a line matches depends on that line alone.

use crate::bad_expr::BadExpr;
use crate::pattern::{self, SizeLimits, infallible, is_match};
use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::RegexMatcher;
use index::plan::{BadPattern, TrigramQuery};
use schema::message::{Expr, Pattern};
use std::ops::{ControlFlow, Range};

/// Ranges of a line that are reported, at most. 40 fill a screen.
pub const RANGES_MAX: usize = 128;

/// Bytes that may be scanned to find the ranges of a line, in the worst case. Finding the next
/// range may scan the rest of the line: `.*[^A-Z]|[A-Z]` on 80 kB of capitals does that 80,000
/// times (6 s). The line is found in any case; further ranges are not reported. In lines of up to 8
/// MiB, [`RANGES_MAX`] is reached first.
const RANGES_STEPS_MAX: usize = 1 << 30;

/// Matches a line. Each worker needs a clone, which has caches of its own: shared ones are taken
/// and put back for every line, for which two workers contend.
#[derive(Clone, Debug)]
pub struct LineMatcher {
    /// Finds lines that may match, and the ranges that match in a matching line.
    pub finder: RegexMatcher,
    /// The whole expression, when the finder does not decide it.
    condition: Option<LineCondition>,
}

/// An expression on a line.
#[derive(Clone, Debug)]
enum LineCondition {
    Matches(RegexMatcher),
    All(Vec<LineCondition>),
    Any(Vec<LineCondition>),
    Not(Box<LineCondition>),
}

impl LineMatcher {
    /// Compiles an expression on one line: a pattern, a `Line`, or an `Any` of those.
    pub(crate) fn new(expr: &Expr, limits: SizeLimits) -> Result<LineMatcher, BadExpr> {
        // The patterns that are found and shown in a matching line. Any line is found if the
        // expression can match without them.
        let found = if matches_without_patterns(expr) {
            Vec::new()
        } else {
            positive_patterns(expr, false)
        };
        let finder = pattern::compile_line(&found, limits);
        let finder = finder.map_err(|bad| BadExpr::new(first_bad(expr), bad))?;
        let condition = if has_line(expr) {
            let compile = |it: &Pattern| pattern::compile_line(&[it], limits);
            Some(LineCondition::new(expr, &mut pattern::each(expr, compile)?))
        } else {
            None
        };
        Ok(LineMatcher { finder, condition })
    }

    /// Compiles an expression whose patterns have all been compiled before, and are small enough
    /// together.
    pub(crate) fn joined(expr: &Expr) -> Result<LineMatcher, BadExpr> {
        LineMatcher::new(expr, SizeLimits::FOR_ALL)
    }

    /// Returns whether a line matches in which the finder has found something; `line` is without
    /// its end.
    pub(crate) fn confirms(&self, line: &[u8]) -> bool {
        self.condition.as_ref().is_none_or(|it| it.matches(line))
    }

    /// Returns whether every line that the finder finds matches.
    pub(crate) fn is_plain(&self) -> bool {
        self.condition.is_none()
    }
}

impl LineCondition {
    /// `matchers` are those of the patterns of `expr`, in order.
    fn new(expr: &Expr, matchers: &mut impl Iterator<Item = RegexMatcher>) -> LineCondition {
        let mut each = |parts: &[Expr]| {
            let parts = parts.iter().map(|it| LineCondition::new(it, matchers));
            parts.collect::<Vec<_>>()
        };
        match expr {
            Expr::All(parts) => LineCondition::All(each(parts)),
            Expr::Any(parts) => LineCondition::Any(each(parts)),
            Expr::Not(inner) => LineCondition::Not(Box::new(LineCondition::new(inner, matchers))),
            Expr::Line(inner) => LineCondition::new(inner, matchers),
            Expr::Filter(_) => LineCondition::All(Vec::new()),
            Expr::Pattern(_) => {
                LineCondition::Matches(matchers.next().expect("one for each pattern"))
            }
        }
    }

    fn matches(&self, line: &[u8]) -> bool {
        match self {
            LineCondition::Matches(matcher) => pattern::is_match(matcher, line),
            LineCondition::All(parts) => parts.iter().all(|part| part.matches(line)),
            LineCondition::Any(parts) => parts.iter().any(|part| part.matches(line)),
            LineCondition::Not(inner) => !inner.matches(line),
        }
    }
}

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

/// Returns a query for the blocks in which a line may match.
pub(crate) fn plan(expr: &Expr) -> Result<TrigramQuery, BadExpr> {
    Ok(join(expr, &mut pattern::each(expr, plan_pattern)?))
}

/// Returns a query for the blocks in which a line may match a pattern.
pub(crate) fn plan_pattern(pattern: &Pattern) -> Result<TrigramQuery, BadPattern> {
    pattern::check_not_empty(pattern)?;
    index::plan::plan(&pattern::expression(pattern), pattern.ignore_case)
}

/// Joins the queries of the patterns of `expr`, which are in order.
fn join(expr: &Expr, queries: &mut impl Iterator<Item = TrigramQuery>) -> TrigramQuery {
    let mut each = |parts: &[Expr]| {
        let parts = parts.iter().map(|part| join(part, queries));
        parts.collect::<Vec<_>>()
    };
    match expr {
        Expr::Pattern(_) => queries.next().expect("one for each pattern"),
        Expr::Filter(_) => TrigramQuery::All,
        Expr::All(parts) => TrigramQuery::and(each(parts)),
        Expr::Any(parts) => TrigramQuery::or(each(parts)),
        Expr::Not(inner) => {
            join(inner, queries);
            TrigramQuery::All
        }
        Expr::Line(inner) => join(inner, queries),
    }
}

/// Returns the patterns that are not negated.
pub(crate) fn positive_patterns(expr: &Expr, negated: bool) -> Vec<&Pattern> {
    match expr {
        Expr::Pattern(pattern) if !negated => vec![pattern],
        Expr::Pattern(_) | Expr::Filter(_) => Vec::new(),
        Expr::All(parts) | Expr::Any(parts) => {
            let parts = parts.iter();
            parts
                .flat_map(|it| positive_patterns(it, negated))
                .collect()
        }
        Expr::Not(inner) => positive_patterns(inner, !negated),
        Expr::Line(inner) => positive_patterns(inner, negated),
    }
}

/// Returns whether a line can match in which no pattern matches that is not negated.
fn matches_without_patterns(expr: &Expr) -> bool {
    match expr {
        Expr::Pattern(_) => false,
        Expr::Not(_) | Expr::Filter(_) => true,
        Expr::All(parts) => parts.iter().all(matches_without_patterns),
        Expr::Any(parts) => parts.iter().any(matches_without_patterns),
        Expr::Line(inner) => matches_without_patterns(inner),
    }
}

fn has_line(expr: &Expr) -> bool {
    match expr {
        Expr::Line(_) => true,
        Expr::All(parts) | Expr::Any(parts) => parts.iter().any(has_line),
        Expr::Not(inner) => has_line(inner),
        Expr::Pattern(_) | Expr::Filter(_) => false,
    }
}

/// Returns the pattern to blame when all of them together are refused: the first that is refused by
/// itself, else the first of all.
fn first_bad(expr: &Expr) -> usize {
    let limits = SizeLimits::for_one_of(1);
    let is_bad = |pattern: &&Pattern| pattern::compile_line(&[pattern], limits).is_err();
    expr.patterns().iter().position(is_bad).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::Syntax;

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
