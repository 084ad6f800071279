//! The binary `trawl`.
//!
//! [`commands`] has the subcommands, with a common [`client`], [`query`] and [`print`]. [`config`]
//! fills flags from environment and file. The crates `backend` and `frontend` search, possibly
//! [`in_process`].

mod address;
mod allocator;
mod cache_dir;
mod client;
mod commands;
mod config;
mod exit;
mod in_process;
mod log;
mod mirror;
mod panics;
mod placing;
mod print;
mod progress;
mod query;
mod renamed;
mod terminal;
mod units;
mod watch;
mod work_tree;

use exit::Exit;
use std::process::ExitCode;
use std::time::Duration;

/// Wait for the last lines.
const LOG_FLUSH_MAX: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    panics::count();
    let exit = match commands::run() {
        Ok(exit) => exit,
        Err(error) if terminal::is_broken_pipe(&error) => Exit::Success,
        Err(error) => {
            terminal::complain(terminal::escaped(&terminal::sentence(&error)));
            Exit::Error
        }
    };
    log::flush(LOG_FLUSH_MAX);
    ExitCode::from(exit as u8)
}
