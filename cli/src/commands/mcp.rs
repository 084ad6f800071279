//! `trawl mcp`: the tools for coding agents, on standard input and output.

use super::index::{BuildFlags, GitFlags};
use super::listener::{self, LogFlags};
use super::serve::ServedIndex;
use super::stdio;
use crate::exit::Exit;
use anyhow::{Context, Result, bail};
use frontend::Scope;
use std::env;
use std::path::PathBuf;
use tokio::sync::watch;

/// Serve coding agents over the Model Context Protocol
///
/// An agent starts this command itself and speaks with it on standard input and output. Like
/// `trawl serve --watch`, it searches the current directory, or SOURCEs, with an index in the
/// user's cache directory; each answer is of the files as they are then. Progress and log are on
/// standard error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  claude mcp add trawl -- trawl mcp                the directory of the project, in Claude Code
  claude mcp add trawl -- trawl mcp ~/src/linux
  claude mcp add trawl -- trawl mcp --index I      an existing index
  codex mcp add trawl -- trawl mcp                 in Codex
  claude mcp add --transport http trawl http://127.0.0.1:8080/mcp
                                                   a running `trawl serve` or `trawl frontend`")]
#[command(group(clap::ArgGroup::new("repositories").args(["git", "git_dir_each"]).multiple(true)))]
pub(crate) struct McpArguments {
    /// Index directory; with SOURCE it is updated first
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    /// Watch the SOURCEs and the references of the --git repositories, as always without --index
    #[arg(long, hide = true)]
    watch: bool,
    #[command(flatten)]
    build: BuildFlags,
    #[command(flatten)]
    git: GitFlags,
    #[command(flatten)]
    log: LogFlags,
    /// Directories of source code
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,
}

pub(super) fn run(arguments: &McpArguments) -> Result<Exit> {
    listener::run(arguments.log, serve(arguments))
}

async fn serve(arguments: &McpArguments) -> Result<Exit> {
    let is_default =
        arguments.index.is_none() && arguments.sources.is_empty() && !arguments.git.is_given();
    if is_default && local::is_too_wide(&env::current_dir()?) {
        bail!(
            "the current directory is the home directory or above; name one: trawl mcp DIRECTORY"
        );
    }
    let index = ServedIndex::new(
        arguments.index.as_deref(),
        &arguments.sources,
        &arguments.build,
        &arguments.git,
        None,
    )?;
    let is_watched = arguments.watch || index.has_sources();
    let (ready, coordinator) = watch::channel(None);
    let prepare = move || -> Result<()> {
        ready.send_replace(Some(stdio::prepare(index, is_watched)?));
        Ok(())
    };
    let served = async {
        let server = mcp::Server::begun(coordinator, Scope::everything());
        let ended = mcp::serve_stdio(server).await;
        ended.context("the connection to the agent failed")?;
        Ok(Exit::Success)
    };
    stdio::run(prepare, served).await
}
