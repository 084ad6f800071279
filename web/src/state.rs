//! State of all handlers, the options of a server, and the requests.

use crate::compat::Compat;
use crate::http::hosts::{self, BadOrigin, HostNames};
use crate::http::site::BasePath;
use crate::http::stream_body::Exports;
use crate::problem::Problem;
use crate::search::params::Params;
use crate::search::rendered::RenderedAnswers;
use crate::source::colours::ColourCache;
use crate::suggest::Corpus;
use access::{Access, Authorization, LinkSecrets, Viewer};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use frontend::{Coordinator, Scope};
use metrics_exporter_prometheus::PrometheusHandle;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Leaves time to send and draw a page within 100 ms.
const FIRST_MATCHES_AFTER: Duration = Duration::from_millis(20);

/// Access and limits of the interfaces.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) cors_origins: Vec<String>,
    pub(crate) dcs_api_keys: Vec<String>,
    /// Other products, whose interfaces are served.
    pub compat: Compat,
    /// Concurrent exports. More are refused with status 503.
    pub exports_max: usize,
    /// Wait of a page for the whole answer, before the first matches are shown.
    pub first_matches_after: Duration,
    /// Size of the cache of rendered answers; 0 disables it.
    pub rendered_bytes_max: u64,
    pub hosts: HostNames,
    /// Keys of clients, if needed.
    pub access: Option<Arc<Access>>,
    /// Path below which a proxy shows the server.
    pub base_path: BasePath,
    /// Decides which packages callers may see. `None`: all.
    pub authorization: Option<Arc<Authorization>>,
    /// Secrets that sign links. Frontends with the same secrets accept each other's links.
    pub links: LinkSecrets,
    /// Leaves metrics to [`admin`](crate::admin). With `authorization`, they are never public.
    pub has_admin: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            cors_origins: Vec::new(),
            dcs_api_keys: Vec::new(),
            compat: Compat::default(),
            exports_max: 64,
            first_matches_after: FIRST_MATCHES_AFTER,
            rendered_bytes_max: 16 << 20,
            hosts: HostNames::default(),
            access: None,
            base_path: BasePath::default(),
            authorization: None,
            links: LinkSecrets::default(),
            has_admin: false,
        }
    }
}

impl Options {
    /// `cors_origins`: origins of pages that may read the API (`https://example.org`, or `*`).
    /// Without `dcs_api_keys`, the API of Debian Code Search needs no key.
    pub fn new(cors_origins: Vec<String>, dcs_api_keys: Vec<String>) -> Result<Self, BadOrigin> {
        hosts::check_origins(&cors_origins)?;
        Ok(Options {
            cors_origins,
            dcs_api_keys,
            ..Options::default()
        })
    }
}

/// One pointer, since every layer clones it for every request.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) coordinator: Arc<Coordinator>,
    pub(crate) options: Options,
    /// Answers show backend addresses: for operators.
    pub(crate) is_admin: bool,
    pub(crate) metrics: PrometheusHandle,
    /// End of the last probe of `/readyz`, and its failure. Locked while probing: single flight.
    pub(crate) last_probe: Mutex<Option<(Instant, Option<String>)>>,
    pub(crate) exports: Exports,
    pub(crate) rendered: RenderedAnswers,
    pub(crate) colours: Arc<ColourCache>,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    pub(crate) fn new(
        coordinator: Arc<Coordinator>,
        options: Options,
        metrics: PrometheusHandle,
        is_admin: bool,
    ) -> App {
        App(Arc::new(Shared {
            exports: Exports::new(Arc::clone(&coordinator), options.exports_max),
            rendered: RenderedAnswers::new(options.rendered_bytes_max),
            coordinator,
            options,
            is_admin,
            metrics,
            last_probe: Mutex::default(),
            colours: Arc::default(),
        }))
    }

    pub(crate) fn corpus<'a>(&'a self, scope: &'a Scope) -> Corpus<'a> {
        let coordinator = &self.coordinator;
        Corpus { coordinator, scope }
    }
}

impl FromRequestParts<App> for Viewer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let authorization = app.options.authorization.as_ref();
        let viewer = Viewer::new(authorization, &app.coordinator, &parts.headers);
        Ok(viewer?)
    }
}

/// Sender and parameters.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) viewer: Viewer,
    pub(crate) params: Params,
}

impl Deref for Call {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl FromRequestParts<App> for Call {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        Ok(Call {
            app: app.clone(),
            viewer: Viewer::from_request_parts(parts, app).await?,
            params: Params::from_request_parts(parts, app).await?,
        })
    }
}
