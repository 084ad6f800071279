//! `trawl mcp`: the tools for coding agents, on standard input and output.

use super::index::{BuildFlags, GitFlags};
use super::listener::{self, LogFlags, Signals, Told};
use super::serve::{self, ServedIndex};
use crate::exit::Exit;
use crate::{in_process, log};
use anyhow::{Context, Result, bail};
use backend::server::Options;
use frontend::{Coordinator, Scope};
use std::env;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

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
        ready.send_replace(Some(prepare(index, is_watched)?));
        Ok(())
    };
    let mut prepared = tokio::task::spawn_blocking(prepare);
    let mut served = pin!(mcp::serve_stdio(mcp::Server::begun(
        coordinator,
        Scope::everything()
    )));
    let mut signals = Signals::new();
    let mut is_prepared = false;
    loop {
        tokio::select! {
            result = &mut prepared, if !is_prepared => {
                result??;
                is_prepared = true;
            }
            ended = &mut served => {
                ended.context("the connection to the agent failed")?;
                log::flush(LOG_FLUSH_MAX);
                // An unfinished index is removed by the next build.
                Exit::Success.now()
            }
            Told::Interrupt | Told::Terminate = signals.next() => {
                // A read from standard input may block, and cannot be cancelled.
                log::flush(LOG_FLUSH_MAX);
                Exit::Interrupted.now()
            }
        }
    }
}

/// Brings the index up to date, and serves and watches it.
fn prepare(index: ServedIndex, is_watched: bool) -> Result<Arc<Coordinator>> {
    let directory = index.directory.clone();
    let repositories = Arc::new(index.work_trees()?);
    let watched = serve::prepare(index, is_watched.then_some(None), None)?;
    let freshness = watched.as_ref().map(|it| it.watch.freshness());
    let backend = in_process::open(&directory, Some(repositories), Options::default())?;
    let frontend = in_process::watching_frontend(backend.clone(), true, freshness)?;
    if let Some(watched) = watched {
        let started = watched.run_in_thread(&frontend, backend);
        started.context("cannot start a thread")?;
    }
    Ok(frontend)
}
