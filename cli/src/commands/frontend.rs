//! `trawl frontend`: searches backends, and answers over HTTP.

use super::frontend_flags::FrontendFlags;
use super::listener;
use crate::{cache_dir, units};
use anyhow::Result;
use frontend::{Backend, Coordinator};
use std::path::PathBuf;
use std::process::ExitCode;

/// Search backends, and answer over HTTP
///
/// Serves the search page, the JSON API and metrics. Prints the URL.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl frontend --backend 127.0.0.1:28082 --spool /var/tmp/spool
  trawl frontend --backend 10.0.0.1:28082 --backend 10.0.0.2:28082 --spool /var/lib/trawl/spool")]
pub(crate) struct FrontendArguments {
    /// The address of a backend; repeat for each backend
    #[arg(long = "backend", value_name = "ADDR", required = true)]
    backends: Vec<String>,
    /// Listen on this address; with port 0 on any free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: String,
    /// The directory for results; no other process may use it
    #[arg(long, value_name = "DIR")]
    spool: PathBuf,
    /// Memory for all running queries; what exceeds it goes to the spool
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "256M")]
    memory: u64,
    #[command(flatten)]
    flags: FrontendFlags,
}

pub(super) fn run(arguments: &FrontendArguments) -> Result<ExitCode> {
    listener::run(serve(arguments))
}

async fn serve(arguments: &FrontendArguments) -> Result<ExitCode> {
    let options = arguments.flags.web_options()?;
    let listener = listener::bind(&arguments.listen, "--listen").await?;
    let metrics = listener::record_metrics()?;
    cache_dir::create(&arguments.spool)?;
    let config = arguments.flags.config(&arguments.spool, arguments.memory);
    let backends = arguments.backends.iter().cloned().map(Backend::tcp);
    let frontend = Coordinator::start(config, backends.collect())?;
    listener::serve(listener, web::app(frontend, options, metrics)).await
}
