//! Text output of `trawl cluster status`: nodes, then warnings.

use super::status::{ClusterStatus, NodeRow};
use crate::terminal::{self, escaped};
use crate::units;
use anyhow::Result;

const HEADING: &str = "ZONE,NODE,ADDRESS,WEIGHT,STATE,GENERATION,SHARDS,SIZE,TO FETCH,TO DROP,SEEN";

pub(super) fn print(answer: &ClusterStatus) -> Result<()> {
    let published = (answer.published_seconds_ago)
        .map(|seconds| format!(", published {} ago", units::age(seconds)));
    terminal::print(format_args!(
        "{}: generation {}{}: {} ({}), {} each",
        escaped(&answer.store),
        answer.generation,
        published.unwrap_or_default(),
        units::plural(answer.shards, "shard"),
        units::size(answer.bytes),
        units::plural(u64::from(answer.replicas), "replica"),
    ))?;
    let rows = answer.nodes.iter();
    print_table(HEADING, rows.map(|node| row(node, answer.generation)))?;
    for zone in answer.zones.iter().filter(|zone| !zone.zone.is_empty()) {
        terminal::print(format_args!(
            "zone {}: {}, {} of {}",
            escaped(&zone.zone),
            units::plural(zone.nodes, "node"),
            units::count(zone.shards),
            units::plural(answer.shards, "shard"),
        ))?;
    }
    if answer.missing_shards > 0 || answer.extra_shards > 0 {
        terminal::print(format_args!(
            "moving: {} ({}) to fetch, {} to drop once their new nodes have them",
            units::plural(answer.missing_shards, "shard"),
            units::size(answer.missing_bytes),
            units::count(answer.extra_shards),
        ))?;
    }
    print_replicas(answer)?;
    for warning in &answer.warnings {
        terminal::print(format_args!("warning: {}", escaped(warning)))?;
    }
    Ok(())
}

fn row(node: &NodeRow, current: u64) -> Vec<String> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let text = |text: &str| or_none(Some(text.to_owned()).filter(|text| !text.is_empty()));
    let generation = (node.generation).map(|number| generation(node, number, current));
    let extra = Some(node.extra_shards).filter(|count| *count > 0);
    let is_gone = node.state == "gone";
    let shards = or_none(node.shards.map(units::count));
    let seen = (node.seconds_ago).map(|seconds| format!("{} ago", units::age(seconds)));
    vec![
        text(&node.zone),
        node.node.clone(),
        text(&node.address),
        or_none((!is_gone).then(|| node.weight.to_string())),
        node.state.to_owned(),
        or_none(generation),
        if is_gone {
            shards
        } else {
            format!("{shards} of {}", units::count(node.assigned_shards))
        },
        or_none(node.bytes.map(units::size)),
        or_none(to_fetch(node)),
        or_none(extra.map(units::count)),
        or_none(seen),
    ]
}

/// `16`, or `15, for 40 seconds` if lagging.
fn generation(node: &NodeRow, number: u64, current: u64) -> String {
    match node.lag_seconds {
        Some(seconds) if number < current => format!("{number}, for {}", units::age(seconds)),
        _ => number.to_string(),
    }
}

/// `-`, `3`, or `3: 40 % of 12.0 MB`.
fn to_fetch(node: &NodeRow) -> Option<String> {
    let left = node.fetching_bytes.unwrap_or(0);
    let all = node.fetching_of_bytes.unwrap_or(0);
    let shards = units::count(node.missing_shards);
    if left > 0 && all > 0 {
        let percent = 100 * all.saturating_sub(left) / all;
        return Some(format!("{shards}: {percent} % of {}", units::size(all)));
    }
    (node.missing_shards > 0).then_some(shards)
}

fn print_replicas(answer: &ClusterStatus) -> Result<()> {
    if answer.under_replicated == 0 {
        terminal::print("every shard has its replicas")?;
        return Ok(());
    }
    let replicas = u64::from(answer.replicas);
    let all = units::plural(replicas, "replica");
    for (has, shards) in answer.shards_by_replicas.range(..replicas) {
        let shards = units::plural(*shards, "shard");
        terminal::print(format_args!("{has} of {all} ready: {shards}"))?;
    }
    terminal::print(format_args!(
        "under-replicated: {} of {} ({})",
        units::count(answer.under_replicated),
        units::plural(answer.shards, "shard"),
        units::size(answer.under_replicated_bytes),
    ))?;
    Ok(())
}

/// Commas separate the names of `heading`.
pub(super) fn print_table(heading: &str, rows: impl Iterator<Item = Vec<String>>) -> Result<()> {
    let heading: Vec<String> = heading.split(',').map(str::to_owned).collect();
    let columns = 0..heading.len();
    let table: Vec<Vec<String>> = std::iter::once(heading).chain(rows).collect();
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = columns.map(|column| width(column).unwrap_or(0)).collect();
    for row in &table {
        let cells = row.iter().zip(&widths);
        let line: Vec<String> = cells
            .map(|(cell, width)| format!("{:width$}", escaped(cell)))
            .collect();
        terminal::print(line.join("  ").trim_end())?;
    }
    Ok(())
}
