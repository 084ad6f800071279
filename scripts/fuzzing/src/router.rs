//! Routes of a frontend, for tests without a socket.

use axum::Router;
use frontend::Coordinator;
use metrics_exporter_prometheus::PrometheusBuilder;
use std::sync::Arc;

/// Default options and unrecorded metrics. Needs a tokio runtime.
pub fn router(frontend: Arc<Coordinator>) -> Router {
    let metrics = PrometheusBuilder::new().build_recorder().handle();
    web::app(frontend, web::Options::default(), metrics)
}
