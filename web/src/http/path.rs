//! Parts of a request's path, which must be text, and its percent-encoding.

use crate::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode;
use serde::de::DeserializeOwned;

/// Parts of the path, like axum's, with problems as errors.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(path)| Path(path))
            .map_err(|_| Problem::bad_request("the address is not UTF-8"))
    }
}

/// Decodes percent-encoding.
pub(crate) fn decode_path(text: &str) -> Result<Vec<u8>, Problem> {
    let bytes = text.as_bytes();
    let is_escape = |at: usize| {
        let digits = bytes.get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let mut signs = (0..bytes.len()).filter(|&at| bytes[at] == b'%');
    if signs.any(|at| !is_escape(at)) {
        let detail = format!("{text}: expected two hexadecimal digits after %");
        return Err(Problem::bad_request(detail).hint("write %25 for a percent sign"));
    }
    Ok(percent_decode(bytes).collect())
}
