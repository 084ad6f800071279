//! State of all handlers, above the rooms, and their requests. A room takes its own part of it.

use crate::http::base_path::BasePath;
use crate::http::health::Health;
use crate::http::stream_body::Exports;
use crate::problem::Problem;
use crate::search::params::Params;
use crate::search::rendered::RenderedAnswers;
use crate::source::colour_cache::ColourCache;
use crate::suggest::Corpus;
use access::{Access, Authorization, LinkSecrets, Viewer};
use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use frontend::{Coordinator, Scope};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// One pointer, since every layer clones it for every request.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) coordinator: Arc<Coordinator>,
    pub(crate) base_path: BasePath,
    pub(crate) dcs_api_keys: Arc<[String]>,
    pub(crate) access: Option<Arc<Access>>,
    /// `None`: all callers see everything.
    pub(crate) authorization: Option<Arc<Authorization>>,
    pub(crate) links: LinkSecrets,
    pub(crate) health: Health,
    pub(crate) exports: Exports,
    /// Wait of a page for the whole answer, before the first matches are shown.
    pub(crate) first_matches_after: Duration,
    pub(crate) rendered: Arc<RenderedAnswers>,
    pub(crate) colours: Arc<ColourCache>,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    pub(crate) fn new(shared: Shared) -> App {
        App(Arc::new(shared))
    }

    pub(crate) fn corpus<'a>(&'a self, scope: &'a Scope) -> Corpus<'a> {
        let coordinator = &self.coordinator;
        Corpus { coordinator, scope }
    }
}

impl FromRequestParts<App> for Viewer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let authorization = app.authorization.as_ref();
        Ok(Viewer::new(
            authorization,
            &app.coordinator,
            &parts.headers,
        )?)
    }
}

/// Request: its sender and its parameters.
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

impl FromRef<App> for Health {
    fn from_ref(app: &App) -> Self {
        app.health.clone()
    }
}

impl FromRef<App> for Exports {
    fn from_ref(app: &App) -> Self {
        app.exports.clone()
    }
}
