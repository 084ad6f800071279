//! `trawl mcp`: the tools for coding agents, on standard input and output.

use super::index::{BuildFlags, GitFlags};
use super::listener::{self, LogFlags, Signals, Told};
use super::serve::{self, ServedIndex};
use crate::exit::Exit;
use crate::{in_process, log};
use anyhow::{Context, Result};
use backend::server::Options;
use frontend::Scope;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const LOG_FLUSH_MAX: Duration = Duration::from_secs(1);

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
    let index = ServedIndex::new(
        arguments.index.as_deref(),
        &arguments.sources,
        &arguments.build,
        &arguments.git,
        None,
    )?;
    let directory = index.directory.clone();
    let repositories = Arc::new(index.work_trees()?);
    let is_watched = arguments.watch || index.has_sources();
    let watched = serve::prepare(index, is_watched.then_some(None), None)?;
    let freshness = watched.as_ref().map(|it| it.watch.freshness());
    let backend = in_process::open(&directory, Some(repositories), Options::default())?;
    let frontend = in_process::watching_frontend(backend.clone(), true, freshness)?;
    if let Some(watched) = watched {
        let started = watched.run_in_thread(&frontend, backend);
        started.context("cannot start a thread")?;
    }
    let server = mcp::Server::new(frontend, Scope::everything(), 0);
    let mut signals = Signals::new();
    tokio::select! {
        ended = mcp::serve_stdio(server) => {
            ended.context("the connection to the agent failed")?;
            Ok(Exit::Success)
        }
        Told::Interrupt | Told::Terminate = signals.next() => {
            // A read from standard input may block, and cannot be cancelled.
            log::flush(LOG_FLUSH_MAX);
            Exit::Interrupted.now()
        }
    }
}
