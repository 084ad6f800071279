//! `trawl search`: asks a server, or searches an index directory, and prints what matches.
//!
//! Both ways give the same matches in the same order; [`local`] and [`remote`] find them, [`print`]
//! writes them.

mod local;
mod print;
mod remote;

use crate::{size, terminal};
use anyhow::Result;
use frontend::{BadQuery, Query, filter};
use print::Printer;
use schema::message::{Expr, Field, Pattern, Syntax, Want};
use std::path::PathBuf;
use std::process::ExitCode;

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
  trawl search --package =i3-wm --path '^src/' --path -test --lang c 'malloc('
                                           files of C below src in the package i3-wm, but those
                                           with `test` in their path
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
    #[command(flatten)]
    filters: Filters,
    /// Print how many lines match, and nothing else
    #[arg(short, long)]
    count: bool,
    /// Say on standard error how the index was used, and whether all of the text had to be scanned
    #[arg(long)]
    explain: bool,
    /// What to search for
    #[arg(value_name = "QUERY")]
    query: String,
}

/// Which files are searched. All filters must hold, also those that are given again.
#[derive(clap::Args)]
struct Filters {
    /// Search packages with REGEXP in their name, or =NAME; with a - in front, all others
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    package: Vec<String>,
    /// Search files with REGEXP in their path, or =PATH; with a - in front, all others
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    path: Vec<String>,
    /// Search files in this language, in any case; with a - in front, all others
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    lang: Vec<String>,
}

impl Filters {
    fn parse(&self) -> Result<Vec<Expr>, BadQuery> {
        let typed = |field| match field {
            Field::Package => &self.package[..],
            Field::Path => &self.path,
            Field::Language => &self.lang,
            Field::Extension | Field::Name => &[],
        };
        let fields = filter::FIELDS.into_iter().map(|(field, _)| field);
        fields
            .flat_map(|field| typed(field).iter().map(move |typed| (field, typed)))
            .map(|(field, typed)| filter::parse(field, typed))
            .collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Mode {
    /// Every character stands for itself
    Literal,
    /// A regular expression
    Regexp,
}

/// How a search went, apart from its matches.
#[derive(Default)]
struct Summary {
    /// Found, printed or not.
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
    let query = arguments.filters.parse().and_then(|filters| {
        let (mode, ignore_case) = (arguments.mode, arguments.ignore_case);
        query(&arguments.query, mode, ignore_case, filters)
    });
    let query = match query {
        Ok(query) => query,
        Err(bad) => return Ok(report_bad_query(&arguments.query, &bad)),
    };
    let query = match arguments.count {
        true => query.wanting(Want::Count, 0)?,
        false => query,
    };
    let mut printer = Printer::new();
    let found = match &arguments.index {
        Some(index) => local::search(index, query, &mut printer),
        None => remote::search(&arguments.server, &query, &mut printer),
    };
    let summary = match found.map_err(|error| error.downcast::<BadQuery>()) {
        Ok(summary) => summary,
        Err(Ok(bad)) => return Ok(report_bad_query(&arguments.query, &bad)),
        Err(Err(error)) => return Err(error),
    };
    if arguments.count {
        printer.print_bytes(format!("{}\n", summary.matches).as_bytes())?;
    }
    printer.finish()?;
    Ok(report(&summary, arguments.explain))
}

/// The query of a command line, checked.
pub(crate) fn query(
    text: &str,
    mode: Mode,
    ignore_case: bool,
    filters: Vec<Expr>,
) -> Result<Query, BadQuery> {
    let pattern = Pattern {
        text: text.to_owned(),
        syntax: match mode {
            Mode::Literal => Syntax::Literal,
            Mode::Regexp => Syntax::Regexp,
        },
        ignore_case,
        ..Pattern::default()
    };
    let parts = std::iter::once(Expr::Pattern(pattern)).chain(filters);
    Query::new(Expr::all(parts), 0)
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
        Summary { matches: 0, .. } => ExitCode::from(crate::NONE),
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
    format!(
        "{}\nblocks verified: {}, {}; {} of them match\nmatches: {}",
        // Without a trigram the candidates are all that the filters leave.
        plan_in_words(plan, *candidates),
        terminal::share(*candidates, *blocks),
        size::show(*verified_bytes),
        size::count(*matched_blocks),
        size::count(summary.matches),
    )
}

/// How a plan uses an index, of which so many blocks are searched. `all` and `none` are words of `index::plan`.
pub(crate) fn plan_in_words(plan: &str, blocks: u64) -> String {
    match plan {
        "all" => format!(
            "plan: no trigram: all {} are scanned (what every match has in common is shorter than \
             three bytes)",
            terminal::plural(blocks, "block"),
        ),
        "none" => "plan: none: no line can match".to_owned(),
        trigrams => format!("plan: {}", terminal::harmless(trigrams.as_bytes())),
    }
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
