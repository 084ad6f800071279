//! `trawl local`: the process that keeps indexes for `trawl grep`.

use crate::cache_dir::cache_dir;
use crate::exit::Exit;
use crate::units::parse_size;
use anyhow::Result;
use std::io::{self, Write};
use std::path::PathBuf;

/// List the indexes of trawl grep, and show or stop the process that keeps them
///
/// The first trawl grep in a large tree starts it. It watches the tree, keeps an index below the
/// cache directory, and ends after 30 minutes without a search.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl local                      trees, indexes and the process
  trawl local --cache-size 2G      at most 2 GiB for all indexes, from now on")]
pub(crate) struct LocalArguments {
    #[command(subcommand)]
    command: Option<LocalCommand>,
    /// Limit of all indexes on disk, until it is set again; the least recently used are removed
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    cache_size: Option<u64>,
}

#[derive(clap::Subcommand)]
enum LocalCommand {
    /// List the trees, their files, watches and indexes (the default)
    Status,
    /// Index all changes now
    Update,
    /// End the process; the indexes stay
    Stop,
    /// Serve searches until idle
    #[command(hide = true)]
    Run {
        /// Tree to index at once
        root: Option<PathBuf>,
    },
    /// Update the index of a tree
    #[command(hide = true)]
    Index {
        root: PathBuf,
        directory: PathBuf,
        from_ns: Option<i128>,
    },
}

pub(super) fn run(arguments: &LocalArguments) -> Result<Exit> {
    if let Some(bytes) = arguments.cache_size {
        local::set_limit(&cache_dir()?, bytes)?;
    }
    match arguments.command.as_ref().unwrap_or(&LocalCommand::Status) {
        LocalCommand::Status => {
            let status = local::status(&cache_dir()?)?;
            if status.is_none() {
                print!("{}", local::indexes(&cache_dir()?)?);
            }
            return print(status);
        }
        LocalCommand::Update => return print(local::update(&cache_dir()?)?),
        LocalCommand::Stop => {
            if local::stop(&cache_dir()?)?.is_none() {
                return Ok(none());
            }
        }
        LocalCommand::Run { root } => {
            close_inherited();
            local::serve(&cache_dir()?, root.as_deref())?;
        }
        LocalCommand::Index {
            root,
            directory,
            from_ns,
        } => local::index(root.clone(), directory, *from_ns)?,
    }
    Ok(Exit::Success)
}

fn print(text: Option<Vec<u8>>) -> Result<Exit> {
    let Some(text) = text else {
        return Ok(none());
    };
    io::stdout().write_all(&text)?;
    Ok(Exit::Success)
}

fn none() -> Exit {
    crate::terminal::report("no process runs; trawl grep starts it in a large tree");
    Exit::NothingFound
}

/// Closes descriptors of the caller: programs wait until their pipes are closed.
#[expect(unsafe_code)]
fn close_inherited() {
    // SAFETY: no descriptor above stderr has an owner yet in this process.
    unsafe { libc::close_range(3, libc::c_uint::MAX, 0) };
}
