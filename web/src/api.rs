//! JSON API, `/api/v2`: a file for each resource, with shapes in `model`; and health of the server.
//!
//! `utoipa::path` describes each handler, and [`openapi`] collects the descriptions.

mod agents;
mod call;
mod catalog;
mod commits;
mod complete;
mod diff;
mod events;
mod explain;
mod export;
mod facets;
mod file;
pub(crate) mod health;
mod limits;
pub(crate) mod openapi;
mod search;
mod symbols;

pub(crate) use catalog::status;

use crate::state::App;
use axum::Router;
use axum::routing::{any, get, post};

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(
            "/api/v2/search",
            get(search::by_query).post(search::by_posted_query),
        )
        .route(
            "/api/v2/search/{id}",
            get(search::by_id).delete(search::cancel),
        )
        .route("/mcp", any(agents::agents))
        .route("/api/v2/search/{id}/events", get(events::by_id))
        .route("/api/v2/events", get(events::by_query))
        .route("/api/v2/search/{id}/copies", get(facets::copies_by_id))
        .route("/api/v2/copies", get(facets::copies))
        .route("/api/v2/search/{id}/facets", get(facets::facets_by_id))
        .route("/api/v2/search/{id}/packages", get(facets::packages_by_id))
        .route("/api/v2/facets", get(facets::facets))
        .route("/api/v2/packages", get(facets::packages))
        .route("/api/v2/search/{id}/export", get(export::by_id))
        .route("/api/v2/export", get(export::by_query))
        .route("/api/v2/complete", get(complete::complete))
        .route("/api/v2/explain", get(explain::explain))
        .route("/api/v2/file", get(file::raw))
        .route("/api/v2/symbols", get(symbols::of_file))
        .route("/api/v2/outline", get(symbols::outline))
        .route("/api/v2/definitions", get(symbols::definitions))
        .route("/api/v2/references", get(symbols::references))
        .route("/api/v2/index/packages", get(catalog::packages))
        .route("/api/v2/tree", get(catalog::tree))
        .route("/api/v2/skipped", get(catalog::skipped))
        .route("/api/v2/commit", get(commits::commit))
        .route("/api/v2/commits", post(commits::commits))
        .route("/api/v2/log", get(commits::log))
        .route("/api/v2/blame", get(commits::blame))
        .route("/api/v2/changes", get(commits::changes))
        .route("/api/v2/diff", get(diff::diff))
        .route("/api/v2/refs", get(commits::refs))
        .route("/api/v2/status", get(catalog::status))
        .route("/api/v2/limits", get(limits::limits))
        .route("/api/openapi.json", get(openapi::document))
        .route("/api", get(openapi::reference))
        .route("/status", get(catalog::status_page))
}
