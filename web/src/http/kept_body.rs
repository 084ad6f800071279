//! Response body that keeps a value until it is sent or dropped, and renders in a log span.
//!
//! It fails only after its earlier bytes were written.

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tracing::Span;

/// Holds back its error until it is polled again.
///
/// A server closes the connection when a body fails, and drops unwritten pieces, even the head. It
/// writes whenever a body is pending, so such a moment comes first.
pub(crate) struct KeptBody<T> {
    body: Body,
    span: Span,
    error: Option<axum::Error>,
    _kept: T,
}

impl<T> KeptBody<T> {
    pub(crate) fn new(body: Body, span: Span, kept: T) -> Self {
        KeptBody {
            body,
            span,
            error: None,
            _kept: kept,
        }
    }
}

impl<T: Unpin> HttpBody for KeptBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(error) = self.error.take() {
            return Poll::Ready(Some(Err(error)));
        }
        let KeptBody { body, span, .. } = &mut *self;
        match ready!(span.in_scope(|| Pin::new(body).poll_frame(context))) {
            Some(Err(error)) => {
                self.error = Some(error);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            frame => Poll::Ready(frame),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.error.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use std::convert::Infallible;
    use std::io;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn head_and_pieces_before_an_error_arrive() {
        let (mut client, server) = duplex(1 << 10);
        let service = service_fn(async |_| {
            let pieces = [Ok("first\n"), Ok("second\n"), Err(io::Error::other("lost"))];
            let body = Body::from_stream(stream::iter(pieces));
            let body = KeptBody::new(body, Span::none(), ());
            Ok::<_, Infallible>(hyper::Response::new(body))
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(server), service);
        let connection = tokio::spawn(connection);
        let request = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n";
        client.write_all(request).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with("second\n\r\n"), "{answer}");
        assert!(connection.await.unwrap().is_err());
    }
}
