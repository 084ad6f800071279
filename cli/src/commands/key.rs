//! `trawl key`: creates an API key for a client.

use crate::exit::Exit;
use crate::terminal::{self, report};
use anyhow::{Context, Result};
use web::NewKey;

/// Make a key for a client of the HTTP API
///
/// Prints the key for the client, which cannot be shown again, and then the line for the file that
/// the server's --api-keys names. The line has only a hash of the key.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl key build-robot
  trawl serve --api-keys keys              where `keys` has the printed lines
  trawl search --key-file ~/robot.key malloc
                                           where `~/robot.key` has the printed key")]
pub(crate) struct KeyArguments {
    /// Name of the key, shown in the log and in the file of keys
    #[arg(value_name = "NAME")]
    name: String,
}

pub(super) fn run(arguments: &KeyArguments) -> Result<Exit> {
    let new = NewKey::random(&arguments.name).context("cannot make the key")?;
    report("the key, for the client; it is not shown again:");
    terminal::print(&new.key)?;
    report("the line for the server's file of keys (--api-keys):");
    terminal::print(&new.line)?;
    Ok(Exit::Success)
}
