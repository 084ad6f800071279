//! HTTP over a frontend: the JSON API, the interfaces of other products, and HTML pages.
//!
//! [`app`] returns the public routes, [`admin`] those for operators. Handlers parse the request,
//! ask the [`Coordinator`] and render the answer. Work on the disk, or longer than a few
//! microseconds, runs on blocking threads.
//!
//! The interfaces are `api`, `pages`, and those of other products (`products`). They share the
//! modules `search`, `source`, [`symbols`], `diff`, `repositories` and `suggest`, above `http`.
//! `problem` renders errors, and [`model`] declares the JSON API's shapes.
//!
//! **Invariant:** every response forbids foreign scripts, styles and frames, and content-type
//! sniffing; raw files are restricted further. No handler imports this file.

#![cfg_attr(
    test,
    allow(
        clippy::single_range_in_vec_init,
        reason = "a match's ranges are a list, often of one"
    )
)]

mod api;
mod compat;
mod dcs;
mod diff;
mod github;
mod http;
pub mod model;
mod pages;
mod problem;
mod products;
mod repositories;
mod search;
mod source;
mod sourcegraph;
mod state;
mod suggest;
pub mod symbols;
mod zoekt;

pub use access::{
    Access, ApiKeys, Authorization, AuthorizationOptions, BadAuthorization, BadFile, BadName,
    CookieSecret, LinkSecrets, NewKey,
};
pub use compat::Compat;
pub use http::hosts::{BadOrigin, HostNames};
pub use http::server::{
    BadNetwork, Client, ConnectionLimits, PROTOCOLS, TrustedProxies, serve, serve_until_drained,
};
pub use http::site::{BadBasePath, BasePath};
pub use problem::Problem;
pub use state::Options;
pub use suggest::Corpus;

use crate::api::health;
use crate::http::hosts::Hosts;
use crate::http::{
    BodyWorkers, assets, compression, guard, hosts, request_id, request_limits, server, site,
};
use crate::state::App;
use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use frontend::{Coordinator, metrics};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::Duration;
use tower::util::option_layer;
use tower_http::set_header::SetResponseHeaderLayer;

/// Histograms keep every sample until then.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// Text becomes markup only by the policy of `fragment.js`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types trawl";

/// Returns the public routes. `metrics` renders the metrics of the process.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn app(coordinator: Arc<Coordinator>, options: Options, metrics: PrometheusHandle) -> Router {
    metrics::describe();
    server::describe();
    guard::describe();
    keep_up(&coordinator, metrics.clone());
    let hosts = Hosts {
        hosts: options.hosts.clone(),
        origins: options.cors_origins.clone().into(),
    };
    let mut router = routes(options.compat);
    if !options.has_admin && options.authorization.is_none() {
        router = router.route("/metrics", get(health::metrics));
    }
    if let Some(authorization) = &options.authorization {
        access::describe();
        authorization.follow_keys();
    }
    let compat = options.compat;
    let shape_of: pages::ShapeOf = Arc::new(move |uri| products::shape(compat, uri));
    let guard = |access| from_fn_with_state(access, guard::check);
    let private = |authorization| from_fn_with_state(authorization, guard::keep_private);
    // Outermost first. In one tuple, since a router clones the inside of each layer for every
    // request.
    let router = router.layer((
        compression::in_memory(),
        from_fn_with_state(BodyWorkers::default(), compression::of_streams),
        from_fn(search::count_lookups),
        from_fn(problem::search_again),
        from_fn_with_state(shape_of, pages::by_address),
        from_fn_with_state(hosts, hosts::check),
        from_fn(request_limits::check),
        option_layer(options.authorization.clone().map(private)),
        option_layer(options.access.clone().map(guard)),
    ));
    let router = match &options.cors_origins[..] {
        [] => router,
        origins => router
            .layer(hosts::cors(origins, &[dcs::FILES_TOTAL, dcs::COMPLETE]))
            .layer(from_fn(dcs::preflight)),
    };
    let base = options.base_path.clone();
    let app = App::new(coordinator, options, metrics, false);
    let router = with_headers(router).with_state(app);
    if base.as_str().is_empty() {
        return router;
    }
    // The address must be complete before it is routed.
    let shown_below = Router::new().fallback_service(router);
    shown_below.layer(from_fn_with_state(base, site::follow))
}

/// Returns the routes for operators: metrics, health, and the status with backend addresses. They
/// need no key: only operators may reach the listener.
pub fn admin(coordinator: Arc<Coordinator>, hosts: HostNames, metrics: PrometheusHandle) -> Router {
    let hosts = Hosts {
        hosts,
        origins: Arc::default(),
    };
    let router = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/api/v2/status", get(api::status))
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer((
            from_fn_with_state(hosts, hosts::check),
            from_fn(request_limits::check),
        ));
    let options = Options {
        exports_max: 0,
        rendered_bytes_max: 0,
        ..Options::default()
    };
    with_headers(router).with_state(App::new(coordinator, options, metrics, true))
}

fn with_headers(router: Router<App>) -> Router<App> {
    router.layer((
        from_fn(request_id::name),
        SetResponseHeaderLayer::if_not_present(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(POLICY),
        ),
        // `no-referrer` would hide that a form is our own.
        always(header::REFERRER_POLICY, "same-origin"),
        always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ))
}

fn routes(compat: Compat) -> Router<App> {
    Router::new()
        .merge(api::routes())
        .merge(products::routes(compat))
        .route("/search", get(products::search_page))
        .route("/show", get(products::show_page))
        .route("/raw/p/{*name}", get(pages::raw))
        .route("/raw/g/{*name}", get(pages::raw))
        .route("/", get(pages::start))
        .route("/help", get(pages::help))
        .route("/opensearch.xml", get(pages::open_search))
        .route("/favicon.ico", get(assets::favicon))
        .route("/packages", get(pages::packages))
        .route("/commit", get(pages::commit))
        .route("/diff", get(pages::diff))
        .route("/log", get(pages::history))
        .route("/skipped", get(pages::skipped))
        .route("/symbol", get(pages::symbol))
        .route("/p/{*name}", get(pages::directory))
        .route("/search/facets", get(pages::facets))
        .route("/search/events", get(pages::live))
        .route("/problems", get(pages::kinds))
        .route("/problems/{name}", get(pages::kind))
        .route("/assets/{version}/{name}", get(assets::asset))
        .route("/robots.txt", get(assets::robots))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route(
            guard::SIGN_IN,
            get(pages::sign_in_form).post(pages::sign_in),
        )
        .route(guard::SIGN_OUT, post(pages::sign_out))
        .fallback(products::elsewhere)
        .method_not_allowed_fallback(problem::method_not_allowed)
}

fn always(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}

fn keep_up(coordinator: &Arc<Coordinator>, metrics: PrometheusHandle) {
    let coordinator = Arc::downgrade(coordinator);
    tokio::spawn(async move {
        while coordinator.strong_count() > 0 {
            tokio::time::sleep(UPKEEP_EVERY).await;
            metrics.run_upkeep();
        }
    });
}
