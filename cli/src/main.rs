//! The binary `trawl`.
//!
//! [`commands`] has a module for each subcommand. They share the HTTP API [`client`], the [`query`]
//! flags and the match printer [`print`]. [`config`] fills flags from the environment and a file.
//! Searches run in the crates `backend` and `frontend`, in other processes or [`in_process`].

mod allocator;
mod announced;
mod cache_dir;
mod client;
mod commands;
mod config;
mod default_sources;
mod exit;
mod in_process;
mod log;
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
use std::time::Duration;

/// Maximum wait at exit for the last log lines.
const LOG_FLUSH_MAX: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    panics::count();
    let code = match commands::run() {
        Ok(code) => code,
        Err(error) if terminal::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let sentence = terminal::sentence(&error);
            terminal::report(format_args!("trawl: {}", terminal::escaped(&sentence)));
            exit::error()
        }
    };
    log::flush(LOG_FLUSH_MAX);
    code
}
