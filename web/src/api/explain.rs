//! Estimated cost of a query, and suggestions for expensive ones. Backends read their indexes, but
//! no text.

use super::call::Call;
use super::limits::HEAVY_BLOCKS;
use super::openapi::described as doc;
use crate::http::response;
use crate::model::{CostClass, Explanation, Missing, PatternCost, SearchCost, notices, share};
use crate::problem::Problem;
use crate::search::run;
use axum::response::Response;
use frontend::query::Query;
use frontend::{BackendStatus, SearchResult};
use schema::message::{Estimate, Expr, Pattern, Syntax, Want};

/// Processor time per block of 4 KiB, in microseconds: 1.5 to 1.9 to count frequent words of Debian
/// source, about 5 to send all their matches.
const BLOCK_US: f64 = 2.0;

/// Fallback without data of backends.
const BLOCK_BYTES: u64 = 4096;

/// Share of blocks above which the index hardly helps a pattern.
const SHARE_LARGE: f64 = 0.5;

const TRIGRAM_BYTES: usize = 3;

/// Estimate the cost of a query.
#[utoipa::path(
    get, path = "/api/v2/explain", operation_id = "explain", tag = "search",
    params(doc::QueryParams),
    responses((status = 200, description = "What the query would cost", body = Explanation), doc::Searching)
)]
pub(crate) async fn explain(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::QueryParams::NAMES])?;
    let mut parsed = call.params.parsed()?;
    let query = parsed.query.clone();
    parsed.query = parsed.query.wanting(Want::Estimate, 0)?;
    let scope = call.viewer.scope().await?;
    let search = call.start(&scope, &mut parsed).await?;
    let answer = run::finished(&search, Some(&parsed)).await?;
    let cost = cost(&answer, &call.coordinator.backends(&scope));
    let cheaper = suggestions(&query, &answer.explain().estimates, &cost);
    let patterns = query.expr.patterns().into_iter();
    let patterns = patterns.zip(&answer.explain().estimates);
    Ok(response::json(&Explanation {
        generation: answer.generation().to_owned(),
        interpreted_as: query.interpreted_as(),
        notices: notices(&parsed.notices),
        complete: answer.is_complete(),
        missing: Missing::of(&answer),
        expression: (&query.expr).into(),
        names: query.names,
        plan: answer.explain().plan.clone(),
        patterns: patterns
            .map(|(pattern, estimate)| PatternCost::new(pattern, estimate, cost.of))
            .collect(),
        cost,
        cheaper,
    }))
}

fn cost(answer: &SearchResult, backends: &[BackendStatus]) -> SearchCost {
    let (explain, phases) = (answer.explain(), answer.outcome.timings.phases);
    let blocks = explain.sum.candidates;
    let verify_us = blocks as f64 * BLOCK_US;
    let estimate_us = (phases.plan_us + phases.candidates_us) as f64;
    SearchCost {
        blocks,
        of: explain.sum.blocks,
        share: share(blocks, explain.sum.blocks),
        bytes: blocks.saturating_mul(block_bytes(backends)),
        milliseconds: (estimate_us + verify_us).round() / 1000.0,
        class: if blocks > HEAVY_BLOCKS {
            CostClass::Heavy
        } else {
            CostClass::Light
        },
    }
}

fn block_bytes(backends: &[BackendStatus]) -> u64 {
    let blocks: u64 = backends.iter().map(|backend| backend.blocks).sum();
    let bytes: u64 = backends.iter().map(|backend| backend.text_bytes).sum();
    bytes.checked_div(blocks).unwrap_or(BLOCK_BYTES)
}

/// Empty for a cheap query.
fn suggestions(query: &Query, estimates: &[Estimate], cost: &SearchCost) -> Vec<String> {
    let is_cheap = cost.class == CostClass::Light && cost.share < SHARE_LARGE;
    if cost.blocks == 0 || is_cheap {
        return Vec::new();
    }
    let expr = &query.expr;
    let patterns = expr.patterns().into_iter().zip(estimates);
    let large_blocks = cost.of as f64 * SHARE_LARGE;
    let large = patterns.filter(|(pattern, estimate)| {
        !pattern.in_path && estimate.candidates as f64 > large_blocks
    });
    let mut said: Vec<String> = large.map(|(pattern, _)| longer(pattern)).collect();
    if is_negative(expr) {
        let add = "the query only excludes, so all files are read: add a word or a filter";
        said.push(add.to_owned());
    }
    if !has_filter(expr) {
        let restrict = "restrict the search to a package, a language or a directory \
                        (package:, lang:, path:)";
        said.push(restrict.to_owned());
    }
    said.dedup();
    said
}

/// Suggests a change to a pattern that the index does not narrow down.
fn longer(pattern: &Pattern) -> String {
    let text = &pattern.text;
    match pattern.syntax {
        Syntax::Literal if text.len() < TRIGRAM_BYTES => format!(
            "{text:?} has fewer than three bytes, which the index cannot look up: add the text \
             beside it"
        ),
        Syntax::Literal => {
            format!("{text:?} is in most blocks: add the text beside it, or a rarer word")
        }
        Syntax::Regexp => format!(
            "/{text}/ has no rare three bytes that every match contains: add letters, or a word \
             that the file must contain too"
        ),
    }
}

/// Returns true if documents can match without any pattern or filter.
fn is_negative(expr: &Expr) -> bool {
    match expr {
        Expr::Pattern(_) | Expr::Filter(_) | Expr::Line(_) => false,
        Expr::Not(_) => true,
        Expr::All(parts) => parts.iter().all(is_negative),
        Expr::Any(parts) => parts.iter().any(is_negative),
    }
}

/// Returns true if matching documents must satisfy a filter.
fn has_filter(expr: &Expr) -> bool {
    expr.factors().iter().any(|factor| match factor {
        Expr::Filter(_) => true,
        Expr::Any(parts) => parts.iter().all(has_filter),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::{Field, Filter, Reading};

    fn pattern(text: &str, syntax: Syntax) -> Expr {
        Expr::Pattern(Pattern {
            text: text.to_owned(),
            syntax,
            ..Pattern::default()
        })
    }

    fn cost(blocks: u64) -> SearchCost {
        SearchCost {
            blocks,
            of: 100_000,
            share: blocks as f64 / 100_000.0,
            bytes: 0,
            milliseconds: 0.0,
            class: if blocks > 8192 {
                CostClass::Heavy
            } else {
                CostClass::Light
            },
        }
    }

    fn check(expr: Expr, blocks: u64) -> Vec<String> {
        let query = Query::new(expr, 0).unwrap();
        let estimate = Estimate {
            plan: "all".to_owned(),
            candidates: blocks,
        };
        let estimates = vec![estimate; query.expr.patterns().len()];
        let said = suggestions(&query, &estimates, &cost(blocks));
        let first = |said: &String| said.split(' ').take(3).collect::<Vec<_>>().join(" ");
        said.iter().map(first).collect()
    }

    #[test]
    fn suggests_longer_patterns_and_filters() {
        let short = pattern("if", Syntax::Literal);
        let said = check(short.clone(), 100_000);
        assert_eq!(said, ["\"if\" has fewer", "restrict the search"]);
        let regexp = pattern(";$", Syntax::Regexp);
        assert_eq!(check(regexp, 100_000)[0], "/;$/ has no");
        let filter = Expr::Filter(Filter {
            field: Field::Language,
            reading: Reading::Exact,
            text: "C".to_owned(),
        });
        let filtered = Expr::all([short.clone(), filter]);
        assert_eq!(check(filtered, 100_000), ["\"if\" has fewer"]);
        let negative = check(pattern("foo", Syntax::Literal).negated(), 100_000);
        assert!(
            negative.contains(&"the query only".to_owned()),
            "{negative:?}"
        );
    }

    #[test]
    fn suggests_nothing_for_cheap_queries() {
        assert!(check(pattern("if", Syntax::Literal), 8192).is_empty());
        assert!(check(pattern("if", Syntax::Literal), 0).is_empty());
        let common = check(pattern("printf", Syntax::Literal), 9000);
        assert_eq!(
            common,
            ["restrict the search"],
            "it is not in most of the text"
        );
    }
}
