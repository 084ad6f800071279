//! `/healthz` and `/metrics` of a backend, over HTTP on an address of their own.
//!
//! There is no search here, and nothing of the index but its size.

use anyhow::Result;
use axum::http::header;
use axum::routing::get;
use axum::{Json, Router};
use backend::Backend;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How often recorded values are condensed, so that they do not pile up when nobody asks for them.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// The body of `/healthz`.
#[derive(serde::Serialize)]
struct Health {
    /// `degraded` when a shard was found damaged while it was in use.
    status: &'static str,
    shards: usize,
    packages: u64,
    documents: u64,
}

/// Answers requests until the process ends.
pub(super) async fn serve(
    listener: TcpListener,
    backend: Arc<Backend>,
    metrics: PrometheusHandle,
) -> Result<()> {
    eprintln!("metrics on http://{}/metrics", listener.local_addr()?);
    tokio::spawn(upkeep(metrics.clone()));
    let healthz = move || async move { Json(health(&backend)) };
    let metrics_text = move || async move {
        let content_type = "text/plain; version=0.0.4; charset=utf-8";
        ([(header::CONTENT_TYPE, content_type)], metrics.render())
    };
    let app = Router::new()
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics_text));
    Ok(axum::serve(listener, app).await?)
}

async fn upkeep(metrics: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        metrics.run_upkeep();
    }
}

fn health(backend: &Backend) -> Health {
    let snapshot = backend.live().current();
    let counts = || snapshot.shards.iter().map(|shard| shard.live_counts());
    let is_damaged = snapshot.shards.iter().any(|shard| shard.is_damaged());
    Health {
        status: if is_damaged { "degraded" } else { "ok" },
        shards: snapshot.shards.len(),
        packages: counts().map(|counts| u64::from(counts.packages)).sum(),
        documents: counts().map(|counts| u64::from(counts.documents)).sum(),
    }
}
