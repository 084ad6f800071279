//! `trawl search`: asks a server, or searches an index directory, and prints what matches.
//!
//! Both ways give the same matches in the same order; [`local`] and [`remote`] find them, [`print`]
//! writes them.

mod local;
mod print;
mod remote;

use crate::{size, terminal};
use anyhow::Result;
use frontend::Query;
use print::Printer;
use schema::message::{Pattern, Syntax};
use std::path::PathBuf;
use std::process::ExitCode;

/// Nothing was found.
const NONE: u8 = 1;
/// Something was not searched.
const INCOMPLETE: u8 = 3;

/// Search, and print package/path:line:text, best first
///
/// Exit status: 0 when something was found, 1 when nothing was, 2 after an error, 3 when some of
/// the corpus could not be searched.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl search TCP_NODELAY
  trawl search --index I --mode regexp 'fopen\\(.*\"r\"'
  trawl search -i --server http://127.0.0.1:9000 'todo'
  trawl search -- --pipe                   a query that begins with a dash")]
pub(crate) struct Arguments {
    /// The server to ask
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    server: String,
    /// Search this index directory instead, without a server
    #[arg(long, value_name = "DIR", conflicts_with = "server")]
    index: Option<PathBuf>,
    /// How QUERY is read: as it is, or as a regular expression (that of Rust's regex crate)
    #[arg(long, value_enum, default_value_t = Mode::Literal)]
    mode: Mode,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// Say on standard error how the index was used
    #[arg(long)]
    explain: bool,
    /// What to search for
    #[arg(value_name = "QUERY")]
    query: String,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Every character stands for itself
    Literal,
    /// A regular expression
    Regexp,
}

/// How a search went, apart from its matches.
#[derive(Default)]
struct Summary {
    matches: u64,
    /// Backend and reason of what was not searched; empty: the answer is complete.
    missing: Vec<(String, String)>,
    /// Documents that were given up.
    skipped: u64,
    explain: Explain,
}

/// How the index was used.
#[derive(Default, serde::Deserialize)]
struct Explain {
    plan: String,
    blocks: u64,
    candidates: u64,
    matched_blocks: u64,
    verified_bytes: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let syntax = match arguments.mode {
        Mode::Literal => Syntax::Literal,
        Mode::Regexp => Syntax::Regexp,
    };
    let pattern = Pattern {
        text: arguments.query.clone(),
        syntax,
        ignore_case: arguments.ignore_case,
    };
    let query = match Query::new(pattern, 0) {
        Ok(query) => query,
        Err(bad) => return Ok(report_bad_query(&arguments.query, &bad)),
    };
    let mut printer = Printer::new();
    let found = match &arguments.index {
        Some(index) => local::search(index, query, &mut printer),
        None => remote::search(&arguments.server, &query, &mut printer),
    };
    let summary = match found.map_err(|error| error.downcast::<frontend::BadQuery>()) {
        Ok(summary) => summary,
        Err(Ok(bad)) => return Ok(report_bad_query(&arguments.query, &bad)),
        Err(Err(error)) => return Err(error),
    };
    printer.finish()?;
    Ok(report(&summary, arguments.explain))
}

/// Says what was missing, and how the index was used.
fn report(summary: &Summary, explain: bool) -> ExitCode {
    for (backend, reason) in &summary.missing {
        let (backend, reason) = (
            terminal::harmless(backend.as_bytes()),
            terminal::harmless(reason.as_bytes()),
        );
        eprintln!("trawl: incomplete: {backend}: {reason}");
    }
    if summary.skipped > 0 {
        let documents = terminal::plural(summary.skipped, "document");
        eprintln!("trawl: incomplete: {documents} given up");
    }
    if explain {
        eprintln!("{}", explanation(summary));
    }
    match summary {
        Summary {
            missing, skipped, ..
        } if !missing.is_empty() || *skipped > 0 => ExitCode::from(INCOMPLETE),
        Summary { matches: 0, .. } => ExitCode::from(NONE),
        _ => ExitCode::SUCCESS,
    }
}

fn explanation(summary: &Summary) -> String {
    let Explain {
        plan,
        blocks,
        candidates,
        matched_blocks,
        verified_bytes,
    } = &summary.explain;
    let percent = 100.0 * *candidates as f64 / (*blocks).max(1) as f64;
    format!(
        "plan: {}\nblocks verified: {} of {} ({percent:.3} %), {}; {} of them match\nmatches: {}",
        terminal::harmless(plan.as_bytes()),
        size::count(*candidates),
        size::count(*blocks),
        size::show(*verified_bytes),
        size::count(*matched_blocks),
        size::count(summary.matches),
    )
}

/// Shows the query with a caret under the place.
fn report_bad_query(query: &str, bad: &frontend::BadQuery) -> ExitCode {
    eprintln!("trawl: {}", terminal::harmless(bad.reason.as_bytes()));
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
