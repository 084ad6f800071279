//! What a query would cost, for programs: how it was understood, as a tree, and how much text the
//! index leaves to be read for it.

use super::json::{self, MissingJson, NoticeJson};
use frontend::SearchResult;
use frontend::query::{Notice, Query};
use schema::message::{Estimate, Expr, Field, Filter, Pattern, Reading, Syntax};

/// What a query would cost.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[schema(as = Explanation)]
pub(crate) struct ExplainPage {
    generation: String,
    interpreted_as: String,
    notices: Vec<NoticeJson>,
    /// Whether every shard was asked.
    complete: bool,
    missing: Vec<MissingJson>,
    /// What is said of a document that is found.
    expression: ExprJson,
    /// Whether names of documents are all that is found, never lines.
    names: bool,
    /// What is looked up in the index, of the whole expression.
    plan: String,
    /// Each pattern of the expression, in its order.
    patterns: Vec<PatternCostJson>,
    cost: CostJson,
    /// What would make it cost less, in words.
    cheaper: Vec<String>,
}

/// What one pattern would cost if it were alone, inside the filters.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[schema(as = PatternCost)]
struct PatternCostJson {
    pattern: PatternJson,
    /// What is looked up in the index for it.
    plan: String,
    /// Blocks of text that the index cannot rule out.
    blocks: u64,
    /// Of all blocks, from 0 to 1.
    share: f64,
}

/// What is to be read, and about how long that takes.
#[derive(Clone, Copy, Debug, serde::Serialize, utoipa::ToSchema)]
#[schema(as = Cost)]
pub(crate) struct CostJson {
    /// Blocks of text that the index cannot rule out, and which are read.
    pub(crate) blocks: u64,
    /// Blocks that there are.
    pub(crate) of: u64,
    /// `blocks` of `of`, from 0 to 1.
    pub(crate) share: f64,
    /// Bytes in them, about.
    pub(crate) bytes: u64,
    /// Processor time of the backends, about: what the estimate took, and so much a block.
    pub(crate) milliseconds: f64,
    pub(crate) class: Class,
}

/// Whether a search waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Class {
    /// It begins at once.
    Light,
    /// It may have to wait for others that cost as much.
    Heavy,
}

/// An expression as a tree: an object with one field, which says of what kind it is.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Expression)]
enum ExprJson {
    /// The text, or the path, matches.
    Pattern(PatternJson),
    /// The document is as the filter says.
    Filter(FilterJson),
    /// All of these hold.
    #[schema(no_recursion)]
    All(Vec<ExprJson>),
    /// One of these holds.
    #[schema(no_recursion)]
    Any(Vec<ExprJson>),
    /// It does not hold.
    #[schema(no_recursion)]
    Not(Box<ExprJson>),
    /// It holds of one single line.
    #[schema(no_recursion)]
    Line(Box<ExprJson>),
}

/// What is searched for.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[schema(as = Pattern)]
struct PatternJson {
    text: String,
    /// `literal` or `regexp`.
    syntax: &'static str,
    ignore_case: bool,
    /// No word character stands right before or behind it.
    word: bool,
    /// The path is searched, not the text.
    in_path: bool,
}

/// What is said of a document without a look at its text.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[schema(as = Filter)]
struct FilterJson {
    /// `package`, `path`, `language`, `extension` or `name`.
    field: &'static str,
    /// `regexp`, `exact` or `glob`.
    reading: &'static str,
    text: String,
}

impl ExplainPage {
    /// Of a query, what was said of it, and the estimate that was made for it.
    pub(crate) fn new(
        query: &Query,
        notices: &[Notice],
        answer: &SearchResult,
        cost: CostJson,
        cheaper: Vec<String>,
    ) -> ExplainPage {
        let explain = answer.explain();
        let patterns = query.expr().patterns().into_iter();
        let patterns = patterns.zip(&explain.estimates);
        ExplainPage {
            generation: answer.generation().to_owned(),
            interpreted_as: query.interpreted_as(),
            notices: json::notices(notices),
            complete: answer.is_complete(),
            missing: answer.missing().iter().map(Into::into).collect(),
            expression: ExprJson::from(query.expr()),
            names: query.names(),
            plan: explain.plan.clone(),
            patterns: patterns
                .map(|(pattern, estimate)| PatternCostJson::new(pattern, estimate, cost.of))
                .collect(),
            cost,
            cheaper,
        }
    }
}

impl PatternCostJson {
    fn new(pattern: &Pattern, estimate: &Estimate, of: u64) -> Self {
        PatternCostJson {
            pattern: pattern.into(),
            plan: estimate.plan.clone(),
            blocks: estimate.candidates,
            share: share(estimate.candidates, of),
        }
    }
}

/// A part of what there is, from 0 to 1.
pub(crate) fn share(part: u64, of: u64) -> f64 {
    match of {
        0 => 0.0,
        of => part as f64 / of as f64,
    }
}

impl From<&Expr> for ExprJson {
    fn from(expr: &Expr) -> Self {
        let all = |parts: &[Expr]| parts.iter().map(ExprJson::from).collect();
        match expr {
            Expr::Pattern(pattern) => ExprJson::Pattern(pattern.into()),
            Expr::Filter(filter) => ExprJson::Filter(filter.into()),
            Expr::All(parts) => ExprJson::All(all(parts)),
            Expr::Any(parts) => ExprJson::Any(all(parts)),
            Expr::Not(inner) => ExprJson::Not(Box::new(ExprJson::from(&**inner))),
            Expr::Line(inner) => ExprJson::Line(Box::new(ExprJson::from(&**inner))),
        }
    }
}

impl From<&Pattern> for PatternJson {
    fn from(pattern: &Pattern) -> Self {
        PatternJson {
            text: pattern.text.clone(),
            syntax: match pattern.syntax {
                Syntax::Literal => "literal",
                Syntax::Regexp => "regexp",
            },
            ignore_case: pattern.ignore_case,
            word: pattern.word,
            in_path: pattern.in_path,
        }
    }
}

impl From<&Filter> for FilterJson {
    fn from(filter: &Filter) -> Self {
        FilterJson {
            field: match filter.field {
                Field::Package => "package",
                Field::Path => "path",
                Field::Language => "language",
                Field::Extension => "extension",
                Field::Name => "name",
            },
            reading: match filter.reading {
                Reading::Regexp => "regexp",
                Reading::Exact => "exact",
                Reading::Glob => "glob",
            },
            text: filter.text.clone(),
        }
    }
}
