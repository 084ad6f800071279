//! The door for browsers and programs.
//!
//! Handlers parse, ask the [`Coordinator`] and render; what is more than a few microseconds of work,
//! or touches the disk, is done on blocking threads. Every answer forbids what a page of ours does
//! not need: scripts, styles and frames from elsewhere, guessing of content types.

mod api;
mod assets;
mod body;
mod catalog;
mod cors;
mod cursor;
mod dcs;
mod eta;
mod events;
mod explain;
mod export;
mod file;
mod gate;
mod headers;
mod health;
mod limits;
mod lists;
mod openapi;
mod pages;
mod params;
mod path;
mod problem;
mod render;
mod results;
mod similar;
mod skipped;

pub use cors::BadOrigin;
pub(crate) use problem::kinds::Kind;

use crate::render::html::{Chrome, Form};
use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use frontend::Coordinator;
use frontend::SearchResult;
use frontend::measures;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::Duration;
use tower_http::compression::CompressionLayer;
use tower_http::set_header::SetResponseHeaderLayer;

/// How long a run goes on for a client that got its id and may come back to it.
const KEEP: Duration = Duration::from_secs(30);

/// How often measurements are condensed. A histogram keeps every sample until then.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// What a page may load and do: its own style, script and connection.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What handlers share.
#[derive(Clone)]
struct App {
    frontend: Arc<Coordinator>,
    options: Arc<Options>,
    metrics: PrometheusHandle,
}

impl App {
    fn chrome(&self, form: Form) -> Chrome {
        Chrome {
            form,
            style: assets::STYLE.address(),
            script: assets::SCRIPT.address(),
        }
    }
}

/// Who may use which interface.
#[derive(Clone, Debug, Default)]
pub struct Options {
    cors_origins: Vec<String>,
    dcs_api_keys: Vec<String>,
}

impl Options {
    /// Checks the origins whose pages may read the API, such as `https://example.org` or `*` for all
    /// (none: only our own pages), and takes the keys that the API of Debian Code Search accepts (none:
    /// it needs no key).
    pub fn new(cors_origins: Vec<String>, dcs_api_keys: Vec<String>) -> Result<Self, BadOrigin> {
        cors::check(&cors_origins)?;
        Ok(Options {
            cors_origins,
            dcs_api_keys,
        })
    }
}

/// Returns the routes over a coordinator. `metrics` renders what the process has measured.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn app(frontend: Arc<Coordinator>, options: Options, metrics: PrometheusHandle) -> Router {
    measures::describe();
    keep_up(&frontend, metrics.clone());
    let state = App {
        frontend,
        options: Arc::new(options),
        metrics,
    };
    let router = routes()
        .layer(from_fn_with_state(state.clone(), gate::check))
        .layer(CompressionLayer::new());
    let router = match &state.options.cors_origins[..] {
        [] => router,
        origins => router
            .layer(cors::layer(origins))
            .layer(from_fn(dcs::preflight)),
    };
    router
        .layer(always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(always(header::REFERRER_POLICY, "no-referrer"))
        .layer(always(header::CONTENT_SECURITY_POLICY, POLICY))
        .with_state(state)
}

fn routes() -> Router<App> {
    Router::new()
        .route("/", get(pages::start))
        .route("/search", get(dcs::search_page))
        .route("/show", get(dcs::show_page))
        .route("/api/v2/search", get(api::search).post(api::post))
        .route("/api/v2/search/{id}", get(api::run).delete(api::cancel))
        .route("/api/v2/search/{id}/events", get(events::run))
        .route("/api/v2/events", get(events::search))
        .route("/api/v2/search/{id}/facets", get(lists::run_facets))
        .route("/api/v2/search/{id}/packages", get(lists::run_packages))
        .route("/api/v2/facets", get(lists::facets))
        .route("/api/v2/packages", get(lists::packages))
        .route("/api/v2/search/{id}/export", get(export::run))
        .route("/api/v2/export", get(export::search))
        .route("/api/v2/explain", get(explain::explain))
        .route("/api/v2/file", get(file::raw))
        .route("/api/openapi.json", get(openapi::document))
        .route("/api/v2/index/packages", get(catalog::packages))
        .route("/api/v2/tree", get(catalog::tree))
        .route("/api/v2/skipped", get(skipped::skipped))
        .route("/api/v2/status", get(catalog::status))
        .merge(compatible())
        .route("/api/v2/limits", get(limits::limits))
        .route("/problems", get(problem::kinds::list))
        .route("/problems/{name}", get(problem::kinds::one))
        .route("/assets/{name}", get(assets::asset))
        .route("/healthz", get(health::healthz))
        .route("/metrics", get(health::metrics))
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed)
}

/// What Debian Code Search has beside `/search` and `/show`.
fn compatible() -> Router<App> {
    let per_package = "/perpackage-results/{query}/2/{page}";
    let [all, by_package] = dcs::PATHS;
    Router::new()
        .route(all, get(dcs::search).options(dcs::options))
        .route(
            by_package,
            get(dcs::search_per_package).options(dcs::options),
        )
        .route("/openapi.yaml", get(dcs::yaml))
        .route("/openapi.json", get(dcs::json))
        .route("/results/{query}/{page}", get(dcs::results))
        .route(per_package, get(dcs::results_per_package))
}

fn always(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}

/// Condenses measurements as long as the frontend lives.
fn keep_up(frontend: &Arc<Coordinator>, metrics: PrometheusHandle) {
    let frontend = Arc::downgrade(frontend);
    tokio::spawn(async move {
        while frontend.strong_count() > 0 {
            tokio::time::sleep(UPKEEP_EVERY).await;
            metrics.run_upkeep();
        }
    });
}

/// Renders a part of an answer: at once when all of it is in memory, which is when there is little.
async fn rendering<T: Send + 'static>(
    answer: &SearchResult,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match answer.is_in_memory() {
        true => work(),
        false => blocking(work).await,
    }
}

/// Runs work that blocks, away from the runtime's workers.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work)
        .await
        .expect("rendering does not panic")
}
