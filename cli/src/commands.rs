//! Subcommands and their command line.
//!
//! [`catalog`], [`commits`] and [`symbols`] share [`api_printer`]; `serve`, `frontend` and
//! `backend` share [`listener`] and [`tls_flags`].

mod access;
mod api_printer;
mod backend;
mod catalog;
mod cluster;
mod commits;
mod completions;
mod config;
mod diff;
mod frontend;
mod grep;
mod index;
mod inspect;
mod listener;
mod local;
mod lsp;
mod mcp;
mod mirror;
mod nodes;
mod search;
mod serve;
mod stdio;
mod store;
mod symbols;
mod tls_flags;
mod traces;
mod work_tree;

use crate::exit::Exit;
use crate::renamed;
use crate::terminal::{self, escaped};
use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;

/// Search source code: every line, in archives of any size
///
/// Finds and counts every match. If a part of the corpus cannot be searched, a message names it,
/// and the exit status is 3.
#[derive(Parser)]
#[command(name = "trawl", version, max_term_width = 100)]
#[command(after_help = "Examples:
  trawl serve                              search this directory in a browser
  trawl serve --each /srv/sources          every directory in /srv/sources is a package
  trawl index --each --index I /srv/src    build an index, ...
  trawl mirror --to M https://example.org/x.git
                                           clone a git repository, or update the clone
  trawl search --index I -F 'errno == EINTR'
                                           ... and search it without a server
  trawl grep -n 'errno == EINTR'           search the files below this directory, as rg does
  trawl mcp                                serve coding agents: claude mcp add trawl -- trawl mcp
  trawl lsp                                serve an editor: definitions, references, symbols
  trawl search 'malloc free lang:c'        search with the server on this machine
  trawl explain 'malloc lang:c'            show the cost of that search
  trawl key build-robot                    make a key for a client of a server
  trawl completions bash                   print completions for a shell

Exit status: 0 success, 1 nothing found, 2 error, 3 a part is missing, 130 interrupted.")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Index(index::IndexArguments),
    Mirror(mirror::MirrorArguments),
    Serve(serve::ServeArguments),
    Search(search::SearchArguments),
    Grep(grep::GrepArguments),
    Local(local::LocalArguments),
    Mcp(mcp::McpArguments),
    Lsp(lsp::LspArguments),
    Backend(backend::BackendArguments),
    Frontend(frontend::FrontendArguments),
    Inspect(inspect::InspectArguments),
    Store(store::StoreArguments),
    Cluster(cluster::ClusterArguments),
    Explain(catalog::ExplainArguments),
    Status(catalog::StatusArguments),
    Packages(catalog::PackagesArguments),
    Skipped(catalog::SkippedArguments),
    Symbols(symbols::SymbolsArguments),
    Commit(commits::CommitArguments),
    Log(commits::LogArguments),
    Refs(commits::RefsArguments),
    Diff(diff::DiffArguments),
    Key(access::KeyArguments),
    Config(config::ConfigArguments),
    Completions(completions::CompletionsArguments),
    Man(completions::ManArguments),
}

/// Slow, so a search builds it once.
fn definition() -> clap::Command {
    renamed::with_former_flags(crate::config::with_file_flag(CommandLine::command()))
}

pub(crate) fn run() -> Result<Exit> {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(exit) = grep::run_if_called(&words) {
        return Ok(exit);
    }
    renamed::report_flags(&words);
    let matches = crate::config::matches(definition(), words)?;
    let line = matches.and_then(|matches| CommandLine::from_arg_matches(&matches));
    match line {
        Ok(line) => run_command(&line.command),
        Err(error) => Ok(print_usage(&error)),
    }
}

/// Prints the help, or a mistake in the command line.
fn print_usage(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        // The reader may have gone.
        let _ = error.print();
        return Exit::Success;
    }
    let text = error.render().to_string();
    let text = escaped(text.trim_end());
    match text.strip_prefix("error: ") {
        Some(mistake) => terminal::complain(mistake),
        // The help, if there is no command.
        None => terminal::report(text),
    }
    Exit::Error
}

fn run_command(command: &Command) -> Result<Exit> {
    match command {
        Command::Index(arguments) => index::run(arguments),
        Command::Mirror(arguments) => mirror::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Search(arguments) => search::run(arguments),
        Command::Grep(arguments) => Ok(grep::run(arguments)),
        Command::Local(arguments) => local::run(arguments),
        Command::Mcp(arguments) => mcp::run(arguments),
        Command::Lsp(arguments) => lsp::run(arguments),
        Command::Backend(arguments) => backend::run(arguments),
        Command::Frontend(arguments) => frontend::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Store(arguments) => store::run(arguments),
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::Explain(arguments) => catalog::explain(arguments),
        Command::Status(arguments) => catalog::status(arguments),
        Command::Packages(arguments) => catalog::packages(arguments),
        Command::Skipped(arguments) => catalog::skipped(arguments),
        Command::Symbols(arguments) => symbols::run(arguments),
        Command::Commit(arguments) => commits::commit(arguments),
        Command::Log(arguments) => commits::log(arguments),
        Command::Refs(arguments) => commits::refs(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Key(arguments) => access::key(arguments),
        Command::Config(arguments) => config::run(arguments, &definition()),
        Command::Completions(arguments) => completions::run(arguments, definition()),
        Command::Man(arguments) => completions::man(arguments, definition()),
    }
}
