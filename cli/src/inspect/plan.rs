//! `--plan PATTERN`: what a search would look up in each shard, in which order, and what that
//! leaves to verify.

use super::{Arguments, Mode, say_rest};
use crate::search;
use crate::{size, terminal};
use anyhow::Result;
use backend::compiled_query::{CompiledQuery, Strategy};
use frontend::{BadQuery, Query};
use index::directory::Index;
use index::plan;
use index::shard::{Candidates, Shard};
use schema::message::{Expr, Pattern, Syntax};
use std::io::Write;
use std::process::ExitCode;

pub(super) fn show(
    index: &Index,
    text: &str,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<ExitCode> {
    let query = match compile(text, arguments) {
        Ok(planned) => planned,
        Err(bad) => return Ok(search::report_bad_query(text, &bad)),
    };
    let blocks = index
        .shards
        .iter()
        .map(|shard| u64::from(shard.live_counts().blocks));
    writeln!(
        out,
        "{}",
        search::plan_in_words(&query.to_string(), blocks.sum())
    )?;
    for shard in &index.shards {
        writeln!(out, "{}: {}", shard.path().display(), left(shard, &query)?)?;
        if query != plan::TrigramQuery::All {
            writeln!(out, "  {:>12}  in this order", "blocks")?;
            show_steps(shard, &query, 0, arguments.limit, out)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn compile(text: &str, arguments: &Arguments) -> Result<plan::TrigramQuery, BadQuery> {
    let pattern = Expr::Pattern(Pattern {
        text: text.to_owned(),
        syntax: match arguments.mode {
            Mode::Literal => Syntax::Literal,
            Mode::Regexp => Syntax::Regexp,
        },
        ignore_case: arguments.ignore_case,
        ..Pattern::default()
    });
    let refused = |reason: &str, at| {
        let mut bad = BadQuery::new(reason);
        bad.at = at;
        bad
    };
    let query = Query::new(pattern, 0)?;
    let compiled = CompiledQuery::new(query.expr(), false);
    match compiled
        .map_err(|bad| refused(&bad.reason, bad.at))?
        .strategy
    {
        Strategy::Lines { query, .. } => Ok(query),
        Strategy::Documents(_) => Err(refused("a pattern over lines has no plan of blocks", None)),
    }
}

/// How much there is to verify.
fn left(shard: &Shard, query: &plan::TrigramQuery) -> Result<String> {
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
    let share = terminal::share(blocks, live.blocks.into());
    Ok(format!(
        "{share} are candidates, {} to verify",
        size::show(bytes)
    ))
}

/// A query with the lengths of the lists that it takes: of an AND the shortest, of an OR all. An
/// AND's parts are in the order in which they are looked up, and those that are far longer than
/// what the others have left are not read; an OR's are all read, and the longest are shown first.
fn show_steps(
    shard: &Shard,
    query: &plan::TrigramQuery,
    depth: usize,
    limit: usize,
    out: &mut impl Write,
) -> Result<()> {
    let (ids, indent) = (size::count(shard.cost(query)?), 2 * depth);
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
    say_rest(parts.len(), limit, 18 + indent, out)
}
