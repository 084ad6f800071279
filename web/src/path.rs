//! Parts of an address that name something, as text. Ids and names are that; what is not UTF-8 names
//! nothing, and is refused in the same words as everything else.

use super::App;
use super::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use serde::de::DeserializeOwned;

/// What stands for a part of an address: a string, or a tuple of them when there are more.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Path<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let path = axum::extract::Path::from_request_parts(parts, app).await;
        let path = path.map(|axum::extract::Path(path)| Path(path));
        path.map_err(|_| {
            let detail = "what the address names is not UTF-8";
            Problem::bad_request(detail).at_address(app, &parts.uri)
        })
    }
}
