//! `trawl frontend`: searches backends, and answers people and programs over HTTP.

use crate::access::Access;
use crate::limits::Limits;
use crate::{size, terminal};
use anyhow::{Context, Result};
use axum::serve::ListenerExt;
use frontend::{Backend, Coordinator};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::net::TcpListener;

/// Search backends, and answer over HTTP
#[derive(clap::Args)]
#[command(after_help = "Example:
  trawl frontend --backend 127.0.0.1:28082 --backend 127.0.0.1:28083 --spool /var/tmp/spool")]
pub(crate) struct Arguments {
    /// A backend's address; give one for each backend
    #[arg(long = "backend", value_name = "ADDR", required = true)]
    backends: Vec<String>,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: String,
    /// A directory for what backends send; this frontend's alone
    #[arg(long, value_name = "DIR")]
    spool: PathBuf,
    /// Memory for all running queries; what needs more goes to the spool
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "256M")]
    memory: u64,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    terminal::start_log();
    tokio::runtime::Runtime::new()?.block_on(serve(arguments))
}

async fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let options = arguments.access.options()?;
    let listener = listen(&arguments.listen).await?;
    let metrics = record_metrics()?;
    std::fs::create_dir_all(&arguments.spool)
        .with_context(|| format!("{}: cannot be created", arguments.spool.display()))?;
    let config = arguments.limits.config(&arguments.spool, arguments.memory);
    let backends = arguments
        .backends
        .iter()
        .cloned()
        .map(Backend::tcp)
        .collect();
    let frontend = Coordinator::start(config, backends)?;
    answer(listener, web::app(frontend, options, metrics)).await
}

/// Binds the address that people and programs will use.
pub(crate) async fn listen(address: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}; another address is given with --listen")
    })
}

/// Upper bounds of the histograms' buckets, in seconds: from what a cached page takes to what the
/// worst query over a whole distribution does.
const SECONDS_BUCKETS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0, 60.0, 300.0,
];

/// Makes this process count what it does.
pub(crate) fn record_metrics() -> Result<PrometheusHandle> {
    Ok(PrometheusBuilder::new()
        .set_buckets(&SECONDS_BUCKETS)?
        .install_recorder()?)
}

/// Prints the address and answers until the process is told to end.
pub(crate) async fn answer(listener: TcpListener, app: axum::Router) -> Result<ExitCode> {
    println!("http://{}/", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // Without it an answer is slower, not wrong.
        let _ = stream.set_nodelay(true);
    });
    tokio::select! {
        result = axum::serve(listener, app) => result?,
        () = terminal::told_to_end() => {}
    }
    Ok(ExitCode::SUCCESS)
}
