//! The door: one binary, `trawl`.
//!
//! Each subcommand is a module; what they share is [`terminal`] (how to speak to people),
//! [`local`] (a backend in this process) and [`place`] (where things are kept when nobody says).
//! Exit status: 0 done or found, 1 nothing found, 2 an error, 3 found, but not all of it.

mod access;
mod ask;
mod backend;
mod client;
mod completions;
mod config;
mod frontend;
mod health;
mod index;
mod inspect;
mod limits;
mod local;
mod place;
mod search;
mod serve;
mod size;
mod terminal;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Searches source code: every line of it, however large the archive, and says so when it cannot.
#[derive(Parser)]
#[command(name = "trawl", version, max_term_width = 100)]
#[command(after_help = "Examples:
  trawl serve                              search this directory in a browser
  trawl serve --each /srv/sources          every directory inside is a package
  trawl index --each --out I /srv/sources  build an index, ...
  trawl search --index I -F 'errno == EINTR'
                                           ... and search it without a server
  trawl search 'malloc free lang:c'        ask the server on this machine
  trawl explain 'malloc lang:c'            what that would cost
  trawl completions bash                   for the shell")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Index(index::Arguments),
    Serve(serve::Arguments),
    Search(search::Arguments),
    Backend(backend::Arguments),
    Frontend(frontend::Arguments),
    Inspect(inspect::Arguments),
    Explain(ask::explain::Arguments),
    Status(ask::status::Arguments),
    Packages(ask::packages::Arguments),
    Skipped(ask::skipped::Arguments),
    Config(config::CheckArguments),
    Completions(completions::Arguments),
    Man(completions::ManArguments),
}

impl Command {
    fn run(&self) -> Result<ExitCode> {
        match self {
            Command::Index(arguments) => index::run(arguments),
            Command::Serve(arguments) => serve::run(arguments),
            Command::Search(arguments) => search::run(arguments),
            Command::Backend(arguments) => backend::run(arguments),
            Command::Frontend(arguments) => frontend::run(arguments),
            Command::Inspect(arguments) => inspect::run(arguments),
            Command::Explain(arguments) => ask::explain::run(arguments),
            Command::Status(arguments) => ask::status::run(arguments),
            Command::Packages(arguments) => ask::packages::run(arguments),
            Command::Skipped(arguments) => ask::skipped::run(arguments),
            Command::Config(arguments) => config::run(arguments),
            Command::Completions(arguments) => completions::run(arguments),
            Command::Man(arguments) => completions::man(arguments),
        }
    }
}

/// What a command ends with when nothing was found.
const NONE: u8 = 1;
/// What a command ends with when it could not do what it was asked to.
const ERROR: u8 = 2;

fn main() -> ExitCode {
    match config::arguments().and_then(|arguments| arguments.command.run()) {
        Ok(code) => code,
        Err(error) if terminal::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!(
                "trawl: {}",
                terminal::harmless(format!("{error:#}").as_bytes())
            );
            ExitCode::from(ERROR)
        }
    }
}
