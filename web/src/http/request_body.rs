//! Reads the body of a request, with limits on bytes and time.

use crate::http::server::BodyTime;
use crate::problem::Problem;
use axum::body::{Body, to_bytes};
use axum::http::Extensions;
use bytes::Bytes;

pub(crate) async fn read(
    body: Body,
    bytes_max: usize,
    extensions: &Extensions,
) -> Result<Bytes, Problem> {
    let BodyTime(time_max) = extensions.get().copied().unwrap_or_default();
    let read = tokio::time::timeout(time_max, to_bytes(body, bytes_max)).await;
    let read = read.map_err(|_| {
        let seconds = time_max.as_secs_f64();
        Problem::slow_body(format!("the body did not arrive within {seconds} s"))
    })?;
    read.map_err(|_| Problem::too_large(format!("the body exceeds {bytes_max} bytes")))
}
