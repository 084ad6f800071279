//! `trawl search`: prints the matches of a server or an index.
//!
//! [`server`] and [`in_process`] give the same matches in the same order; [`crate::print`] prints
//! them.

mod in_process;
mod refused;
mod server;

use super::work_tree;
use crate::client::{Client, Place, Target};
use crate::exit::Exit;
use crate::print::{OutputKind, PrintFlags, PrintOptions, Printer, report_search};
use crate::query::{QueryFlags, TypedQuery, report_notices};
use crate::terminal::{complain, escaped};
use anyhow::{Result, bail};
use backend::pattern;
use frontend::Notice;
use refused::RefusedFlags;
use schema::message::Expr;

/// Search, and print package/path:line:text, best matches first
///
/// QUERY is words that a file must all contain, and filters: `fopen path:^src/ -lang:c`. With -F it
/// is literal text, with -e a regular expression. A match is a line that matches. On a terminal the
/// best 50 are printed.
///
/// Unlike ripgrep, Trawl also searches hidden files, and files that git tracks although a pattern
/// of .gitignore matches them; .ignore and core.excludesFile are not read.
///
/// Exit status: 0 found, 1 nothing found, 2 error, 3 a part could not be searched.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  trawl search TCP_NODELAY                         in a git work tree: its files as they are now
  trawl search 'malloc free lang:c -path:test'     files of C with both words, without tests
  trawl search --index I -e 'fopen\\(.*\"r\"'         a regular expression, without a server
  trawl search -F 'errno == EINTR' -C 2            literal text, with two lines of context
  trawl search -l type:path '\\.h$'                 names of files
  trawl search -c --sort path printf               the number of lines in each file
  trawl search --json printf                       for programs that read `rg --json`
  trawl search --package =i3-wm --path '^src/' --path -test --lang c malloc
                                                   files of C below src of the package i3-wm,
                                                   without paths that contain `test`
  trawl search -t c -g '!test/**' malloc src       as in ripgrep: files of C below src
  trawl search -F -- --pipe                        a query that begins with a dash")]
pub(crate) struct SearchArguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    query: QueryFlags,
    #[command(flatten)]
    print: PrintFlags,
    /// Wait until the server has indexed earlier changes, for at most half of the search's time
    #[arg(long)]
    fresh: bool,
    /// Print on standard error how the search used the index
    #[arg(long, help_heading = "Output")]
    explain: bool,
    #[command(flatten)]
    refused: RefusedFlags,
}

pub(super) fn run(arguments: &SearchArguments) -> Result<Exit> {
    let tree = arguments.target.work_tree();
    let query = TypedQuery::new(&arguments.query, tree.as_ref())?;
    let place = arguments.target.place()?;
    if arguments.fresh && matches!(place, Place::Index(_)) {
        bail!("--fresh is for a server with --watch; bring an index up to date with `trawl index`");
    }
    let pages = match &place {
        Place::Server(url) => Some(&url[..]),
        Place::Index(_) | Place::Tree(_) => None,
    };
    let options = PrintOptions::new(&arguments.print, pages, tree);
    let query = query.with("context", Some(options.before.max(options.after)));
    let multi_line = is_multi_line(&query.parse()?.query.expr, false);
    let options = options.multi_line(multi_line);
    let limit = arguments.print.limit.or(options.limit_default());
    let (want, limit) = want(options.kind, limit);
    let query = query.with("want", want).with("limit", limit);
    let query = query.with("wait", arguments.fresh.then_some("fresh"));
    let parsed = query.parse()?;
    let limit = parsed.query.limit;
    if arguments.print.stream && limit > 0 {
        bail!(
            "--stream cannot be used with count:N: the best N matches are known only at the end; \
             leave one of them out"
        );
    }
    report_notices(&parsed.notices);
    let mut printer = Printer::new(options.limited(limit), &parsed.query);
    let mut is_whole = true;
    let searched = match &place {
        Place::Index(index) => in_process::search(index, &parsed, &mut printer),
        Place::Tree(tree) => {
            let index = work_tree::current_index(tree)?;
            is_whole = work_tree::is_whole(&index)?;
            in_process::search(&index, &parsed, &mut printer)
        }
        Place::Server(url) => {
            let server = Client::server(url, &arguments.target)?;
            server::search(&server, &query, &parsed.query, &mut printer)
        }
    };
    let mut done = searched.map_err(|error| query.locate(error))?;
    printer.finish(&done)?;
    if done.found == 0 || arguments.explain {
        let notices = std::mem::take(&mut done.notices).into_iter();
        let notices = notices.map(|it| Notice {
            at: it.at,
            reason: it.reason,
            hint: it.hint,
        });
        // Servers repeat the parser's notices.
        let new = notices.filter(|it| !parsed.notices.contains(it));
        report_notices(&new.collect::<Vec<_>>());
    }
    if done.found == 0
        && let Some(words) = arguments.query.in_one_query()
    {
        complain(format_args!(
            "note: words after the first are paths to search; to search for all of them, quote \
             them: '{}'",
            escaped(&words)
        ));
    }
    Ok(report_search(&done, arguments.explain).if_complete(is_whole))
}

fn is_multi_line(expr: &Expr, negated: bool) -> bool {
    match expr {
        Expr::Pattern(it) => !negated && !it.in_path && pattern::is_multiline(it),
        Expr::All(parts) | Expr::Any(parts) => {
            parts.iter().any(|part| is_multi_line(part, negated))
        }
        Expr::Not(inner) => is_multi_line(inner, !negated),
        Expr::Line(_) | Expr::Filter(_) => false,
    }
}

/// Lets backends send only the printed part.
fn want(kind: OutputKind, limit: Option<u64>) -> (Option<&'static str>, Option<u64>) {
    match kind {
        OutputKind::Nothing => (Some("documents"), Some(1)),
        OutputKind::Files => (Some("documents"), limit),
        OutputKind::Total => (Some("count"), None),
        OutputKind::CountedTotal => (None, None),
        OutputKind::Lines | OutputKind::Json | OutputKind::LineCounts | OutputKind::MatchCounts => {
            (None, limit)
        }
    }
}
