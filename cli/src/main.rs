//! The binary `trawl`.
//!
//! [`commands`] has a module for each subcommand. They share a [`client`] of the HTTP API, the
//! [`query`] flags, and [`print`], which writes matches. [`config`] fills in flags from the
//! environment and a file. Nothing here searches: that is what the crates `backend` and `frontend`
//! do, in other processes or [`in_process`].

mod announced;
mod cache_dir;
mod client;
mod commands;
mod config;
mod default_sources;
mod exit;
mod in_process;
mod mirror;
mod panics;
mod placing;
mod print;
mod progress;
mod query;
mod terminal;
mod tls;
mod units;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    panics::count();
    match commands::run() {
        Ok(code) => code,
        Err(error) if terminal::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let sentence = terminal::sentence(&error);
            terminal::report(format_args!("trawl: {}", terminal::escaped(&sentence)));
            exit::error()
        }
    }
}
