//! `trawl explain`: how a query is understood, what the index leaves to be read for it, and what
//! would make that less.

use super::{Asking, Missing, Whom, report_missing};
use crate::search::{Asked, Filters, INCOMPLETE, Question};
use crate::terminal::{self, harmless};
use crate::{search, size};
use anyhow::Result;
use frontend::BadQuery;
use serde::Deserialize;
use std::io::Write;
use std::process::ExitCode;

/// Say how a query is understood, what it would cost, and what would make it cheaper
///
/// The index is asked, and no text is read. Exit status: 0, 2 after an error, 3 when a backend could
/// not be asked.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl explain 'malloc lang:c -path:test'
  trawl explain --index I -e '[0-9]{3}-[0-9]{4}'
  trawl explain --json -F 'errno == EINTR'")]
pub(crate) struct Arguments {
    #[command(flatten)]
    whom: Whom,
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    filters: Filters,
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

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let asked = Question::new(&arguments.asked, &arguments.filters)
        .and_then(|question| Ok((question.parse()?, question)));
    let (parsed, question) = match asked {
        Ok(asked) => asked,
        Err(refused) => return Ok(refused.report()),
    };
    search::report_notices(&parsed.notices);
    let mut asking = Asking::new(&arguments.whom)?;
    let parameters = question.parameters();
    let asked: Vec<_> = parameters
        .iter()
        .map(|(name, value)| (*name, &value[..]))
        .collect();
    let explanation: Explanation = match asking.get("/api/v2/explain", &asked) {
        Ok(explanation) => explanation,
        Err(error) => {
            return match error.downcast::<BadQuery>() {
                Ok(bad) => Ok(question.refused(bad).report()),
                Err(error) => Err(error),
            };
        }
    };
    if !asking.json {
        explanation.print(&mut asking.out)?;
    }
    asking.out.flush()?;
    Ok(match report_missing(&explanation.missing) {
        true => ExitCode::from(INCOMPLETE),
        false => ExitCode::SUCCESS,
    })
}

impl Explanation {
    fn print(&self, out: &mut impl Write) -> Result<()> {
        let Cost {
            blocks,
            of,
            bytes,
            milliseconds,
            class,
        } = &self.cost;
        writeln!(out, "query: {}", harmless(self.interpreted_as.as_bytes()))?;
        writeln!(out, "{}", search::plan_in_words(&self.plan, *blocks))?;
        if let several @ [_, _, ..] = &self.patterns[..] {
            several
                .iter()
                .try_for_each(|pattern| pattern.print(*of, out))?;
        }
        let (share, class) = (terminal::share(*blocks, *of), harmless(class.as_bytes()));
        let (bytes, takes) = (size::show(*bytes), duration(*milliseconds));
        writeln!(
            out,
            "blocks to read: {share}, {bytes}; about {takes} of a processor: {class}"
        )?;
        for hint in &self.cheaper {
            writeln!(out, "cheaper: {}", harmless(hint.as_bytes()))?;
        }
        Ok(())
    }
}

impl PatternCost {
    fn print(&self, of: u64, out: &mut impl Write) -> Result<()> {
        let text = harmless(self.pattern.text.as_bytes());
        let text = match &self.pattern.syntax[..] {
            "regexp" => format!("/{text}/"),
            _ => format!("\"{text}\""),
        };
        let (share, plan) = (
            terminal::share(self.blocks, of),
            harmless(self.plan.as_bytes()),
        );
        Ok(writeln!(out, "  {text} alone: {share}, by {plan}")?)
    }
}

/// `3 ms`, `1.2 s`.
fn duration(milliseconds: f64) -> String {
    match milliseconds {
        short if short < 10.0 => format!("{short:.1} ms"),
        middle if middle < 1000.0 => format!("{middle:.0} ms"),
        long => format!("{:.1} s", long / 1000.0),
    }
}
