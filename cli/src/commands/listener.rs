//! Log, metrics, addresses and shutdown of listening commands. SIGTERM drains for a bounded time;
//! SIGINT or a second signal ends at once.

use super::traces;
use crate::exit::Exit;
use crate::progress::ThreadGuard;
use crate::{allocator, log, panics};
use anyhow::{Context, Result};
use frontend::{Coordinator, Serving};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{self as unix, UnixDatagram};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::sleep;

/// Bounds in seconds, from a cached page to the worst query over a distribution.
const SECONDS_BUCKETS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0, 60.0, 300.0,
];

const BACKLOG: u32 = 1024;

/// The library of `/mcp` logs each request, with its client, as information.
const LEVELS: &str = "info,rmcp=error";

/// Leaves the rest of the shutdown 5 s of Kubernetes' 30 s.
const DRAIN_S: u16 = 25;

const DRAIN_S_MAX: i64 = 3600;

/// Log format.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct LogFlags {
    /// Format of the log on standard error: plain text, or a JSON object on each line
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// Runs a server to its end; `TRAWL_LOG` sets the log level (`warn`, `debug`, ...).
pub(super) fn run(flags: LogFlags, server: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let filter = tracing_subscriber::EnvFilter::try_from_env("TRAWL_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(LEVELS));
    let queue = log::start().context("cannot start the thread of the log")?;
    let log_lines = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_env_filter(filter)
        .with_writer(move || queue);
    match flags.log_format {
        LogFormat::Text => log_lines.init(),
        LogFormat::Json => log_lines.json().flatten_event(true).init(),
    }
    raise_descriptor_limit();
    allocator::give_back_in_thread();
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(server);
    // Ends tasks and their spans.
    drop(runtime);
    trace::flush(traces::FLUSH_MAX);
    ended
}

pub(super) async fn bind(address: &str, flag: &str) -> Result<TcpListener> {
    Reserved::bind(address, flag).await?.listen()
}

/// Refuses connections until [`listen`](Self::listen), which fails if another process listens
/// first.
pub(super) struct Reserved {
    socket: TcpSocket,
    /// Error text if listening fails.
    refused: String,
}

impl Reserved {
    pub(super) async fn bind(address: &str, flag: &str) -> Result<Reserved> {
        let refused =
            format!("cannot listen on {address}; set another address with {flag} HOST:PORT");
        let socket = bound(address).await.with_context(|| refused.clone())?;
        Ok(Reserved { socket, refused })
    }

    /// Address with the actual port.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(super) fn listen(self) -> Result<TcpListener> {
        self.socket.listen(BACKLOG).context(self.refused)
    }
}

async fn bound(address: &str) -> io::Result<TcpSocket> {
    let mut last = io::Error::other("the name has no address");
    for address in lookup_host(address).await? {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // Connections of an earlier process may linger.
        socket.set_reuseaddr(true)?;
        match socket.bind(address) {
            Ok(()) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

pub(super) fn record_metrics() -> Result<PrometheusHandle> {
    let recorder = PrometheusBuilder::new().set_buckets(&SECONDS_BUCKETS)?;
    let handle = recorder.install_recorder()?;
    tls::describe_metrics();
    cluster::membership::describe_metrics();
    trace::describe_metrics();
    panics::describe_metrics();
    log::describe_metrics();
    Ok(handle)
}

/// Reports readiness to systemd (`Type=notify`).
pub(super) fn notify_ready() {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => unix::SocketAddr::from_abstract_name(name),
        None => unix::SocketAddr::from_pathname(&name),
    };
    let sent = address.and_then(|address| {
        let socket = UnixDatagram::unbound()?;
        socket.send_to_addr(b"READY=1", &address)
    });
    if let Err(error) = sent {
        tracing::warn!(%error, "cannot tell systemd that the server is ready");
    }
}

/// Allows as many open files as the system.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "cannot raise the limit on open files");
    }
}

/// Time to drain.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct DrainFlags {
    /// Wait at most this many seconds for running searches after SIGTERM, and start no more
    ///
    /// After half of the time, their clients are told to use another server. A second signal ends
    /// the server at once, as SIGINT does.
    #[arg(long, value_name = "SECS", default_value_t = DRAIN_S, value_parser = clap::value_parser!(u16).range(0..=DRAIN_S_MAX))]
    drain: u16,
}

impl DrainFlags {
    pub(super) fn time(self) -> Duration {
        Duration::from_secs(self.drain.into())
    }

    /// Returns when the frontend must end, drained or not.
    pub(super) async fn frontend(self, mut signals: Signals, frontend: &Coordinator) {
        if signals.next().await == Told::Interrupt {
            return;
        }
        let time = self.time();
        tracing::info!(
            max_s = time.as_secs(),
            "no more searches; the server ends with those that run"
        );
        frontend.drain(Serving::Draining);
        let ends = async {
            sleep(time / 2).await;
            frontend.drain(Serving::HandingOver);
            sleep(time / 2).await;
            tracing::warn!("some answers were not finished in time");
        };
        tokio::select! {
            () = ends => {}
            _ = signals.next() => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Interrupt,
    Terminate,
}

/// Created before the server prints its address, as earlier signals kill the process.
pub(super) struct Signals(Option<(Signal, Signal)>);

impl Signals {
    pub(super) fn new() -> Signals {
        let interrupt = signal(SignalKind::interrupt());
        let terminate = signal(SignalKind::terminate());
        Signals(interrupt.ok().zip(terminate.ok()))
    }

    pub(super) async fn next(&mut self) -> Told {
        let Some((interrupt, terminate)) = &mut self.0 else {
            // Signals end the process by default.
            return pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => Told::Interrupt,
            _ = terminate.recv() => Told::Terminate,
        }
    }
}

/// Calls `act` on a signal, until dropped. Without a handler, signals end the process.
pub(super) fn on_interrupt(
    act: impl FnOnce() + Send + 'static,
) -> Option<ThreadGuard<oneshot::Sender<()>>> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_io().build().ok()?;
    let (running, ended) = oneshot::channel();
    Some(ThreadGuard::start(running, move || {
        let signalled = runtime.block_on(async {
            let mut signals = Signals::new();
            tokio::select! {
                _ = signals.next() => true,
                _ = ended => false,
            }
        });
        if signalled {
            act();
        }
    }))
}
