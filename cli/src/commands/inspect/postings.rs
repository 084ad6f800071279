//! `trawl inspect --trigram BYTES` shows a posting list, `--plan PATTERN` those of a search.

use crate::exit::Exit;
use crate::print::plan_in_words;
use crate::query::rejected_query;
use crate::terminal::{complain, escaped};
use crate::units;
use anyhow::{Context, Result, bail};
use backend::compiled_query::{CompiledQuery, Strategy};
use frontend::{BadQuery, Query};
use index::directory::Index;
use index::plan::TrigramQuery;
use index::posting::{Codec, PostingList};
use index::shard::{BlockId, Candidates, DocId, Shard};
use index::trigram::Trigram;
use schema::message::{Expr, Pattern};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

pub(super) fn show_trigram(
    index: &Index,
    typed: &OsStr,
    limit: usize,
    out: &mut impl Write,
) -> Result<Exit> {
    let trigram = parse(typed.as_bytes())?;
    let mut found = false;
    for shard in &index.shards {
        if let Some(list) = shard.postings(trigram)? {
            found = true;
            show_list(shard, trigram, &list, limit, out)?;
        }
    }
    if found {
        return Ok(Exit::Success);
    }
    complain(format_args!("{trigram:?}: no block contains this trigram"));
    Ok(Exit::found(false))
}

fn show_list(
    shard: &Shard,
    trigram: Trigram,
    list: &PostingList<'_>,
    limit: usize,
    out: &mut impl Write,
) -> Result<()> {
    let stored = match list.codec() {
        None => "in the dictionary".to_owned(),
        Some(codec) => {
            let name = match codec {
                Codec::EliasFano => "Elias-Fano",
                Codec::Bitmap => "bitmap",
                Codec::Gaps => "gaps",
            };
            let bits = 8.0 * list.bytes() as f64 / f64::from(list.len());
            let bytes = units::plural(list.bytes() as u64, "byte");
            format!("{name}, {bytes} ({bits:.1} bits a block)")
        }
    };
    let share = units::share(list.len().into(), shard.block_count().into());
    writeln!(out, "{}", shard.path().display())?;
    writeln!(out, "  {trigram:?} in blocks: {share}; {stored}")?;
    let blocks = shard.blocks_with(trigram)?;
    let dead = u64::from(list.len()) - blocks.len() as u64;
    if dead > 0 {
        let dead = units::plural(dead, "block");
        writeln!(out, "  {dead} of packages that were replaced or removed")?;
    }
    for &block in blocks.iter().take(limit) {
        show_block(shard, block, out)?;
    }
    Ok(print_rest(blocks.len(), limit, 2, out)?)
}

fn show_block(shard: &Shard, block: BlockId, out: &mut impl Write) -> Result<()> {
    let documents = shard.text_with(block)?.documents;
    // The first may belong to a replaced package.
    let mut best = DocId(documents.start);
    for document in documents.map(DocId) {
        if shard.is_live(shard.package_of(document)?) {
            best = document;
            break;
        }
    }
    let document = shard.document(best)?;
    let package = shard.package(document.package)?.directory;
    let (package, path) = (escaped(package), escaped(document.path));
    let line = shard.first_line(block)?;
    writeln!(out, "  block {}, from {package}/{path}:{line} on", block.0)?;
    Ok(())
}

/// Shows the posting lists of a search by shard in reading order, and the candidates.
pub(super) fn show_plan(
    index: &Index,
    pattern: Pattern,
    limit: usize,
    out: &mut impl Write,
) -> Result<Exit> {
    let text = pattern.text.clone();
    let plan = compile(pattern).map_err(|bad| rejected_query(&text, &bad))?;
    let shards = index.shards.iter();
    let blocks = shards.map(|shard| u64::from(shard.live_counts().blocks));
    writeln!(out, "{}", plan_in_words(&plan.to_string(), blocks.sum()))?;
    for shard in &index.shards {
        let candidates = candidates(shard, &plan)?;
        writeln!(out, "{}: {candidates}", shard.path().display())?;
        if plan != TrigramQuery::All {
            writeln!(out, "  {:>12}  in this order", "blocks")?;
            show_steps(shard, &plan, 0, limit, out)?;
        }
    }
    Ok(Exit::Success)
}

fn compile(pattern: Pattern) -> Result<TrigramQuery, BadQuery> {
    let query = Query::new(Expr::Pattern(pattern), 0)?;
    let compiled = CompiledQuery::new(&query.expr, false).map_err(|refused| {
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

fn candidates(shard: &Shard, query: &TrigramQuery) -> Result<String> {
    let live = shard.live_counts();
    let (blocks, bytes) = match shard.candidates(query)? {
        Candidates::Ranges(_) => (u64::from(live.blocks), live.unique_bytes),
        Candidates::Blocks(blocks) => {
            let mut bytes = 0;
            for &block in &blocks {
                let text = shard.text_range(block..block + 1)?;
                bytes += text.end - text.start;
            }
            (blocks.len() as u64, bytes)
        }
    };
    let (share, size) = (units::share(blocks, live.blocks.into()), units::size(bytes));
    Ok(format!("{share} are candidates, {size} to verify"))
}

/// Prints a query with list lengths: shortest part of an AND, sum of an OR.
///
/// Parts of an AND are read shortest first, much longer ones not at all. Parts of an OR are all
/// read, and shown longest first.
fn show_steps(
    shard: &Shard,
    query: &TrigramQuery,
    depth: usize,
    limit: usize,
    out: &mut impl Write,
) -> Result<()> {
    let (ids, indent) = (units::count(shard.cost(query)?), 2 * depth);
    let (name, parts, longest_first) = match query {
        TrigramQuery::And(parts) => ("all of", parts, false),
        TrigramQuery::Or(parts) => ("one of", parts, true),
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

/// Names the flag that shows hidden rows.
fn print_rest(rows: usize, limit: usize, indent: usize, out: &mut impl Write) -> io::Result<()> {
    if rows > limit {
        let rest = units::count((rows - limit) as u64);
        let indent = " ".repeat(indent);
        writeln!(out, "{indent}and {rest} more; --limit {rows} shows them")?;
    }
    Ok(())
}

/// Parses three bytes, escaped as in Rust and in plans.
fn parse(typed: &[u8]) -> Result<Trigram> {
    let shown = escaped(typed);
    let Some(bytes) = unescape(typed) else {
        bail!(
            "--trigram {shown}: a backslash must be followed by one of \\ ' \" t r n, or by x and two hex \
             digits"
        );
    };
    let Ok(bytes) = <[u8; 3]>::try_from(&bytes[..]) else {
        let count = units::plural(bytes.len() as u64, "byte");
        bail!("--trigram {shown}: a trigram has three bytes, not {count}");
    };
    Trigram::of(bytes)
        .with_context(|| format!("--trigram {shown}: trigrams with a line feed are not indexed"))
}

/// Reverses [`slice::escape_ascii`].
fn unescape(typed: &[u8]) -> Option<Vec<u8>> {
    let mut rest = typed.iter().copied();
    let mut bytes = Vec::new();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b't' => b'\t',
            b'r' => b'\r',
            b'n' => b'\n',
            same @ (b'\\' | b'\'' | b'"') => same,
            b'x' => hex_digit(rest.next()?)? << 4 | hex_digit(rest.next()?)?,
            _ => return None,
        });
    }
    Some(bytes)
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_trigrams_as_they_are_shown() {
        for a in 0..=u8::MAX {
            for bytes in [[a, b'x', b'y'], [b'\\', a, b'"'], [0, 0xff, a]] {
                let Some(trigram) = Trigram::of(bytes) else {
                    continue;
                };
                let shown = trigram.bytes().escape_ascii().to_string();
                assert_eq!(parse(shown.as_bytes()).unwrap(), trigram, "{shown}");
            }
        }
    }

    #[test]
    fn rejects_everything_but_three_bytes() {
        for typed in [
            "", "ab", "abcd", r"\x0", r"\xg0a", r"\qab", r"a\n", r"ab\n", "ab\\",
        ] {
            assert!(parse(typed.as_bytes()).is_err(), "{typed}");
        }
    }
}
