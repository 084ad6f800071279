//! API and addresses of Debian Code Search, for its clients, scripts and links.
//!
//! Names, shapes, status codes and the query dialect are the same. Links redirect to our page for
//! the query. Three faults of its server are not repeated: a malformed query is 400 instead of 500,
//! packages are ordered by their best match, and incomplete answers have the header
//! `X-Codesearch-Complete: false`. Event streams, numbered result files and registration of keys
//! are missing.

mod api;
mod links;
mod lists;

pub(crate) use api::{COMPLETE, FILES_TOTAL, preflight};

use crate::state::App;
use axum::Router;
use axum::http::header;
use axum::routing::get;

/// OpenAPI descriptions. Tests compare them with answers and with each other.
const YAML: &str = include_str!("dcs/openapi.yaml");
const JSON: &str = include_str!("dcs/openapi.json");

/// Routes, including `/search` and `/show`, which our pages share.
pub(crate) fn routes() -> Router<App> {
    let description = |kind, text| get(async move || ([(header::CONTENT_TYPE, kind)], text));
    let search = || get(api::search).options(api::options);
    let [all, by_package] = api::PATHS;
    Router::new()
        .route(all, search())
        .route(by_package, search())
        .route("/openapi.yaml", description("application/yaml", YAML))
        .route("/openapi.json", description("application/json", JSON))
        .route("/search", get(links::search_page))
        .route("/show", get(links::show_page))
        .route("/results/{query}/{page}", get(links::results))
        .route("/perpackage-results/{query}/2/{page}", get(links::results))
}
