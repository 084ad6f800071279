//! `trawl backend`: serves the shards of an index to frontends.

mod health;

use super::listener;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// Serve an index to frontends
///
/// Prints the address it listens on. A changed index is picked up within a second, without a restart.
/// Trawl's protocol has no authentication: let only frontends connect.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl backend --index I
  trawl backend --index I --listen 10.0.0.1:28082 --metrics 127.0.0.1:28090")]
pub(crate) struct BackendArguments {
    /// The index directory
    #[arg(long, value_name = "DIR")]
    index: PathBuf,
    /// Listen on this address; with port 0 on any free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:28082")]
    listen: String,
    /// Serve /metrics (Prometheus) and /healthz over HTTP on this address [default: not served]
    #[arg(long, value_name = "ADDR")]
    metrics: Option<String>,
    /// Threads that verify candidates, for each search [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Searches that run at once; others wait [default: four for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    searches: Option<u16>,
    /// Heavy searches that run at once, in addition: those that read 30 MB or more
    /// [default: one for each processor, at least two]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    heavy_searches: Option<u16>,
}

impl BackendArguments {
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

pub(super) fn run(arguments: &BackendArguments) -> Result<ExitCode> {
    listener::run(serve(arguments))
}

async fn serve(arguments: &BackendArguments) -> Result<ExitCode> {
    let live = backend::LiveShards::open(&arguments.index)?;
    let listener = listener::bind(&arguments.listen, "--listen").await?;
    let health = match &arguments.metrics {
        Some(address) => Some((
            listener::bind(address, "--metrics").await?,
            listener::record_metrics()?,
        )),
        None => None,
    };
    let index = arguments.index.display();
    println!("backend of {index} on {}", listener.local_addr()?);
    let backend = backend::Backend::start(live, arguments.options());
    let health = async {
        match health {
            Some((listener, metrics)) => health::serve(listener, backend.clone(), metrics).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        result = backend.clone().listen(listener) => result?,
        result = health => result?,
        () = listener::shutdown_signal() => {}
    }
    Ok(ExitCode::SUCCESS)
}
