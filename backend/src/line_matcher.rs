//! The judge of a line: patterns one of which matches in it, or that are said of it together.
//!
//! **Invariant:** what it says of a line depends on that line alone.

use crate::bad_expr::BadExpr;
use crate::pattern::{self, SizeLimits};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use index::plan::TrigramQuery;
use schema::message::{Expr, Pattern};

/// Says whether a line matches. Clones have caches of their own: shared ones are taken and put back
/// for every line, which two workers contend for.
#[derive(Clone, Debug)]
pub struct LineMatcher {
    /// Finds lines that may match, and in those that do what matches.
    pub finder: RegexMatcher,
    /// What else must hold of a line, when that is not enough.
    check: Option<LineCondition>,
}

/// What is said of a line.
#[derive(Clone, Debug)]
enum LineCondition {
    Matches(RegexMatcher),
    All(Vec<LineCondition>),
    Any(Vec<LineCondition>),
    Not(Box<LineCondition>),
}

impl LineMatcher {
    /// The judge of an expression of patterns, as it is said of one line: `Any` of patterns and of
    /// `Line`s, or one of these.
    pub(crate) fn new(expr: &Expr, room: SizeLimits) -> Result<LineMatcher, BadExpr> {
        let shown = shown(expr, false);
        let finder = pattern::matcher(&shown, room);
        let finder = finder.map_err(|bad| BadExpr::new(first_bad(expr), bad))?;
        let check = match has_line(expr) {
            true => Some(LineCondition::new(expr, room, &mut 0)?),
            false => None,
        };
        Ok(LineMatcher { finder, check })
    }

    /// The judge of an expression of which all patterns have been compiled, and fit together.
    pub(crate) fn joined(expr: &Expr) -> Result<LineMatcher, BadExpr> {
        LineMatcher::new(expr, SizeLimits::OF_ALL)
    }

    /// Whether a line in which the finder has found something matches; `line` is without its end.
    pub(crate) fn confirms(&self, line: &[u8]) -> bool {
        self.check.as_ref().is_none_or(|check| check.holds(line))
    }

    /// Whether nothing is to be confirmed.
    pub(crate) fn is_plain(&self) -> bool {
        self.check.is_none()
    }
}

impl LineCondition {
    fn new(expr: &Expr, room: SizeLimits, next: &mut usize) -> Result<LineCondition, BadExpr> {
        let mut each = |parts: &[Expr]| {
            let parts = parts
                .iter()
                .map(|part| LineCondition::new(part, room, next));
            parts.collect::<Result<Vec<_>, _>>()
        };
        Ok(match expr {
            Expr::All(parts) => LineCondition::All(each(parts)?),
            Expr::Any(parts) => LineCondition::Any(each(parts)?),
            Expr::Not(inner) => {
                LineCondition::Not(Box::new(LineCondition::new(inner, room, next)?))
            }
            Expr::Line(inner) => LineCondition::new(inner, room, next)?,
            Expr::Filter(_) => LineCondition::All(Vec::new()),
            Expr::Pattern(pattern) => {
                let number = *next;
                *next += 1;
                let matcher = pattern::matcher(&[pattern], room);
                LineCondition::Matches(matcher.map_err(|bad| BadExpr::new(number, bad))?)
            }
        })
    }

    fn holds(&self, line: &[u8]) -> bool {
        match self {
            LineCondition::Matches(matcher) => matcher
                .is_match(line)
                .unwrap_or_else(|error| unreachable!("{error}")),
            LineCondition::All(parts) => parts.iter().all(|part| part.holds(line)),
            LineCondition::Any(parts) => parts.iter().any(|part| part.holds(line)),
            LineCondition::Not(inner) => !inner.holds(line),
        }
    }
}

/// The patterns that are shown in a line of which the expression holds: those not below a `Not`. When
/// it can hold without any of them, none, for which any line is found.
fn shown(expr: &Expr, negated: bool) -> Vec<&Pattern> {
    match can_hold_without(expr) {
        true => Vec::new(),
        false => shown_below(expr, negated),
    }
}

fn shown_below(expr: &Expr, negated: bool) -> Vec<&Pattern> {
    match expr {
        Expr::Pattern(pattern) if !negated => vec![pattern],
        Expr::Pattern(_) | Expr::Filter(_) => Vec::new(),
        Expr::All(parts) | Expr::Any(parts) => {
            let parts = parts.iter();
            parts.flat_map(|part| shown_below(part, negated)).collect()
        }
        Expr::Not(inner) => shown_below(inner, !negated),
        Expr::Line(inner) => shown_below(inner, negated),
    }
}

/// Whether an expression can hold of a line in which no pattern matches that is not below a `Not`.
fn can_hold_without(expr: &Expr) -> bool {
    match expr {
        Expr::Pattern(_) => false,
        Expr::Not(_) | Expr::Filter(_) => true,
        Expr::All(parts) => parts.iter().all(can_hold_without),
        Expr::Any(parts) => parts.iter().any(can_hold_without),
        Expr::Line(inner) => can_hold_without(inner),
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

/// The pattern that is to blame when all of them together are refused: the first that is refused by
/// itself, or the first of all.
fn first_bad(expr: &Expr) -> usize {
    let patterns = expr.patterns();
    let is_bad =
        |pattern: &&Pattern| pattern::matcher(&[pattern], SizeLimits::of_one_of(1)).is_err();
    patterns.iter().position(is_bad).unwrap_or(0)
}

/// What a block must hold for an expression to hold of a line of it.
pub(crate) fn plan(expr: &Expr) -> Result<TrigramQuery, BadExpr> {
    plan_from(expr, &mut 0)
}

fn plan_from(expr: &Expr, next: &mut usize) -> Result<TrigramQuery, BadExpr> {
    match expr {
        Expr::Pattern(pattern) => {
            let number = *next;
            *next += 1;
            pattern::plan(pattern).map_err(|bad| BadExpr::new(number, bad))
        }
        Expr::Filter(_) => Ok(TrigramQuery::All),
        Expr::All(parts) => {
            let parts = parts.iter().map(|part| plan_from(part, next));
            Ok(TrigramQuery::and(parts.collect::<Result<Vec<_>, _>>()?))
        }
        Expr::Any(parts) => {
            let parts = parts.iter().map(|part| plan_from(part, next));
            Ok(TrigramQuery::or(parts.collect::<Result<Vec<_>, _>>()?))
        }
        Expr::Not(inner) => plan_from(inner, next).map(|_| TrigramQuery::All),
        Expr::Line(inner) => plan_from(inner, next),
    }
}
