//! Servers on standard input and output, for one client, of an index that is prepared meanwhile.

use super::listener::{Signals, Told};
use super::serve::{self, ServedIndex};
use crate::exit::Exit;
use crate::{in_process, log, terminal};
use anyhow::{Context, Result};
use backend::server::Options;
use frontend::Coordinator;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

const LOG_FLUSH_MAX: Duration = Duration::from_secs(1);

/// Runs `served` to its end. `prepare` runs meanwhile; its failure ends the server, too.
pub(super) async fn run(
    prepare: impl FnOnce() -> Result<()> + Send + 'static,
    served: impl Future<Output = Result<Exit>>,
) -> Result<Exit> {
    let exit = ended(prepare, served).await;
    let exit = exit.unwrap_or_else(|error| {
        if terminal::is_broken_pipe(&error) {
            return Exit::Success;
        }
        terminal::complain(terminal::escaped(&terminal::sentence(&error)));
        Exit::Error
    });
    log::flush(LOG_FLUSH_MAX);
    // A read from standard input may block, and cannot be cancelled. An unfinished index is
    // removed by the next build.
    exit.now()
}

async fn ended(
    prepare: impl FnOnce() -> Result<()> + Send + 'static,
    served: impl Future<Output = Result<Exit>>,
) -> Result<Exit> {
    let mut prepared = tokio::task::spawn_blocking(prepare);
    let mut served = pin!(served);
    let mut signals = Signals::new();
    let mut is_prepared = false;
    loop {
        tokio::select! {
            result = &mut prepared, if !is_prepared => {
                result??;
                is_prepared = true;
            }
            exit = &mut served => return exit,
            Told::Interrupt | Told::Terminate = signals.next() => return Ok(Exit::Interrupted),
        }
    }
}

/// Brings the index up to date, and serves and watches it.
pub(super) fn prepare(index: ServedIndex, is_watched: bool) -> Result<Arc<Coordinator>> {
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
