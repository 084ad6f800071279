//! Health and metrics, for operators.

use crate::model::Overlaps;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

#[derive(serde::Serialize)]
struct Health {
    status: &'static str,
    backends: Vec<BackendHealth>,
    /// Packages that several backends have in different shards.
    #[serde(skip_serializing_if = "Option::is_none")]
    overlaps: Option<Overlaps>,
}

#[derive(serde::Serialize)]
struct BackendHealth {
    name: String,
    connected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    shards: usize,
    documents: u64,
}

/// Reports whether backends are connected. Some are enough to answer, and incomplete answers say so.
pub(crate) async fn healthz(State(app): State<App>) -> impl IntoResponse {
    let backends = app.coordinator.backends();
    let connected = backends.iter().filter(|backend| backend.connected).count();
    let (code, status) = match connected {
        0 => (StatusCode::SERVICE_UNAVAILABLE, "down"),
        some if some < backends.len() => (StatusCode::OK, "degraded"),
        _ => (StatusCode::OK, "ok"),
    };
    let backend = |status: frontend::BackendStatus| BackendHealth {
        name: status.name,
        connected: status.connected,
        reason: status.reason,
        shards: status.shards,
        documents: status.documents,
    };
    let backends = backends.into_iter().map(backend).collect();
    let overlaps = Overlaps::of(&app.coordinator.overlaps());
    let health = Health {
        status,
        backends,
        overlaps,
    };
    (code, Json(health))
}

/// Renders the metrics of the process in Prometheus' format.
pub(crate) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let connected = app.coordinator.backends();
    let connected = connected.iter().filter(|backend| backend.connected).count();
    metrics::gauge!("trawl_frontend_backends_connected").set(connected as f64);
    metrics::gauge!("trawl_frontend_spool_bytes").set(app.coordinator.spool_bytes() as f64);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.render())
}
