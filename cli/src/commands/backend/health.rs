//! `/healthz` and `/metrics` of a backend, over HTTP on an address of their own.
//!
//! There is no search here, and nothing of the index but its size.

use anyhow::Result;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use backend::Backend;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How often recorded values are condensed, so that they do not pile up when nobody asks for them.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

#[derive(Clone)]
struct HealthState {
    backend: Arc<Backend>,
    metrics: PrometheusHandle,
}

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
    let routes = Router::new()
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics_text));
    let app = routes.with_state(HealthState { backend, metrics });
    Ok(axum::serve(listener, app).await?)
}

async fn upkeep(metrics: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        metrics.run_upkeep();
    }
}

async fn healthz(State(state): State<HealthState>) -> impl IntoResponse {
    let snapshot = state.backend.live().current();
    let counts = || snapshot.shards.iter().map(|shard| shard.live_counts());
    let is_damaged = snapshot.shards.iter().any(|shard| shard.is_damaged());
    Json(Health {
        status: if is_damaged { "degraded" } else { "ok" },
        shards: snapshot.shards.len(),
        packages: counts().map(|counts| u64::from(counts.packages)).sum(),
        documents: counts().map(|counts| u64::from(counts.documents)).sum(),
    })
}

async fn metrics_text(State(state): State<HealthState>) -> impl IntoResponse {
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    (
        [(header::CONTENT_TYPE, content_type)],
        state.metrics.render(),
    )
}
