//! `trawl backend`: serves the shards of an index to frontends.

use crate::{frontend, health, terminal};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::ExitCode;

/// Serve an index to frontends
///
/// Prints the address it listens on, and takes up a new manifest of the index within a second.
/// It speaks Trawl's own protocol, without authentication: let only frontends reach it.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  trawl backend --index I --listen 127.0.0.1:28082")]
pub(crate) struct Arguments {
    /// The index directory
    #[arg(long, value_name = "DIR")]
    index: PathBuf,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:28082")]
    listen: String,
    /// Serve /metrics (Prometheus) and /healthz here, over HTTP [default: nowhere]
    #[arg(long, value_name = "ADDR")]
    metrics: Option<String>,
    /// Threads that verify candidates, for each search [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Searches at once; others wait [default: four for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    searches: Option<u16>,
    /// Heavy searches at once, beside the others: those that read 30 MB or more
    /// [default: one for each processor, two at least]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    heavy_searches: Option<u16>,
}

impl Arguments {
    fn options(&self) -> backend::server::Options {
        let default = backend::server::Options::default();
        backend::server::Options {
            workers: self.workers.map_or(default.workers, usize::from),
            searches: self.searches.map_or(default.searches, usize::from),
            heavy_searches: self
                .heavy_searches
                .map_or(default.heavy_searches, usize::from),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    terminal::start_log();
    tokio::runtime::Runtime::new()?.block_on(serve(arguments))
}

async fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let live = backend::LiveShards::open(&arguments.index)?;
    let listener = tokio::net::TcpListener::bind(&arguments.listen)
        .await
        .with_context(|| format!("cannot listen on {}", arguments.listen))?;
    let observed = match &arguments.metrics {
        Some(address) => Some((health::listen(address).await?, frontend::record_metrics()?)),
        None => None,
    };
    println!(
        "backend of {} on {}",
        arguments.index.display(),
        listener.local_addr()?
    );
    let backend = backend::Backend::start(live, arguments.options());
    let told = async {
        match observed {
            Some((listener, metrics)) => health::serve(listener, backend.clone(), metrics).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        result = backend.clone().listen(listener) => result?,
        result = told => result?,
        () = terminal::told_to_end() => {}
    }
    Ok(ExitCode::SUCCESS)
}
