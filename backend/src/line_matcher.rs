//! Matches a line: one of several patterns matches in it, or an expression of patterns does.
//!
//! **Invariant:** whether a line matches depends on that line alone.

use crate::bad_expr::BadExpr;
use crate::pattern::{self, SizeLimits};
use grep_regex::RegexMatcher;
use index::plan::TrigramQuery;
use schema::message::{Expr, Pattern};

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

/// Returns a query for the blocks in which a line may match.
pub(crate) fn plan(expr: &Expr) -> Result<TrigramQuery, BadExpr> {
    Ok(join(expr, &mut pattern::each(expr, pattern::plan)?))
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
