//! Shutdown. SIGTERM drains for a bounded time; SIGINT or a second signal ends at once.

use crate::progress::ThreadGuard;
use frontend::{Coordinator, Serving};
use std::future::pending;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::sleep;

/// Leaves the rest of the shutdown 5 s of Kubernetes' 30 s.
const DRAIN_S: u16 = 25;

const DRAIN_S_MAX: i64 = 3600;

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
