//! `trawl explain`: how a query is understood, how much the index leaves to read, and what would
//! leave less.

use super::api_printer::{ApiFlags, ApiPrinter, Missing, report_missing};
use crate::print::plan_in_words;
use crate::query::{QueryFlags, TypedQuery, report_notices};
use crate::terminal::escaped;
use crate::{exit, units};
use anyhow::Result;
use frontend::BadQuery;
use serde::Deserialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// Show how a query is understood, what it costs, and what would make it cheaper
///
/// Reads the index and no text. Exit status: 0 success, 2 error, 3 a backend could not be asked.
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

#[derive(Deserialize)]
struct Explanation {
    interpreted_as: String,
    missing: Vec<Missing>,
    plan: String,
    patterns: Vec<PatternCost>,
    cost: Cost,
    cheaper: Vec<String>,
}

#[derive(Deserialize)]
struct PatternCost {
    pattern: Pattern,
    plan: String,
    blocks: u64,
}

#[derive(Deserialize)]
struct Pattern {
    text: String,
    syntax: String,
}

#[derive(Deserialize)]
struct Cost {
    blocks: u64,
    of: u64,
    bytes: u64,
    milliseconds: f64,
    class: String,
}

pub(super) fn run(arguments: &ExplainArguments) -> Result<ExitCode> {
    let query = TypedQuery::new(&arguments.query);
    let (query, parsed) = match query.and_then(|query| Ok((query.parse()?, query))) {
        Ok((parsed, query)) => (query, parsed),
        Err(rejected) => return Ok(rejected.report()),
    };
    report_notices(&parsed.notices);
    let mut printer = ApiPrinter::new(&arguments.api)?;
    let explanation: Explanation = match printer.get("/api/v2/explain", &query.parameters()) {
        Ok(explanation) => explanation,
        Err(error) => {
            let bad = error.downcast::<BadQuery>()?;
            return Ok(query.rejected(bad).report());
        }
    };
    printer.print(|out| explanation.print(out))?;
    printer.finish()?;
    let is_complete = report_missing(&explanation.missing);
    Ok(exit::complete_or(is_complete, ExitCode::SUCCESS))
}

impl Explanation {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Cost {
            blocks,
            of,
            bytes,
            milliseconds,
            class,
        } = &self.cost;
        writeln!(out, "query: {}", escaped(&self.interpreted_as))?;
        writeln!(out, "{}", plan_in_words(&self.plan, *blocks))?;
        if self.patterns.len() > 1 {
            for pattern in &self.patterns {
                pattern.print(*of, out)?;
            }
        }
        writeln!(
            out,
            "blocks to read: {}, {}; about {} of processor time: {}",
            units::share(*blocks, *of),
            units::size(*bytes),
            units::duration(*milliseconds),
            escaped(class)
        )?;
        for hint in &self.cheaper {
            writeln!(out, "cheaper: {}", escaped(hint))?;
        }
        Ok(())
    }
}

impl PatternCost {
    fn print(&self, of: u64, out: &mut dyn Write) -> io::Result<()> {
        let text = escaped(&self.pattern.text);
        let text = if self.pattern.syntax == "regexp" {
            format!("/{text}/")
        } else {
            format!("\"{text}\"")
        };
        let share = units::share(self.blocks, of);
        writeln!(out, "  {text} alone: {share}, by {}", escaped(&self.plan))
    }
}
