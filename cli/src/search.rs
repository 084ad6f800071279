//! `trawl search`: asks a server, or searches an index directory, and prints what matches.
//!
//! Both ways give the same matches in the same order; [`local`] and [`remote`] find them, [`output`]
//! decides what of them is printed in which order, [`lines`] and [`json`] write them.

mod arguments;
mod json;
mod lines;
mod links;
mod local;
mod look;
mod output;
mod progress;
mod query;
mod remote;
mod rows;
mod shelf;
mod summary;
mod tally;
mod whole;

pub(crate) use arguments::{Arguments, Asked, Filters, Mode, Place};
pub(crate) use query::{Refused, Wish, parse, report_notices};
pub(crate) use summary::plan_in_words;

use crate::terminal;
use anyhow::Result;
use frontend::BadQuery;
use look::{Look, What};
use output::Output;
use std::process::ExitCode;
use summary::Summary;

/// Something was not searched.
pub(crate) const INCOMPLETE: u8 = 3;

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let look = Look::new(arguments);
    let wish = Wish {
        context: look.before.max(look.after),
        limit: match look.what {
            What::Nothing => Some(1),
            _ => arguments.limit,
        },
        want: match look.what {
            What::Files | What::Nothing => Some("documents"),
            What::Total => Some("count"),
            _ => None,
        },
    };
    let parsed = match parse(&arguments.asked, &arguments.filters, &wish) {
        Ok(parsed) => parsed,
        Err(Refused { text, bad }) => return Ok(report_bad_query(&text, &bad)),
    };
    report_notices(&parsed.notices);
    let text = parsed.query.interpreted_as();
    let explain = arguments.explain;
    let mut output = Output::new(look);
    let found = match &arguments.place.index {
        Some(index) => local::search(index, parsed, &mut output),
        None => remote::search(&arguments.place.server(), &parsed, &mut output),
    };
    let summary = match found.map_err(|error| error.downcast::<BadQuery>()) {
        Ok(summary) => summary,
        Err(Ok(bad)) => {
            let typed = arguments.asked.query.as_ref();
            return Ok(report_bad_query(typed.unwrap_or(&text), &bad));
        }
        Err(Err(error)) => return Err(error),
    };
    output.finish(&summary)?;
    Ok(summary.report(explain))
}

/// Shows the query, or the filter that is at fault, with a caret under the place.
pub(crate) fn report_bad_query(query: &str, bad: &BadQuery) -> ExitCode {
    eprintln!("trawl: {}", terminal::harmless(bad.reason.as_bytes()));
    let query = bad.filter.as_deref().unwrap_or(query);
    if let Some(before) = bad.at.and_then(|at| query.get(..at)) {
        eprintln!("  {}", terminal::harmless(query.as_bytes()));
        let width = terminal::harmless(before.as_bytes()).chars().count();
        eprintln!("  {:width$}^", "");
    }
    if let Some(hint) = &bad.hint {
        eprintln!("{}", terminal::harmless(hint.as_bytes()));
    }
    ExitCode::from(crate::ERROR)
}
