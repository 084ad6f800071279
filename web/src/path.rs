//! Parts of an address that name something, as text. A part that is not UTF-8 is refused with a
//! [`Problem`], like every other bad request.

use crate::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// The parts that a route names: a string, or a tuple of strings.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(path)| Path(path))
            .map_err(|_| Problem::bad_request("the address is not UTF-8"))
    }
}
