//! Interface of sourcegraph.

use crate::problem::Problem;
use crate::state::App;
use axum::Router;
use axum::http::Uri;
use axum::response::Response;

pub(crate) fn routes() -> Router<App> {
    Router::new()
}

/// Shape of problems at its addresses.
pub(crate) fn shape(_: &Uri) -> Option<fn(&Problem, Response) -> Response> {
    None
}
