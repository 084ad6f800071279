//! A client that calls the HTTP routes of a frontend in this process, without a socket.

use super::api::{Client, error, path_with};
use crate::in_process;
use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use frontend::Coordinator;
use metrics_exporter_prometheus::PrometheusBuilder;
use std::io::{Cursor, Read};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tower_service::Service;

/// Time for the backend in this process to connect, which takes milliseconds.
const CONNECT_MAX: Duration = Duration::from_secs(1);

/// Bytes of a response. Commands ask for pages and lists of some kilobytes.
const RESPONSE_BYTES_MAX: usize = 64 << 20;

/// A client of a frontend in this process.
pub(super) struct InProcess {
    runtime: Option<Runtime>,
    router: Router,
}

impl InProcess {
    /// Starts a frontend over the index in `directory`.
    pub(super) fn new(directory: &Path) -> Result<InProcess> {
        let runtime = in_process::runtime()?;
        let guard = runtime.enter();
        let frontend = in_process::frontend(directory)?;
        wait_for_backends(&frontend);
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        let router = web::app(frontend, web::Options::default(), metrics);
        drop(guard);
        Ok(InProcess {
            runtime: Some(runtime),
            router,
        })
    }
}

/// Waits until the backends are connected: `trawl status` reports those that are not.
fn wait_for_backends(frontend: &Coordinator) {
    let started = Instant::now();
    let connected = || frontend.backends().iter().all(|backend| backend.connected);
    while !connected() && started.elapsed() < CONNECT_MAX {
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Client for InProcess {
    fn get(&self, path: &str, parameters: &[(&str, &[u8])]) -> Result<Box<dyn Read>> {
        let request = Request::get(path_with(path, parameters)).body(Body::empty())?;
        let runtime = self.runtime.as_ref().expect("taken only by drop");
        let answered = runtime.block_on(async {
            let Ok(response) = self.router.clone().call(request).await;
            let status = response.status();
            let body = to_bytes(response.into_body(), RESPONSE_BYTES_MAX).await?;
            Ok::<_, axum::Error>((status, body))
        });
        let (status, body) = answered.with_context(|| format!("{path}: the response broke off"))?;
        if status == StatusCode::OK {
            Ok(Box::new(Cursor::new(body)))
        } else {
            Err(error(status.as_u16(), &body))
        }
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        // Connections to the backend never end by themselves, so do not wait for their tasks.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
