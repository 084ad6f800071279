//! Compiled expression with its document filters.
//!
//! The index applies conjunctive filters first. The rest is matched line by line for nearly all
//! queries ([`Strategy::Lines`]), else document by document ([`Strategy::Documents`]).

use super::bad_expr::BadExpr;
use super::compile_cost;
use super::compiler::Compiler;
use super::document_matcher::{self, DocumentMatcher};
use super::filters;
use super::line_matcher::{self, LineMatcher};
use super::pattern::{self, DefinedWords};
use super::phrase::Phrase;
use super::place;
use crate::rank::{self, Tier};
use index::document;
use index::filter::Filters;
use index::plan::{DocumentQuery, TrigramQuery};
use schema::message::{Expr, Field, Pattern, Role};

pub struct CompiledQuery {
    pub filters: Filters,
    /// Matching of the rest.
    pub strategy: Strategy,
    /// Literals not negated, for ranking by path.
    pub literals: Vec<String>,
    /// Words, at least one in any definition of a match. `None` if unknown: a match may be any
    /// text, or several words.
    pub defined_words: Option<DefinedWords>,
    /// Report documents by name instead of lines.
    pub finds_names: bool,
    /// One per pattern.
    pub pattern_plans: Vec<DocumentQuery>,
    /// Phrase as typed. Its lines come first.
    pub phrase: Option<Phrase>,
    /// A pattern asks for the names of parents.
    pub(crate) has_parents: bool,
    pub(crate) is_placed: bool,
    pub(crate) finds_symbols: bool,
    /// Without `filters`.
    rest: Expr,
    compiler: Compiler,
}

pub enum Strategy {
    Lines {
        matcher: Box<LineMatcher>,
        /// Finds candidate blocks.
        query: TrigramQuery,
    },
    Documents(Box<DocumentMatcher>),
}

impl CompiledQuery {
    /// Finds lines, or document names.
    pub fn new(expr: &Expr, finds_names: bool) -> Result<CompiledQuery, BadExpr> {
        CompiledQuery::compile(expr, finds_names, &Compiler::default())
    }

    /// Like [`new`](Self::new), with kept matchers. Fails once `compiler` is stopped.
    pub(crate) fn compile(
        expr: &Expr,
        finds_names: bool,
        compiler: &Compiler,
    ) -> Result<CompiledQuery, BadExpr> {
        let (mut filters, mut rest) = (Filters::default(), Vec::new());
        // Number of each pattern and filter in the whole expression.
        let (mut atom, mut numbers) = (0, Vec::new());
        for factor in expr.factors() {
            if factor.is_filter() {
                filters.add(filters::compile(factor, &mut atom, compiler)?);
                continue;
            }
            let first = atom;
            atom += factor.atoms().len();
            numbers.extend(first..atom);
            rest.push(factor.clone());
        }
        if expr.atoms().into_iter().any(is_of_revisions) {
            filters.all_revisions = true;
        }
        filters.in_histories = expr.is_of_history();
        let renumber = |bad: BadExpr| BadExpr {
            atom: numbers.get(bad.atom).copied().unwrap_or_default(),
            ..bad
        };
        let rest = Expr::all(rest);
        place::check(&rest).map_err(renumber)?;
        let pattern_plans = pattern_plans(&rest).map_err(renumber)?;
        compile_cost::check_total_size(&rest.patterns())
            .map_err(|bad| renumber(BadExpr::new(0, bad)))?;
        let positive = line_matcher::positive_patterns(&rest, false);
        let defined_words = DefinedWords::of(&positive);
        let positive = positive.iter().copied();
        Ok(CompiledQuery {
            defined_words,
            filters,
            strategy: Strategy::new(&rest, finds_names, &pattern_plans, compiler)
                .map_err(renumber)?,
            literals: positive.flat_map(pattern::forms).collect(),
            finds_names,
            pattern_plans,
            phrase: None,
            is_placed: rest.patterns().iter().any(|it| !it.place.is_anywhere()),
            has_parents: rest.patterns().iter().any(|it| !it.place.parent.is_empty()),
            finds_symbols: (rest.patterns().iter()).any(|it| it.place.role == Role::Definition),
            rest,
            compiler: compiler.clone(),
        })
    }

    /// True if path or query word has the package's own name; `None` if unknown.
    pub(crate) fn is_own(&self, package: &[u8], path: &[u8]) -> Option<bool> {
        self.defined_words.as_ref()?;
        let mut literals = self.literals.iter().map(String::as_bytes);
        let is_named = document::is_named_in(package, path)
            || literals.any(|literal| document::is_named_in(package, literal));
        Some(is_named)
    }

    /// Puts lines of these patterns first, best first, then lines with all words, then those with
    /// near words.
    pub fn preferring(self, patterns: &[Pattern]) -> CompiledQuery {
        let phrase =
            Phrase::new(&self.rest, patterns, &self.compiler).filter(|_| !self.finds_names);
        CompiledQuery { phrase, ..self }
    }

    pub(crate) fn best_tier(&self) -> Tier {
        self.phrase.as_ref().map_or(Tier::default(), |_| Tier::MAX)
    }

    /// For a match up to `static_rank`.
    pub(crate) fn bound(&self, static_rank: f32) -> f32 {
        rank::bound(static_rank, self.best_tier(), self.finds_names)
    }

    pub(crate) fn is_slow(&self, blocks: u64) -> bool {
        match &self.strategy {
            Strategy::Lines { matcher, .. } => matcher.is_slow(blocks),
            Strategy::Documents(matcher) => matcher.is_slow(),
        }
    }

    pub fn plan_text(&self) -> String {
        match &self.strategy {
            Strategy::Lines { query, .. } => query.to_string(),
            Strategy::Documents(matcher) => matcher.query.to_string(),
        }
    }
}

impl Strategy {
    fn new(
        expr: &Expr,
        finds_names: bool,
        plans: &[DocumentQuery],
        compiler: &Compiler,
    ) -> Result<Strategy, BadExpr> {
        if finds_names || !is_line_expr(expr) {
            let matcher = DocumentMatcher::new(expr, finds_names, compiler)?;
            return Ok(Strategy::Documents(Box::new(matcher)));
        }
        let compiler = compiler.for_one_of(expr.patterns().len());
        let matcher = Box::new(LineMatcher::new(expr, &compiler)?);
        let of_blocks = plans.iter().map(|plan| match plan {
            DocumentQuery::Block(query) => Some(query.clone()),
            _ => None,
        });
        let query = match of_blocks.collect::<Option<Vec<_>>>() {
            Some(plans) => line_matcher::join(expr, &mut plans.into_iter()),
            None => line_matcher::plan(expr)?,
        };
        Ok(Strategy::Lines { matcher, query })
    }
}

fn is_of_revisions(atom: &Expr) -> bool {
    matches!(atom, Expr::Filter(it) if matches!(it.field, Field::Revision | Field::Branch))
}

fn pattern_plans(expr: &Expr) -> Result<Vec<DocumentQuery>, BadExpr> {
    let mut plans = Vec::new();
    for (number, atom) in expr.atoms().into_iter().enumerate() {
        if let Expr::Pattern(it) = atom {
            let plan = document_matcher::plan_pattern(it);
            plans.push(plan.map_err(|bad| BadExpr::new(number, bad))?);
        }
    }
    Ok(plans)
}

/// True for a pattern within a line, an alternative of those, or an expression on one line.
fn is_line_expr(expr: &Expr) -> bool {
    match expr {
        Expr::Pattern(it) => !it.in_path && !pattern::is_multiline(it),
        Expr::Line(_) => true,
        Expr::Any(parts) => parts.iter().all(is_line_expr),
        Expr::All(_) | Expr::Not(_) | Expr::Filter(_) => false,
    }
}

#[cfg(test)]
mod tests;
