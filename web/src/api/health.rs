//! Health, readiness and metrics, for operators.
//!
//! `/healthz`: the process answers requests. `/readyz`: it can answer a search; runs one over all
//! backends, and uses the rendering threads.

use crate::http::blocking;
use crate::model;
use crate::state::{App, Options};
use access::KeyName;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use frontend::{BackendStatus, Overlaps, Scope, Serving};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PROBE_MAX: Duration = Duration::from_secs(2);

/// Many requests for `/readyz` cost one search.
const PROBE_KEPT: Duration = Duration::from_secs(1);

/// Operators see addresses as names.
pub(super) fn backends(app: &App, scope: &Scope) -> Vec<BackendStatus> {
    let mut backends = app.coordinator.backends(scope);
    if app.is_admin {
        for backend in &mut backends {
            backend.name.clone_from(&backend.address);
        }
    }
    backends
}

pub(super) fn overlaps(app: &App, scope: &Scope) -> Arc<Overlaps> {
    let overlaps = app.coordinator.overlaps(scope);
    if !app.is_admin || overlaps.packages.is_empty() {
        return overlaps;
    }
    let backends = app.coordinator.backends(scope).into_iter();
    let addresses: HashMap<_, _> = backends.map(|it| (it.name, it.address)).collect();
    let mut overlaps = Overlaps::clone(&overlaps);
    for package in &mut overlaps.packages {
        for name in package.superseded.iter_mut().chain([&mut package.searched]) {
            if let Some(address) = addresses.get(name) {
                name.clone_from(address);
            }
        }
    }
    Arc::new(overlaps)
}

#[derive(serde::Serialize)]
struct Readiness {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    backends: Vec<BackendHealth>,
    /// Packages in different shards of several backends.
    #[serde(skip_serializing_if = "Option::is_none")]
    overlaps: Option<model::Overlaps>,
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

pub(crate) async fn healthz() -> impl IntoResponse {
    Json(serde_json::json!({"status": "ok"}))
}

/// Reports whether a search would be answered, even incompletely.
///
/// If keys are required, details need a key. With authorization, no client gets them.
pub(crate) async fn readyz(
    State(app): State<App>,
    key: Option<Extension<KeyName>>,
) -> impl IntoResponse {
    let is_draining = *app.coordinator.serving().borrow() != Serving::Open;
    let reason = if is_draining {
        Some("the server is about to stop".to_owned())
    } else {
        last_probe(&app).await
    };
    let backends = backends(&app, &Scope::everything());
    let is_degraded = !backends.iter().all(|backend| backend.is_searched());
    let (code, status) = match (&reason, is_degraded) {
        _ if is_draining => (StatusCode::SERVICE_UNAVAILABLE, "draining"),
        (Some(_), _) => (StatusCode::SERVICE_UNAVAILABLE, "down"),
        (None, true) => (StatusCode::OK, "degraded"),
        (None, false) => (StatusCode::OK, "ok"),
    };
    let Options { access, .. } = &app.options;
    let needs_key = access.as_ref().is_some_and(|access| access.is_required());
    if app.options.authorization.is_some() || (needs_key && key.is_none()) {
        return (code, Json(serde_json::json!({"status": status}))).into_response();
    }
    let backend = |status: BackendStatus| BackendHealth {
        name: status.name,
        connected: status.connected,
        reason: status.reason,
        shards: status.shards,
        documents: status.documents,
    };
    let readiness = Readiness {
        status,
        reason,
        backends: backends.into_iter().map(backend).collect(),
        overlaps: model::Overlaps::of(&overlaps(&app, &Scope::everything())),
    };
    (code, Json(readiness)).into_response()
}

/// Failure of a recent or new probe.
async fn last_probe(app: &App) -> Option<String> {
    let mut last = app.last_probe.lock().await;
    if let Some((at, reason)) = &*last
        && at.elapsed() < PROBE_KEPT
    {
        return reason.clone();
    }
    let probed = tokio::time::timeout(PROBE_MAX, probe(app)).await;
    let late = |_| Err(format!("no answer within {} s", PROBE_MAX.as_secs()));
    let reason = probed.unwrap_or_else(late).err();
    *last = Some((Instant::now(), reason.clone()));
    reason
}

async fn probe(app: &App) -> Result<(), String> {
    let backends = app.coordinator.backends(&Scope::everything());
    if !backends.iter().any(|backend| backend.connected) {
        return Err("no backend is connected".to_owned());
    }
    let reasons: Option<Vec<_>> = backends.iter().map(|it| it.reason.as_deref()).collect();
    if let Some(reasons) = reasons {
        return Err(format!("no backend is searched: {}", reasons.join("; ")));
    }
    let answer = app.coordinator.probe(PROBE_MAX).await;
    let answer = answer.map_err(|error| error.to_string())?;
    blocking(|| ()).await;
    // A backend that failed although searched: others may fail, too.
    let is_searched = |name: &str| {
        let mut backends = backends.iter();
        backends.any(|backend| backend.name == name && backend.is_searched())
    };
    let mut missing = answer.missing().iter();
    match missing.find(|missing| is_searched(&missing.backend)) {
        None => Ok(()),
        Some(missing) => Err(format!("{}: {}", missing.backend, missing.reason)),
    }
}

/// Prometheus format.
pub(crate) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let backends = app.coordinator.backends(&Scope::everything());
    let connected = backends.iter().filter(|backend| backend.connected).count();
    metrics::gauge!("trawl_frontend_backends").set(backends.len() as f64);
    metrics::gauge!("trawl_frontend_backends_connected").set(connected as f64);
    let shards = app.coordinator.shards_by_replicas();
    for (replicas, shards) in ["0", "1", "2", "3+"].into_iter().zip(shards) {
        metrics::gauge!("trawl_frontend_shards", "replicas" => replicas).set(shards as f64);
    }
    metrics::gauge!("trawl_frontend_spool_bytes").set(app.coordinator.spool_bytes() as f64);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.render())
}
