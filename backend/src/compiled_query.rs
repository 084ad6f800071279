//! An expression, compiled: what is looked for in which documents.
//!
//! Filters that must all hold are the index's business, and are asked first. What is left is, for
//! nearly all queries, decided line by line ([`Strategy::Lines`]); else documents are judged as wholes
//! ([`Strategy::Documents`]).

use crate::bad_expr::BadExpr;
use crate::document_matcher::DocumentMatcher;
use crate::line_matcher::{self, LineMatcher};
use crate::pattern::{self, SizeLimits};
use index::filter::{FilterExpr, Filters, Predicate, Value};
use index::plan::{DocumentQuery, TrigramQuery};
use schema::message::{Expr, Field, Filter, Reading};

/// An expression, compiled.
pub struct CompiledQuery {
    /// Which documents are searched.
    pub filters: Filters,
    /// What is looked for in them.
    pub strategy: Strategy,
    /// What ranking looks for in paths: the literals that are not below a `Not`.
    pub literals: Vec<String>,
    /// What is found of a document is its name.
    pub names: bool,
    /// Of each pattern, what a document must hold for it to match there.
    pub plans: Vec<DocumentQuery>,
}

/// How it is decided what is found.
pub enum Strategy {
    /// Line by line.
    Lines {
        /// The judge of a line.
        matcher: Box<LineMatcher>,
        /// Which blocks to look at.
        query: TrigramQuery,
    },
    /// Document by document.
    Documents(Box<DocumentMatcher>),
}

impl CompiledQuery {
    /// Compiles an expression, of which lines are found, or names of documents.
    pub fn new(expr: &Expr, names: bool) -> Result<CompiledQuery, BadExpr> {
        let (mut filters, mut rest) = (Filters::default(), Vec::new());
        // Of each pattern and filter of the rest, which one it is in the whole.
        let (mut atom, mut whole) = (0, Vec::new());
        for factor in expr.factors() {
            if factor.is_filter() {
                filters.add(tree(factor, &mut atom)?);
                continue;
            }
            let first = atom;
            atom += factor.atoms().len();
            whole.extend(first..atom);
            rest.push(factor.clone());
        }
        let of_whole = |bad: BadExpr| BadExpr {
            atom: whole.get(bad.atom).copied().unwrap_or_default(),
            ..bad
        };
        let rest = Expr::all(rest);
        let plans = plans(&rest).map_err(of_whole)?;
        let all = pattern::check_all(&rest.patterns());
        all.map_err(|bad| of_whole(BadExpr::new(0, bad)))?;
        let strategy = Strategy::new(&rest, names).map_err(of_whole)?;
        Ok(CompiledQuery {
            filters,
            strategy,
            literals: literals(&rest, false)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            names,
            plans,
        })
    }

    /// What blocks or documents must hold, for people.
    pub fn plan_text(&self) -> String {
        match &self.strategy {
            Strategy::Lines { query, .. } => query.to_string(),
            Strategy::Documents(matcher) => matcher.plan_text(),
        }
    }
}

impl Strategy {
    fn new(expr: &Expr, names: bool) -> Result<Strategy, BadExpr> {
        if names || !is_of_lines(expr) {
            let matcher = DocumentMatcher::new(expr, names)?;
            return Ok(Strategy::Documents(Box::new(matcher)));
        }
        Ok(Strategy::Lines {
            matcher: Box::new(LineMatcher::new(
                expr,
                SizeLimits::of_one_of(expr.patterns().len()),
            )?),
            query: line_matcher::plan(expr)?,
        })
    }
}

/// Of each pattern, what a document must hold for it to match there.
fn plans(expr: &Expr) -> Result<Vec<DocumentQuery>, BadExpr> {
    let mut plans = Vec::new();
    for (number, atom) in expr.atoms().into_iter().enumerate() {
        if let Expr::Pattern(it) = atom {
            let planned = match (it.in_path, pattern::crosses_lines(it)) {
                (true, _) => pattern::plan(it).map(|_| DocumentQuery::ALL),
                (_, true) => pattern::plan_multiline(it),
                (_, false) => pattern::plan(it).map(DocumentQuery::Block),
            };
            plans.push(planned.map_err(|bad| BadExpr::new(number, bad))?);
        }
    }
    Ok(plans)
}

/// Whether an expression is decided line by line: one pattern within a line, several of which one
/// suffices, or what is said of a line.
fn is_of_lines(expr: &Expr) -> bool {
    match expr {
        Expr::Pattern(it) => !it.in_path && !pattern::crosses_lines(it),
        Expr::Line(_) => true,
        Expr::Any(parts) => parts.iter().all(is_of_lines),
        Expr::All(_) | Expr::Not(_) | Expr::Filter(_) => false,
    }
}

/// The literals that are not below a `Not`.
fn literals(expr: &Expr, negated: bool) -> Vec<&str> {
    match expr {
        Expr::Pattern(it) if !negated => pattern::literal(it).into_iter().collect(),
        Expr::Pattern(_) | Expr::Filter(_) => Vec::new(),
        Expr::All(parts) | Expr::Any(parts) => {
            let parts = parts.iter();
            parts.flat_map(|part| literals(part, negated)).collect()
        }
        Expr::Not(inner) => literals(inner, !negated),
        Expr::Line(inner) => literals(inner, negated),
    }
}

/// An expression of filters as the index takes it; `atom` counts them.
pub(crate) fn tree(expr: &Expr, atom: &mut usize) -> Result<FilterExpr, BadExpr> {
    let mut each = |parts: &[Expr]| {
        let parts = parts.iter().map(|part| tree(part, atom));
        parts.collect::<Result<Vec<_>, _>>()
    };
    Ok(match expr {
        Expr::All(parts) => FilterExpr::All(each(parts)?),
        Expr::Any(parts) => FilterExpr::Any(each(parts)?),
        Expr::Not(inner) => FilterExpr::Not(Box::new(tree(inner, atom)?)),
        Expr::Line(inner) => tree(inner, atom)?,
        // Nobody asks for the tree of a pattern.
        Expr::Pattern(_) => FilterExpr::All(Vec::new()),
        Expr::Filter(filter) => {
            let number = *atom;
            *atom += 1;
            FilterExpr::Predicate(test(filter, number)?)
        }
    })
}

fn test(filter: &Filter, atom: usize) -> Result<Predicate, BadExpr> {
    let text = &filter.text[..];
    let value = match filter.reading {
        Reading::Regexp => Value::Regexp(text),
        Reading::Exact => Value::Exact(text),
        Reading::Glob => Value::Glob(text),
    };
    let bad = |field| move |bad| BadExpr::filter(atom, field, bad);
    match (filter.field, filter.reading) {
        (Field::Package, _) => Predicate::package(value).map_err(bad("package")),
        (Field::Path, _) => Predicate::path(value).map_err(bad("path")),
        (Field::Name, _) => Predicate::name(value).map_err(bad("name")),
        (Field::Extension, Reading::Exact) => Ok(Predicate::extension(text)),
        (Field::Language, Reading::Exact) => {
            Predicate::language(text).map_err(|unknown| BadExpr::language(atom, &unknown))
        }
        (Field::Extension | Field::Language, _) => Err(BadExpr {
            atom,
            at: None,
            reason: "a language or an extension is a name, not a regular expression or glob"
                .to_owned(),
            hint: String::new(),
        }),
    }
}

#[cfg(test)]
mod tests;
