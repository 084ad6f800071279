//! A frontend in this process over an index directory, and its routes without a socket.

use super::{Client, path_with, problem};
use crate::place;
use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use frontend::{Config, Coordinator};
use metrics_exporter_prometheus::PrometheusBuilder;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tower_service::Service;

/// What a search may have in memory before it writes to the disk: it is the only one here.
const RUN_MEMORY_BYTES: u64 = 64 << 20;

/// How long the backend in this process may take to be connected; it is there within milliseconds.
const CONNECT_MAX: Duration = Duration::from_secs(1);

/// Bytes of an answer, at most. Those that commands ask for are pages and lists of some kilobytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Starts a frontend over the index in `directory`, which keeps nothing. Needs a tokio runtime.
pub(crate) fn over(directory: &Path) -> Result<Arc<Coordinator>> {
    let backend = crate::local::backend(directory)?;
    place::with_free_spool("search", |spool| {
        let config = Config {
            durable: false,
            result_memory_bytes: RUN_MEMORY_BYTES,
            query_memory_bytes: RUN_MEMORY_BYTES,
            ..Config::new(spool)
        };
        Coordinator::start(config, vec![backend.clone()])
    })
}

/// See the module.
pub(crate) struct InProcess {
    runtime: Option<Runtime>,
    router: Router,
}

impl InProcess {
    /// Over the index in `directory`.
    pub(crate) fn new(directory: &Path) -> Result<InProcess> {
        let runtime = runtime()?;
        let guard = runtime.enter();
        let frontend = over(directory)?;
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

/// A frontend says at once who is there, and connects meanwhile.
fn wait_for_backends(frontend: &Coordinator) {
    let started = Instant::now();
    let is_there = || frontend.backends().iter().all(|backend| backend.connected);
    while !is_there() && started.elapsed() < CONNECT_MAX {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A runtime that only passes on frames; what takes long has threads of its own.
pub(crate) fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?)
}

impl Client for InProcess {
    fn get(&self, path: &str, parameters: &[(&str, &[u8])]) -> Result<Box<dyn Read>> {
        let request = Request::get(path_with(path, parameters)).body(Body::empty())?;
        let runtime = self
            .runtime
            .as_ref()
            .expect("it is taken when this is dropped");
        let answered = runtime.block_on(async {
            let Ok(response) = self.router.clone().call(request).await;
            let status = response.status();
            let body = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await?;
            Ok::<_, axum::Error>((status, body))
        });
        let (status, body) = answered.context("the answer broke off")?;
        match status {
            StatusCode::OK => Ok(Box::new(Cursor::new(body))),
            status => Err(problem(status.as_u16(), &body)),
        }
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        // Connections to the backend stay open as long as there is somebody to ask.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
