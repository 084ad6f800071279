//! `trawl explain`: the parsed query, its cost, and hints to reduce it.

use super::api_printer::{ApiFlags, ApiPrinter};
use crate::exit::Exit;
use crate::print::{plan_in_words, report_missing};
use crate::query::{QueryFlags, TypedQuery, report_notices};
use crate::terminal::escaped;
use crate::units;
use anyhow::Result;
use std::io::{self, Write};
use web::model::{CostClass, Explanation, PatternCost};

/// Show the interpretation and cost of a query, and cheaper forms
///
/// Reads the index and no text. Exit status: 0 success, 2 error, 3 a backend could not be reached.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl explain 'malloc lang:c -path:test'
  trawl explain --index I -e '[0-9]{3}-[0-9]{4}'
  trawl explain --json -F 'errno == EINTR'")]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    api: ApiFlags,
    #[command(flatten)]
    query: QueryFlags,
}

pub(super) fn run(arguments: &ExplainArguments) -> Result<Exit> {
    let query = TypedQuery::new(&arguments.query)?;
    report_notices(&query.parse()?.notices);
    let mut printer = ApiPrinter::new(&arguments.api)?;
    let explained = printer.get("/api/v2/explain", &query.parameters());
    let explanation: Explanation = explained.map_err(|error| query.locate(error))?;
    printer.print(|out| print(&explanation, out))?;
    printer.finish()?;
    let missing = explanation.missing.iter();
    let is_complete = report_missing(missing.map(|it| (&it.backend, &it.reason)));
    Ok(Exit::Success.if_complete(is_complete))
}

fn print(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    let cost = &explanation.cost;
    writeln!(out, "query: {}", escaped(&explanation.interpreted_as))?;
    writeln!(out, "{}", plan_in_words(&explanation.plan, cost.blocks))?;
    if explanation.patterns.len() > 1 {
        for pattern in &explanation.patterns {
            print_pattern(pattern, cost.of, out)?;
        }
    }
    writeln!(
        out,
        "blocks to read: {}, {}; about {} of processor time: {}",
        units::share(cost.blocks, cost.of),
        units::size(cost.bytes),
        units::duration(cost.milliseconds),
        match cost.class {
            CostClass::Light => "light",
            CostClass::Heavy => "heavy",
        }
    )?;
    for hint in &explanation.cheaper {
        writeln!(out, "cheaper: {}", escaped(hint))?;
    }
    Ok(())
}

fn print_pattern(cost: &PatternCost, of: u64, out: &mut dyn Write) -> io::Result<()> {
    let text = escaped(&cost.pattern.text);
    let text = if cost.pattern.syntax == "regexp" {
        format!("/{text}/")
    } else {
        format!("\"{text}\"")
    };
    let share = units::share(cost.blocks, of);
    writeln!(out, "  {text} alone: {share}, by {}", escaped(&cost.plan))
}
