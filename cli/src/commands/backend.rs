//! `trawl backend`: serves shards to frontends, health and metrics over HTTP.

mod health;
mod replica;
mod share;

use super::listener::{self, DrainFlags, Reserved, Signals, Told};
use super::nodes::RegistrationFlags;
use super::tls_flags::BackendTls;
use super::traces::TraceFlags;
use crate::exit::Exit;
use crate::{address, cache_dir, in_process, terminal, units};
use anyhow::{Context, Result, anyhow};
use cluster::membership::registration::Registration;
use cluster::membership::view::Absence;
use replica::ReplicaFlags;
use share::Neighbours;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

const LEAVE_MAX: Duration = Duration::from_secs(3);

/// Serve an index to frontends
///
/// Prints the address it listens on. Loads a changed index within a second, without a restart. On
/// an address that other machines reach it needs TLS, and serves only frontends with a certificate
/// of the client CA.
///
/// With --store it serves the index published there: it fetches the files to --data, verifies them,
/// and follows later generations. It refuses connections until its first share is fetched.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl backend --index I
  trawl backend --index I --listen 10.0.0.1:28082 --name b1 --insecure \\
      --nodes etcd:http://10.0.0.9:2379    register this backend, so that frontends find it
  trawl backend --index I --listen 10.0.0.1:28082 --tls-cert B.pem --tls-key B.key \\
      --client-ca CA.pem
  trawl backend --store s3://code/index --data /var/lib/trawl
  trawl backend --index I --traces http://127.0.0.1:4318
                                           send spans of traced searches to a collector")]
pub(crate) struct BackendArguments {
    /// Index directory
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    index: Option<PathBuf>,
    #[command(flatten)]
    store: ReplicaFlags,
    /// Address to listen on; with port 0, any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:28082", value_parser = address::parse_listen)]
    listen: String,
    /// Serve the commits of the git repositories below DIR
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,
    /// Serve /metrics (Prometheus), /healthz and /readyz over HTTP on this address [default: not
    /// served]
    #[arg(long, value_name = "HOST:PORT", value_parser = address::parse_listen)]
    metrics: Option<String>,
    /// Threads that verify candidates, for each search [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Searches that run at once; others wait [default: four per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    searches: Option<u16>,
    /// Heavy searches that run at once, in addition to --searches [default: one per processor, at
    /// least two]
    ///
    /// A search is heavy if it reads 30 MB or more, or has patterns that take long to compile.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    heavy_searches: Option<u16>,
    /// Memory that this process may use beside the pages of the index, approximately: for the
    /// compiled patterns of heavy searches; a search that needs more runs alone
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "64M")]
    memory: u64,
    #[command(flatten)]
    tls: BackendTls,
    #[command(flatten)]
    registration: RegistrationFlags,
    #[command(flatten)]
    drain: DrainFlags,
    #[command(flatten)]
    traces: TraceFlags,
    #[command(flatten)]
    log: listener::LogFlags,
}

impl BackendArguments {
    fn options(&self) -> backend::server::Options {
        let default = backend::server::Options::default();
        backend::server::Options {
            workers: self.workers.map_or(default.workers, usize::from),
            searches: self.searches.map_or(default.searches, usize::from),
            heavy_searches: (self.heavy_searches).map_or(default.heavy_searches, usize::from),
            lookups: default.lookups,
            pattern_bytes: self.memory,
        }
    }

    /// Nodes that share the store.
    fn neighbours(&self, name: &str, data: &Path) -> Result<Option<Neighbours>> {
        cache_dir::create(data)?;
        let absence = Absence {
            max: Duration::from_secs(self.store.lost_after),
            // A draining node may only restart.
            ends_if_draining: false,
        };
        let watcher = self.registration.watch(data, absence)?;
        Ok(watcher.map(|watcher| Neighbours::follow(name.to_owned(), watcher)))
    }
}

pub(super) fn run(arguments: &BackendArguments) -> Result<Exit> {
    listener::run(arguments.log, serve(arguments))
}

async fn serve(arguments: &BackendArguments) -> Result<Exit> {
    let directory = arguments.index.as_ref().or(arguments.store.data.as_ref());
    let index = directory.context("give --index DIR, or --store STORE and --data DIR")?;
    let reserved = Reserved::bind(&arguments.listen, "--listen").await?;
    let address = reserved.address()?;
    let has_store = arguments.store.store.is_some();
    let member = arguments.registration.member(address, has_store)?;
    let health = match &arguments.metrics {
        Some(address) => Some((
            listener::bind(address, "--metrics").await?,
            listener::record_metrics()?,
        )),
        None => None,
    };
    // Frontends decide about sampling.
    arguments.traces.start("trawl-backend", address, 1.0)?;
    let tls = arguments.tls.config(address)?;
    let neighbours = match &member {
        Some(member) if has_store => arguments.neighbours(&member.name, index)?,
        _ => None,
    };
    let replica = replica::start(&arguments.store, neighbours).await?;
    let (address_in_use, failure) = match replica {
        None => (Address::Open(reserved.listen()?), None),
        Some((filled, failure)) => (Address::Reserved(reserved, filled), Some(failure)),
    };
    let live = backend::LiveShards::open(index)?;
    let repositories = in_process::repositories(arguments.repos.as_deref())?;
    let shown = arguments.store.store.clone();
    let shown = shown.unwrap_or_else(|| index.display().to_string());
    let signals = Signals::new();
    terminal::announce(format_args!("backend of {shown} on {address}"))?;
    let backend = backend::Backend::start(live, repositories, arguments.options());
    let registered = arguments.registration.register(member)?;
    let shutdown = drain(&backend, registered, signals, arguments.drain);
    let listens = Arc::new(AtomicBool::new(matches!(address_in_use, Address::Open(_))));
    let health = health.map(|(listener, metrics)| {
        health::serve(listener, backend.clone(), listens.clone(), metrics)
    });
    let searches = async {
        let listener = address_in_use.listener(&backend).await?;
        listens.store(true, Relaxed);
        anyhow::Ok(backend.clone().listen(listener, tls).await?)
    };
    tokio::select! {
        result = searches => result?,
        result = or_pending(health) => result?,
        error = or_pending(failure) => return Err(match error {
            Ok(error) => error.into(),
            Err(_) => anyhow!("the thread of the store has ended"),
        }),
        () = shutdown => {}
    }
    Ok(Exit::Success)
}

async fn or_pending<T>(future: Option<impl Future<Output = T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

enum Address {
    Open(TcpListener),
    /// Refuses connections until shards arrive: an empty backend would seem complete.
    Reserved(Reserved, replica::Filled),
}

impl Address {
    async fn listener(self, backend: &Arc<backend::Backend>) -> Result<TcpListener> {
        let (reserved, filled) = match self {
            Address::Open(listener) => return Ok(listener),
            Address::Reserved(reserved, filled) => (reserved, filled),
        };
        if filled.await.is_err() {
            // The store thread failed; its error ends the process.
            std::future::pending::<()>().await;
        }
        let backend = Arc::clone(backend);
        tokio::task::spawn_blocking(move || backend.live().reload()).await??;
        reserved.listen()
    }
}

/// Leaves the node list, so frontends send no more, then refuses searches and waits for running
/// ones.
async fn drain(
    backend: &backend::Backend,
    registered: Option<Registration>,
    mut signals: Signals,
    flags: DrainFlags,
) {
    let told = signals.next().await;
    let ends = async {
        if let Some(registered) = registered {
            let left = tokio::task::spawn_blocking(move || registered.leave(LEAVE_MAX));
            let _ = left.await;
        }
        if told == Told::Terminate {
            let max_s = flags.time().as_secs();
            tracing::info!(
                max_s,
                "no more searches; the backend ends with those that run"
            );
            if timeout(flags.time(), backend.drain()).await.is_err() {
                tracing::warn!("some searches were not finished in time");
            }
        }
    };
    tokio::select! {
        () = ends => {}
        _ = signals.next() => {}
    }
}
