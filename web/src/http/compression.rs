//! Compression of responses.
//!
//! The task of a connection compresses bodies in memory. A streamed one may have any length, so
//! blocking threads compress it: connections share few threads, and light answers would wait.
//! **Invariant:** [`CompressionLayer`] never polls a streamed body.

use crate::http::BodyWorkers;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{self, HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream::{self, StreamExt};
use http_body::Body as HttpBody;
use std::io::Write;
use std::mem;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate};

/// Bodies in memory that are worth it.
#[derive(Clone)]
pub(crate) struct InMemory(DefaultPredicate);

pub(crate) fn in_memory() -> CompressionLayer<InMemory> {
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(InMemory(DefaultPredicate::new()))
}

impl Predicate for InMemory {
    fn should_compress<B: HttpBody>(&self, response: &http::Response<B>) -> bool {
        let is_in_memory = response.body().size_hint().exact().is_some();
        is_in_memory && !has_ranges(response) && self.0.should_compress(response)
    }
}

/// Each piece is sent at once.
pub(crate) async fn of_streams(
    State(workers): State<BodyWorkers>,
    request: Request,
    next: Next,
) -> Response {
    let is_accepted = accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    let is_streamed = response.body().size_hint().exact().is_none();
    let is_worth_it = !has_ranges(&response) && DefaultPredicate::new().should_compress(&response);
    if !(is_accepted && is_streamed && is_worth_it) {
        return response;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    response.map(|body| compressed(body, workers))
}

/// Ranges and their tags refer to the uncompressed bytes, so such responses are not compressed.
fn has_ranges<B>(response: &http::Response<B>) -> bool {
    response.headers().contains_key(header::ACCEPT_RANGES)
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).into_iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let mut weights = parts.filter_map(|part| part.strip_prefix("q="));
        is_gzip && weights.all(|weight| weight.parse().is_ok_and(|weight: f32| weight > 0.0))
    })
}

fn compressed(body: Body, workers: BodyWorkers) -> Body {
    let encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let start = (body.into_data_stream(), Some(encoder), workers);
    let pieces = stream::try_unfold(start, async |(mut pieces, encoder, workers)| {
        let Some(mut encoder) = encoder else {
            return Ok(None);
        };
        let Some(piece) = pieces.next().await.transpose()? else {
            let end = encoder.finish().map_err(axum::Error::new)?;
            return Ok(Some((Bytes::from(end), (pieces, None, workers))));
        };
        let deflate = move || {
            let flushed = encoder.write_all(&piece).and_then(|()| encoder.flush());
            flushed.map(|()| (Bytes::from(mem::take(encoder.get_mut())), encoder))
        };
        let (deflated, encoder) = workers.blocking(deflate).await.map_err(axum::Error::new)?;
        Ok::<_, axum::Error>(Some((deflated, (pieces, Some(encoder), workers))))
    });
    Body::from_stream(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::MultiGzDecoder;
    use std::io::{self, Read};

    #[test]
    fn the_coding_is_negotiated() {
        for (accepts, value) in [
            (true, "gzip"),
            (true, "br;q=1.0, GZIP;q=0.5"),
            (false, "gzip;q=0"),
            (false, "gzip; q=0.000, zstd"),
            (false, "gzip; q=x, identity"),
            (false, ""),
        ] {
            let value = HeaderValue::from_static(value);
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, value.clone())]);
            assert_eq!(accepts_gzip(&headers), accepts, "{value:?}");
        }
    }

    #[tokio::test]
    async fn each_piece_is_sent_before_the_next_and_an_error_ends_the_body() {
        for fails in [false, true] {
            let end = fails.then(|| Err(io::Error::other("broken off")));
            let pieces = ["one ", "two"].map(|piece| Ok(Bytes::from(piece)));
            let body = Body::from_stream(stream::iter(pieces.into_iter().chain(end)));
            let mut body = compressed(body, BodyWorkers::default()).into_data_stream();
            let mut came = Vec::new();
            for expected in ["one ", "one two"] {
                came.extend(body.next().await.unwrap().unwrap());
                let mut text = String::new();
                // Without an end, the decoder fails after what has come.
                MultiGzDecoder::new(&came[..])
                    .read_to_string(&mut text)
                    .unwrap_err();
                assert_eq!(text, expected);
            }
            match body.next().await.unwrap() {
                Ok(end) => {
                    came.extend(end);
                    let mut text = String::new();
                    MultiGzDecoder::new(&came[..])
                        .read_to_string(&mut text)
                        .unwrap();
                    assert!(text == "one two" && !fails);
                }
                Err(error) => assert!(fails && error.to_string().contains("broken off")),
            }
            assert!(body.next().await.is_none());
        }
    }
}
