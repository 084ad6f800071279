//! Response body that can be polled after its end or an error.
//!
//! Compression does so, and the streams behind our bodies may panic then. **Invariant:** every
//! streamed body is fused before compression, so handlers need not do it.

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// `None` after the end.
struct FusedBody(Option<Body>);

/// A body with a length is in memory, and can be polled at any time.
pub(crate) async fn fuse(response: Response) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| Body::new(FusedBody(Some(body))))
}

impl HttpBody for FusedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(context);
        if let Poll::Ready(None | Some(Err(_))) = polled {
            self.0 = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{FutureExt, StreamExt, stream};
    use std::io;

    #[test]
    fn a_body_that_is_polled_after_its_end_or_an_error_ends_again() {
        for last in [None, Some(Err(io::Error::other("broken off")))] {
            let fails = last.is_some();
            let pieces = [Some(Ok(Bytes::from("a"))), last].into_iter().flatten();
            // `Unfold` panics if polled after its end.
            let pieces =
                stream::unfold(pieces.collect::<Vec<_>>().into_iter(), async |mut left| {
                    Some((left.next()?, left))
                });
            let response = fuse(Response::new(Body::from_stream(pieces)));
            let response = response.now_or_never().expect("it waits for nothing");
            let mut body = response.into_body().into_data_stream();
            let mut next = || body.next().now_or_never().expect("it is there");
            assert_eq!(next().unwrap().unwrap(), "a");
            assert_eq!(fails, next().is_some_and(|piece| piece.is_err()));
            assert!(next().is_none() && next().is_none());
        }
    }
}
