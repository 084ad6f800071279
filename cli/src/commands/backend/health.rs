//! Health, readiness and metrics of a backend over HTTP, without search.

use crate::terminal;
use anyhow::Result;
use axum::http::{StatusCode, header};
use axum::routing::get;
use axum::{Json, Router};
use backend::Backend;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::net::TcpListener;

/// Compaction interval, so values do not pile up without scrapes.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

#[derive(serde::Serialize)]
struct Health {
    /// `fetching` before the first complete share of the store, `degraded` after a damaged shard
    /// was found, `draining` before the end.
    status: &'static str,
    shards: usize,
    packages: u64,
    documents: u64,
}

/// Answers `/healthz` (alive), `/readyz` (accepts searches) and `/metrics`. `listens`: frontends
/// can connect.
pub(super) async fn serve(
    listener: TcpListener,
    backend: Arc<Backend>,
    listens: Arc<AtomicBool>,
    metrics: PrometheusHandle,
) -> Result<()> {
    let address = listener.local_addr()?;
    terminal::report(format_args!("metrics on http://{address}/metrics"));
    let upkeep = metrics.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP_EVERY).await;
            upkeep.run_upkeep();
        }
    });
    let health = move || health(&backend, listens.load(Relaxed));
    let healthz = health.clone();
    let healthz = move || async move { Json(healthz()) };
    let readyz = move || async move {
        let health = health();
        let code = match health.status {
            "fetching" | "draining" => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::OK,
        };
        (code, Json(health))
    };
    let metrics_text = move || async move {
        let content_type = "text/plain; version=0.0.4; charset=utf-8";
        ([(header::CONTENT_TYPE, content_type)], metrics.render())
    };
    let app = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics_text));
    Ok(axum::serve(listener, app).await?)
}

fn health(backend: &Backend, listens: bool) -> Health {
    let snapshot = backend.live().current();
    let counts = || snapshot.shards.iter().map(|shard| shard.live_counts());
    let is_damaged = snapshot.shards.iter().any(|shard| shard.is_damaged());
    Health {
        status: match (backend.is_draining(), listens, is_damaged) {
            (true, ..) => "draining",
            (false, false, _) => "fetching",
            (false, true, true) => "degraded",
            (false, true, false) => "ok",
        },
        shards: snapshot.shards.len(),
        packages: counts().map(|counts| u64::from(counts.packages)).sum(),
        documents: counts().map(|counts| u64::from(counts.documents)).sum(),
    }
}
