//! The API's description, for generators of clients: operations, names and types are those that its
//! clients know, the words are ours. `frontend/tests` hold answers against it, and one form against
//! the other.

use axum::http::header;
use axum::response::{IntoResponse, Response};

const YAML: &str = include_str!("openapi.yaml");
const JSON: &str = include_str!("openapi.json");

/// As YAML.
pub(crate) async fn yaml() -> Response {
    ([(header::CONTENT_TYPE, "application/yaml")], YAML).into_response()
}

/// As JSON.
pub(crate) async fn json() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], JSON).into_response()
}
