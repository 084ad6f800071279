//! What handlers share: the coordinator, the keys of the interfaces, the metrics, and where blocking
//! work runs. Handlers import this and never the router.

use frontend::{Coordinator, SearchResult};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore};

/// How long an execution goes on without a client, for one that may come back to it by its id.
pub(crate) const KEEP: Duration = Duration::from_secs(30);

/// When a probe ended, and why no search is answered.
pub(crate) type Probed = (Instant, Option<String>);

#[derive(Clone)]
pub(crate) struct App {
    pub(crate) coordinator: Arc<Coordinator>,
    pub(crate) dcs_api_keys: Arc<[String]>,
    pub(crate) metrics: PrometheusHandle,
    /// A permit for each export that may run.
    pub(crate) exports: Arc<Semaphore>,
    /// The last probe of `/readyz`: when it ended, and why no search is answered. One request at a time
    /// probes.
    pub(crate) last_probe: Arc<Mutex<Option<Probed>>>,
}

/// Renders a part of an answer: in place if the answer is in memory, else on a blocking thread.
pub(crate) async fn rendering<T: Send + 'static>(
    answer: &SearchResult,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    if answer.is_in_memory() {
        work()
    } else {
        blocking(work).await
    }
}

/// Runs work that blocks, away from the runtime's workers. Its log lines name the request.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let span = tracing::Span::current();
    tokio::task::spawn_blocking(move || span.in_scope(work))
        .await
        .expect("rendering does not panic")
}
