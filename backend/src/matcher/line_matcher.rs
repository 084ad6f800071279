//! Finds matching lines of a text, and plans the trigram query for their blocks.
//!
//! As in ripgrep, the matcher scans a buffer for the next candidate offset, and only the line
//! around it is verified. A line that is long for its pattern is matched alone
//! ([`BoundedMatcher`]).
//!
//! **Invariant:** a match depends on its line alone.

use super::bad_expr::BadExpr;
use super::bounded_matcher::BoundedMatcher;
use super::compiler::Compiler;
use super::long_line::{Effort, GivenUp, LINE_STEPS_MAX};
use super::pattern;
use super::place::{self, Haystack, PlacedMatcher};
use super::ranges::remove_overlaps;
pub use super::ranges::{RANGES_MAX, without_end};
use grep_matcher::LineMatchKind;
use index::plan::{BadPattern, TrigramQuery};
use index::trigram::Trigram;
use language::symbols::LEVEL_MAX;
use schema::message::{Expr, Pattern, Role};
use std::ops::{ControlFlow, Range};
use std::slice;

/// Steps to find the ranges of a long line: half a second. Each range may scan the rest of the
/// line, as with `.*[^A-Z]|[A-Z]`. The line is found anyway.
const RANGES_STEPS_MAX: u64 = LINE_STEPS_MAX / 4;

/// Matches a line. Each worker needs a clone with its own caches, which would contend.
#[derive(Clone, Debug)]
pub struct LineMatcher {
    pub(crate) finder: BoundedMatcher,
    /// Has to hold for a found line, too.
    condition: Option<Expr>,
    /// Matchers of the condition's patterns, in order.
    matchers: Vec<PlacedMatcher>,
    /// Numbers of the patterns whose ranges are shown, if one has a place.
    placed: Option<Vec<usize>>,
}

impl LineMatcher {
    pub(crate) fn new(expr: &Expr, compiler: &Compiler) -> Result<LineMatcher, BadExpr> {
        // Patterns shown in a line. Any line is found if the expression can match without them.
        let found = if matches_without_patterns(expr) {
            Vec::new()
        } else {
            positive_patterns(expr, false)
        };
        let is_placed = expr.patterns().iter().any(|it| !it.place.is_anywhere());
        let relaxed: Vec<Pattern> = found.iter().map(|it| place::relaxed(it)).collect();
        let found: Vec<&Pattern> = relaxed.iter().collect();
        let finder = BoundedMatcher::new(&found, false, compiler);
        let finder = finder.map_err(|bad| BadExpr::new(first_bad(expr, compiler), bad))?;
        let (mut condition, mut matchers) = (None, Vec::new());
        if is_placed || has_line(expr) {
            let compile = |it: &Pattern| PlacedMatcher::new(it, compiler);
            matchers.extend(pattern::each(expr, compile)?);
            condition = Some(expr.clone());
        }
        Ok(LineMatcher {
            finder,
            condition,
            matchers,
            placed: is_placed.then(|| positive_numbers(expr)),
        })
    }

    /// True if it needs the symbols of texts.
    pub fn is_placed(&self) -> bool {
        self.placed.is_some()
    }

    pub(crate) fn is_slow(&self, blocks: u64) -> bool {
        self.finder.is_slow(blocks) || self.matchers.iter().any(|it| it.is_slow(blocks))
    }

    /// The only possible byte of a range in a short line.
    pub(crate) fn single_byte(&self) -> Option<u8> {
        self.finder
            .literal()
            .filter(|_| !self.is_placed())?
            .single_byte()
    }

    /// Copy for this number of candidate blocks.
    pub(crate) fn for_blocks(&self, blocks: u64) -> LineMatcher {
        LineMatcher {
            finder: self.finder.for_blocks(blocks),
            condition: self.condition.clone(),
            matchers: (self.matchers.iter())
                .map(|it| it.for_blocks(blocks))
                .collect(),
            placed: self.placed.clone(),
        }
    }

    fn confirms(&self, line: Haystack<'_>, effort: &mut Effort<'_>) -> Result<bool, GivenUp> {
        let Some(condition) = &self.condition else {
            return Ok(true);
        };
        holds(condition, true, &mut self.matchers.iter(), line, effort)
    }

    fn matches(&self, line: Haystack<'_>, effort: &mut Effort<'_>) -> Result<bool, GivenUp> {
        Ok(self.finder.is_match(line.bytes, effort)? && self.confirms(line, effort)?)
    }
}

/// False without `counts`, where another part decides: it only takes its `matchers`.
fn holds(
    expr: &Expr,
    counts: bool,
    matchers: &mut slice::Iter<'_, PlacedMatcher>,
    line: Haystack<'_>,
    effort: &mut Effort<'_>,
) -> Result<bool, GivenUp> {
    Ok(match expr {
        Expr::Pattern(_) => {
            let matcher = matchers.next().expect("each pattern has one");
            counts && matcher.is_match(line, effort)?
        }
        Expr::Filter(_) => counts,
        Expr::All(parts) => {
            let mut all = counts;
            for part in parts {
                all = holds(part, all, matchers, line, effort)?;
            }
            all
        }
        Expr::Any(parts) => {
            let mut any = false;
            for part in parts {
                any |= holds(part, counts && !any, matchers, line, effort)?;
            }
            any
        }
        Expr::Not(inner) => !holds(inner, counts, matchers, line, effort)? && counts,
        Expr::Line(inner) => holds(inner, counts, matchers, line, effort)?,
    })
}

/// Iterator over matching lines, ascending, of a text of whole lines.
///
/// Searches pieces of lines, and longer lines alone, with checks of the stop flag.
pub struct LineSearch<'a> {
    matcher: &'a LineMatcher,
    text: Haystack<'a>,
    at: usize,
    piece_end: usize,
}

impl<'a> LineSearch<'a> {
    /// `at` is the start of a line.
    pub fn new(matcher: &'a LineMatcher, text: Haystack<'a>, at: usize) -> LineSearch<'a> {
        LineSearch {
            matcher,
            text,
            at,
            piece_end: at,
        }
    }

    /// Range of the next matching line with its end; `None` at the end or if stopped. Lines over
    /// the steps are noted in `effort`.
    pub fn next(&mut self, effort: &mut Effort<'_>) -> Option<Range<usize>> {
        while self.at < self.text.bytes.len() {
            if self.at == self.piece_end && !self.next_piece() {
                let line = self.at..self.piece_end;
                self.at = line.end;
                let body = self.text.part(line.clone()).without_end();
                let matches = self.matcher.matches(body, effort);
                if effort.decide(matches) {
                    return Some(line);
                }
            } else if let Some(line) = self.next_in_piece() {
                self.at = line.end;
                let body = self.text.part(line.clone()).without_end();
                let matches = self.matcher.confirms(body, effort);
                if effort.decide(matches) {
                    return Some(line);
                }
                continue;
            } else {
                self.at = self.piece_end;
            }
            if effort.is_stopped() {
                return None;
            }
        }
        None
    }

    /// False if the next piece is one long line.
    fn next_piece(&mut self) -> bool {
        let rest = &self.text.bytes[self.at..];
        let bytes_max = self.matcher.finder.piece_bytes();
        if rest.len() <= bytes_max {
            self.piece_end = self.text.bytes.len();
            return true;
        }
        let last = memchr::memrchr(b'\n', &rest[..bytes_max]);
        let end = last.or_else(|| Some(bytes_max + memchr::memchr(b'\n', &rest[bytes_max..])?));
        self.piece_end = end.map_or(self.text.bytes.len(), |end| self.at + end + 1);
        last.is_some()
    }

    fn next_in_piece(&self) -> Option<Range<usize>> {
        let finder = &self.matcher.finder;
        let piece = &self.text.bytes[..self.piece_end];
        if finder.searches_several_lines() {
            fast(finder, piece, self.at)
        } else {
            line_by_line(finder, piece, self.at)
        }
    }
}

fn fast(matcher: &BoundedMatcher, text: &[u8], mut at: usize) -> Option<Range<usize>> {
    while at < text.len() {
        let (offset, confirmed) = match matcher.find_candidate_line(&text[at..]) {
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
        if confirmed || matcher.is_match_in_short(without_end(&text[line.clone()])) {
            return Some(line);
        }
    }
    None
}

fn line_by_line(matcher: &BoundedMatcher, text: &[u8], mut at: usize) -> Option<Range<usize>> {
    while at < text.len() {
        let line = line_around(text, at);
        at = line.end;
        if matcher.is_match_in_short(without_end(&text[line.clone()])) {
            return Some(line);
        }
    }
    None
}

pub(crate) fn line_around(text: &[u8], offset: usize) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &text[..offset]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[offset..]).map_or(text.len(), |end| offset + end + 1);
    start..end
}

/// Finds ranges in a matching line: ascending, up to [`RANGES_MAX`], fewer if steps run out or the
/// search stops.
pub fn ranges(
    matcher: &LineMatcher,
    line: Haystack<'_>,
    effort: &mut Effort<'_>,
    out: &mut Vec<(usize, usize)>,
) {
    collect_ranges(matcher, line, effort, out, |range, out| {
        out.push(range);
        ControlFlow::Continue(())
    });
}

/// Finds the first of the [`ranges`], and the first that `decides` the rank, if another.
pub fn first_range(
    matcher: &LineMatcher,
    line: Haystack<'_>,
    effort: &mut Effort<'_>,
    decides: impl Fn((usize, usize)) -> bool,
    out: &mut Vec<(usize, usize)>,
) {
    collect_ranges(matcher, line, effort, out, |range, out| {
        if decides(range) {
            out.push(range);
            return ControlFlow::Break(());
        }
        if out.is_empty() {
            out.push(range);
        }
        ControlFlow::Continue(())
    });
}

fn collect_ranges(
    matcher: &LineMatcher,
    line: Haystack<'_>,
    effort: &mut Effort<'_>,
    out: &mut Vec<(usize, usize)>,
    mut each: impl FnMut((usize, usize), &mut Vec<(usize, usize)>) -> ControlFlow<()>,
) {
    out.clear();
    if let Some(numbers) = &matcher.placed {
        effort.left = RANGES_STEPS_MAX;
        let mut found = Vec::new();
        for number in numbers {
            matcher.matchers[*number].ranges(line, effort, &mut found);
        }
        remove_overlaps(&mut found);
        found.truncate(RANGES_MAX);
        let mut found = found.into_iter();
        while found
            .next()
            .is_some_and(|range| each(range, out).is_continue())
        {}
    } else {
        collect_anywhere(matcher, line.bytes, effort, out, each);
    }
    if out.is_empty() {
        out.push((0, 0));
    }
}

fn collect_anywhere(
    matcher: &LineMatcher,
    line: &[u8],
    effort: &mut Effort<'_>,
    out: &mut Vec<(usize, usize)>,
    mut each: impl FnMut((usize, usize), &mut Vec<(usize, usize)>) -> ControlFlow<()>,
) {
    let mut count = 0;
    let finder = &matcher.finder;
    if let Some(literal) = finder
        .literal()
        .filter(|_| line.len() <= finder.piece_bytes())
    {
        literal.for_each(line, |found| {
            count += 1;
            each((found.start, found.end), out)?;
            if count < RANGES_MAX {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
    } else {
        effort.left = RANGES_STEPS_MAX;
        let (mut at, mut last_end) = (0, None);
        while count < RANGES_MAX
            && !effort.is_stopped()
            && let Ok(Some(found)) = finder.find(line, at, at == 0, effort)
        {
            at = found.end + usize::from(found.is_empty());
            // An empty match directly behind another does not count.
            if !found.is_empty() || last_end != Some(found.end) {
                count += 1;
                if each((found.start, found.end), out).is_break() {
                    break;
                }
            }
            last_end = Some(found.end);
        }
    }
}

pub(crate) fn plan(expr: &Expr) -> Result<TrigramQuery, BadExpr> {
    Ok(join(expr, &mut pattern::each(expr, plan_pattern)?))
}

pub(crate) fn plan_pattern(pattern: &Pattern) -> Result<TrigramQuery, BadPattern> {
    let is_definition = pattern.place.role == Role::Definition;
    if pattern.text.is_empty() {
        let all = is_definition.then_some(TrigramQuery::All);
        return all.ok_or_else(|| BadPattern::new("the pattern is empty"));
    }
    let Some(text) = pattern::literal(pattern) else {
        return index::plan::plan(&pattern::expression(pattern), pattern.ignore_case);
    };
    let plan = index::plan::plan_literal(text, pattern.ignore_case)?;
    let defined = is_definition
        .then(|| plan_definition(pattern, text))
        .flatten();
    Ok(TrigramQuery::and([plan].into_iter().chain(defined)))
}

/// Blocks that define a word; `None` if they are not listed.
fn plan_definition(pattern: &Pattern, word: &str) -> Option<TrigramQuery> {
    let is_word = word
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !pattern.word || !is_word {
        return None;
    }
    let other_cases = if pattern.ignore_case {
        index::plan::plan_other_cases(word)?
    } else {
        TrigramQuery::None
    };
    let keys = (1..=LEVEL_MAX).map(|level| Trigram::of_definition(word.as_bytes(), level));
    let keys = keys.map(TrigramQuery::Trigram);
    Some(TrigramQuery::or(keys.chain([other_cases])))
}

/// `queries` are those of the patterns, in order.
pub(crate) fn join(expr: &Expr, queries: &mut impl Iterator<Item = TrigramQuery>) -> TrigramQuery {
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

pub(crate) fn positive_patterns(expr: &Expr, negated: bool) -> Vec<&Pattern> {
    match expr {
        Expr::Pattern(pattern) if !negated => vec![pattern],
        Expr::Not(inner) => positive_patterns(inner, !negated),
        _ => {
            let parts = expr.parts().iter();
            let patterns = parts.flat_map(|it| positive_patterns(it, negated));
            patterns.collect()
        }
    }
}

/// Numbers among all patterns.
fn positive_numbers(expr: &Expr) -> Vec<usize> {
    let positive = positive_patterns(expr, false);
    let is_positive = |it: &&Pattern| positive.iter().any(|other| std::ptr::eq(*it, *other));
    let patterns = expr.patterns().into_iter().enumerate();
    let found = patterns.filter(|(_, it)| is_positive(it));
    found.map(|(number, _)| number).collect()
}

/// True if a line can match although no positive pattern does.
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
    matches!(expr, Expr::Line(_)) || expr.parts().iter().any(has_line)
}

/// Pattern to blame if all together are refused: the first refused alone, else the first.
fn first_bad(expr: &Expr, compiler: &Compiler) -> usize {
    let compiler = compiler.for_one_of(1);
    let is_bad = |pattern: &&Pattern| compiler.line(&[pattern]).is_err();
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
        LineMatcher::new(&Expr::Pattern(pattern), &Compiler::default().for_all()).unwrap()
    }

    fn lines(pattern: &str, text: &str) -> Vec<String> {
        let (matcher, mut effort) = (line_matcher(pattern), Effort::new(&|| false));
        let mut search = LineSearch::new(&matcher, Haystack::plain(text.as_bytes()), 0);
        let line = |line: Range<usize>| text[line].trim_end_matches(['\r', '\n']).to_owned();
        std::iter::from_fn(|| search.next(&mut effort).map(line)).collect()
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

    fn ranges_of(matcher: &LineMatcher, line: &[u8]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        ranges(
            matcher,
            Haystack::plain(line),
            &mut Effort::new(&|| false),
            &mut found,
        );
        found
    }

    #[test]
    fn ranges_are_found_and_limited() {
        for literal in ["a", "a-"] {
            let matcher = line_matcher(literal);
            assert_eq!(ranges_of(&matcher, &b"a-".repeat(1000)).len(), RANGES_MAX);
        }
        assert_eq!(ranges_of(&line_matcher("-;$"), b"-;-;"), [(2, 4)]);
        assert_eq!(ranges_of(&line_matcher("aa"), b"aaaaa"), [(0, 2), (2, 4)]);
        let matcher = line_matcher("(?i)a+|$");
        assert_eq!(ranges_of(&matcher, b"aaxA-"), [(0, 2), (3, 4), (5, 5)]);
        assert_eq!(ranges_of(&matcher, &b"a-".repeat(1000)).len(), RANGES_MAX);
    }

    #[test]
    fn steps_to_find_ranges_are_limited() {
        let matcher = line_matcher(".*[^A-Z]|[A-Z]");
        let long = b"A".repeat(80_000);
        assert_eq!(ranges_of(&matcher, &long).len(), RANGES_MAX);
        let very_long = b"A".repeat(20_000_000);
        assert!((1..RANGES_MAX).contains(&ranges_of(&matcher, &very_long).len()));
    }
}
