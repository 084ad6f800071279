//! Matches a line: one of several patterns matches in it, or an expression of patterns does.
//!
//! **Invariant:** whether a line matches depends on that line alone.

use crate::bad_expr::BadExpr;
use crate::pattern::{self, SizeLimits, infallible};
use grep_matcher::Matcher;
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
        let finder = pattern::compile_line(&found_patterns(expr), limits);
        let finder = finder.map_err(|bad| BadExpr::new(first_bad(expr), bad))?;
        let condition = has_line(expr).then(|| LineCondition::new(expr, limits, &mut 0));
        Ok(LineMatcher {
            finder,
            condition: condition.transpose()?,
        })
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
    fn new(expr: &Expr, limits: SizeLimits, next: &mut usize) -> Result<LineCondition, BadExpr> {
        let mut each = |parts: &[Expr]| {
            let parts = parts.iter().map(|it| LineCondition::new(it, limits, next));
            parts.collect::<Result<Vec<_>, _>>()
        };
        Ok(match expr {
            Expr::All(parts) => LineCondition::All(each(parts)?),
            Expr::Any(parts) => LineCondition::Any(each(parts)?),
            Expr::Not(inner) => {
                LineCondition::Not(Box::new(LineCondition::new(inner, limits, next)?))
            }
            Expr::Line(inner) => LineCondition::new(inner, limits, next)?,
            Expr::Filter(_) => LineCondition::All(Vec::new()),
            Expr::Pattern(pattern) => {
                let number = *next;
                *next += 1;
                let matcher = pattern::compile_line(&[pattern], limits);
                LineCondition::Matches(matcher.map_err(|bad| BadExpr::new(number, bad))?)
            }
        })
    }

    fn matches(&self, line: &[u8]) -> bool {
        match self {
            LineCondition::Matches(matcher) => infallible(matcher.is_match(line)),
            LineCondition::All(parts) => parts.iter().all(|part| part.matches(line)),
            LineCondition::Any(parts) => parts.iter().any(|part| part.matches(line)),
            LineCondition::Not(inner) => !inner.matches(line),
        }
    }
}

/// Returns the patterns that are found and shown in a matching line: those that are not negated. It
/// is empty, so that any line is found, if the expression can match without any of them.
fn found_patterns(expr: &Expr) -> Vec<&Pattern> {
    if matches_without_patterns(expr) {
        Vec::new()
    } else {
        positive_patterns(expr, false)
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
    plan_from(expr, &mut 0)
}

fn plan_from(expr: &Expr, next: &mut usize) -> Result<TrigramQuery, BadExpr> {
    let mut each = |parts: &[Expr]| {
        let parts = parts.iter().map(|part| plan_from(part, next));
        parts.collect::<Result<Vec<_>, _>>()
    };
    match expr {
        Expr::Pattern(pattern) => {
            let number = *next;
            *next += 1;
            pattern::plan(pattern).map_err(|bad| BadExpr::new(number, bad))
        }
        Expr::Filter(_) => Ok(TrigramQuery::All),
        Expr::All(parts) => Ok(TrigramQuery::and(each(parts)?)),
        Expr::Any(parts) => Ok(TrigramQuery::or(each(parts)?)),
        Expr::Not(inner) => plan_from(inner, next).map(|_| TrigramQuery::All),
        Expr::Line(inner) => plan_from(inner, next),
    }
}
