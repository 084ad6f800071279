//! `trawl inspect --plan PATTERN`: the posting lists that a search reads in each shard, in which order,
//! and how many candidates they leave.

use super::limited::print_rest;
use crate::print::plan_in_words;
use crate::{query, units};
use anyhow::Result;
use backend::compiled_query::{CompiledQuery, Strategy};
use frontend::{BadQuery, Query};
use index::directory::Index;
use index::plan;
use index::shard::{Candidates, Shard};
use schema::message::{Expr, Pattern};
use std::io::Write;
use std::process::ExitCode;

pub(super) fn show(
    index: &Index,
    pattern: Pattern,
    limit: usize,
    out: &mut impl Write,
) -> Result<ExitCode> {
    let text = pattern.text.clone();
    let plan = match compile(pattern) {
        Ok(plan) => plan,
        Err(bad) => return Ok(query::report_bad_query(&text, &bad)),
    };
    let shards = index.shards.iter();
    let blocks = shards.map(|shard| u64::from(shard.live_counts().blocks));
    writeln!(out, "{}", plan_in_words(&plan.to_string(), blocks.sum()))?;
    for shard in &index.shards {
        let candidates = candidates(shard, &plan)?;
        writeln!(out, "{}: {candidates}", shard.path().display())?;
        if plan != plan::TrigramQuery::All {
            writeln!(out, "  {:>12}  in this order", "blocks")?;
            show_steps(shard, &plan, 0, limit, out)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn compile(pattern: Pattern) -> Result<plan::TrigramQuery, BadQuery> {
    let query = Query::new(Expr::Pattern(pattern), 0)?;
    let compiled = CompiledQuery::new(query.expr(), false).map_err(|refused| {
        let mut bad = BadQuery::new(refused.reason);
        bad.at = refused.at;
        bad
    })?;
    match compiled.strategy {
        Strategy::Lines { query, .. } => Ok(query),
        Strategy::Documents(_) => Err(BadQuery::new(
            "a pattern that crosses lines is planned by document; --plan shows plans by block",
        )),
    }
}

/// How many blocks are candidates, and how much text that is.
fn candidates(shard: &Shard, query: &plan::TrigramQuery) -> Result<String> {
    let live = shard.live_counts();
    let (blocks, bytes) = match shard.candidates(query)? {
        Candidates::Ranges(_) => (u64::from(live.blocks), live.text_bytes),
        Candidates::Blocks(blocks) => {
            let mut bytes = 0;
            for &block in &blocks {
                let text = shard.text_range(block..block + 1)?;
                bytes += text.end - text.start;
            }
            (blocks.len() as u64, bytes)
        }
    };
    let share = units::share(blocks, live.blocks.into());
    Ok(format!(
        "{share} are candidates, {} to verify",
        units::size(bytes)
    ))
}

/// Prints a trigram query with the lengths of its posting lists; an AND is as long as its shortest part,
/// an OR as long as all parts together.
///
/// The parts of an AND are shown in the order in which they are read, shortest first. Parts that are far
/// longer than what the others leave are not read. The parts of an OR are all read, and shown longest
/// first.
fn show_steps(
    shard: &Shard,
    query: &plan::TrigramQuery,
    depth: usize,
    limit: usize,
    out: &mut impl Write,
) -> Result<()> {
    let (ids, indent) = (units::count(shard.cost(query)?), 2 * depth);
    let (name, parts, longest_first) = match query {
        plan::TrigramQuery::And(parts) => ("all of", parts, false),
        plan::TrigramQuery::Or(parts) => ("one of", parts, true),
        leaf => return Ok(writeln!(out, "  {ids:>12}  {:indent$}{leaf}", "")?),
    };
    writeln!(out, "  {ids:>12}  {:indent$}{name}", "")?;
    let costs = parts.iter().map(|part| Ok((shard.cost(part)?, part)));
    let mut parts = costs.collect::<Result<Vec<_>>>()?;
    parts.sort_by_key(|&(cost, _)| cost);
    if longest_first {
        parts.reverse();
    }
    for (_, part) in parts.iter().take(limit) {
        show_steps(shard, part, depth + 1, limit, out)?;
    }
    Ok(print_rest(parts.len(), limit, 18 + indent, out)?)
}
