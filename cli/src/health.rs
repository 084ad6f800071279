//! What a backend tells operators, over HTTP on an address of its own: how it is, and what it has
//! measured. There is no search here, and nothing of what is in the index but its size.

use anyhow::{Context, Result};
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

/// How often measurements are condensed, that nobody may have asked for.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

#[derive(Clone)]
struct App {
    backend: Arc<Backend>,
    metrics: PrometheusHandle,
}

/// What is served.
#[derive(serde::Serialize)]
struct Health {
    /// `degraded` when a shard was damaged while it was in use.
    status: &'static str,
    shards: usize,
    packages: u64,
    documents: u64,
}

/// Where `/metrics` and `/healthz` will be.
pub(crate) async fn listen(address: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}; another address is given with --metrics")
    })
}

/// Answers until the process ends.
pub(crate) async fn serve(
    listener: TcpListener,
    backend: Arc<Backend>,
    metrics: PrometheusHandle,
) -> Result<()> {
    eprintln!("metrics on http://{}/metrics", listener.local_addr()?);
    tokio::spawn(keep_up(metrics.clone()));
    let routes = Router::new()
        .route("/healthz", get(healthz))
        .route("/metrics", get(render));
    let app = routes.with_state(App { backend, metrics });
    Ok(axum::serve(listener, app).await?)
}

async fn keep_up(metrics: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        metrics.run_upkeep();
    }
}

async fn healthz(State(app): State<App>) -> impl IntoResponse {
    let snapshot = app.backend.live().current();
    let counts = || snapshot.shards.iter().map(|shard| shard.live_counts());
    let is_damaged = snapshot.shards.iter().any(|shard| shard.is_damaged());
    Json(Health {
        status: if is_damaged { "degraded" } else { "ok" },
        shards: snapshot.shards.len(),
        packages: counts().map(|counts| u64::from(counts.packages)).sum(),
        documents: counts().map(|counts| u64::from(counts.documents)).sum(),
    })
}

async fn render(State(app): State<App>) -> impl IntoResponse {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.render())
}
