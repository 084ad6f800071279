//! The API and the addresses of Debian Code Search: its clients, scripts and links work here with
//! another host name.
//!
//! Names, shapes, status codes and the dialect of queries are those of Debian Code Search. A link leads
//! to our page for the same query, whose address shows what the query means here. Three faults of its
//! server, on which no client can rely, are not repeated: a malformed query is 400 and not 500,
//! packages are ordered by their best match, and an incomplete answer says so
//! (`X-Codesearch-Complete: false`). Event streams, numbered result files and registration of keys are
//! missing.

mod api;
mod key;
mod links;
mod lists;
mod shapes;

pub(crate) use api::{COMPLETE, FILES_TOTAL, preflight};

use crate::state::App;
use axum::Router;
use axum::http::header;
use axum::routing::get;

/// The description of the API, for generators of clients. Tests compare answers with it, and the two
/// files with each other.
const YAML: &str = include_str!("dcs/openapi.yaml");
const JSON: &str = include_str!("dcs/openapi.json");

/// Returns the routes, with `/search` and `/show`, which are addresses of our pages too.
pub(crate) fn routes() -> Router<App> {
    let description = |kind, text| get(async move || ([(header::CONTENT_TYPE, kind)], text));
    let [all, by_package] = api::PATHS;
    Router::new()
        .route(all, get(api::search).options(api::options))
        .route(
            by_package,
            get(api::search_per_package).options(api::options),
        )
        .route("/openapi.yaml", description("application/yaml", YAML))
        .route("/openapi.json", description("application/json", JSON))
        .route("/search", get(links::search_page))
        .route("/show", get(links::show_page))
        .route("/results/{query}/{page}", get(links::results))
        .route(
            "/perpackage-results/{query}/2/{page}",
            get(links::results_per_package),
        )
}
