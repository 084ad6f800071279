//! HTTP over a frontend: the JSON API, the API of Debian Code Search, and HTML pages.
//!
//! [`app`] returns the routes. A handler parses the request, asks the [`Coordinator`] and renders the
//! answer; work that takes more than a few microseconds or touches the disk runs on blocking threads.
//! A folder is an interface: `api`, `dcs`, `pages`. What they share lies beside them: how a request
//! gets its search and a part of the answer (`join`), and what went wrong (`problem`).
//! [`model`] declares the shapes of the JSON API, also for clients in Rust.
//!
//! **Invariant:** every response forbids what our pages do not need: scripts, styles and frames from
//! elsewhere, and guessing of content types. No handler imports this file.

#![cfg_attr(
    test,
    allow(
        clippy::single_range_in_vec_init,
        reason = "a match's ranges are a list, often of one"
    )
)]

mod api;
mod assets;
mod choice;
mod conditional;
mod cors;
mod cursor;
mod dcs;
mod eta;
mod file_range;
mod health;
mod hosts;
mod join;
pub mod model;
mod pages;
mod params;
mod problem;
mod request_id;
mod request_limits;
mod response;
mod server;
mod state;
mod stream_body;
mod versions;

pub use cors::BadOrigin;
pub use hosts::HostNames;
pub use server::{BadNetwork, Client, ConnectionLimits, TrustedProxies, serve, serve_tls};

use crate::hosts::Hosts;
use crate::state::App;
use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use frontend::Coordinator;
use frontend::metrics;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tower_http::compression::CompressionLayer;
use tower_http::set_header::SetResponseHeaderLayer;

/// How often metrics are condensed. A histogram keeps every sample until then.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// What a page may load and do: its own style, script and connection.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Who may use which interface, and how much of it.
#[derive(Clone, Debug)]
pub struct Options {
    cors_origins: Vec<String>,
    dcs_api_keys: Vec<String>,
    /// Exports at once; more are refused with status 503.
    pub exports_max: usize,
    /// The names by which clients may address the server.
    pub hosts: HostNames,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            cors_origins: Vec::new(),
            dcs_api_keys: Vec::new(),
            exports_max: 64,
            hosts: HostNames::default(),
        }
    }
}

impl Options {
    /// Checks the origins whose pages may read the API: `https://example.org`, or `*` for all; without
    /// any, only our own pages. The API of Debian Code Search accepts `dcs_api_keys`; without any, it
    /// needs no key.
    pub fn new(cors_origins: Vec<String>, dcs_api_keys: Vec<String>) -> Result<Self, BadOrigin> {
        cors::check(&cors_origins)?;
        Ok(Options {
            cors_origins,
            dcs_api_keys,
            ..Options::default()
        })
    }
}

/// Returns the routes over a coordinator. `metrics` renders what the process has measured.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn app(coordinator: Arc<Coordinator>, options: Options, metrics: PrometheusHandle) -> Router {
    metrics::describe();
    server::describe();
    keep_up(&coordinator, metrics.clone());
    let hosts = Hosts {
        hosts: options.hosts.clone(),
        origins: options.cors_origins.clone().into(),
    };
    let router = routes()
        .layer(from_fn(request_limits::check))
        .layer(from_fn_with_state(hosts, hosts::check))
        .layer(from_fn(pages::by_address))
        .layer(CompressionLayer::new());
    let router = match &options.cors_origins[..] {
        [] => router,
        origins => router
            .layer(cors::layer(origins))
            .layer(from_fn(dcs::preflight)),
    };
    router
        .layer(always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(always(header::REFERRER_POLICY, "no-referrer"))
        .layer(always(header::CONTENT_SECURITY_POLICY, POLICY))
        .layer(from_fn(request_id::name))
        .with_state(App {
            coordinator,
            dcs_api_keys: options.dcs_api_keys.into(),
            metrics,
            exports: Arc::new(Semaphore::new(options.exports_max)),
            last_probe: Arc::default(),
        })
}

fn routes() -> Router<App> {
    Router::new()
        .merge(api::routes())
        .merge(dcs::routes())
        .route("/", get(pages::start))
        .route("/problems", get(pages::kinds))
        .route("/problems/{name}", get(pages::kind))
        .route("/assets/{name}", get(assets::asset))
        .route("/robots.txt", get(assets::robots))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed)
}

fn always(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}

/// Condenses metrics while the coordinator lives.
fn keep_up(coordinator: &Arc<Coordinator>, metrics: PrometheusHandle) {
    let coordinator = Arc::downgrade(coordinator);
    tokio::spawn(async move {
        while coordinator.strong_count() > 0 {
            tokio::time::sleep(UPKEEP_EVERY).await;
            metrics.run_upkeep();
        }
    });
}
