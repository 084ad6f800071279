//! A response body that keeps something until it has been sent or dropped, and is rendered in a span of the
//! log.

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use tracing::Span;

/// A body with what it keeps.
pub(crate) struct KeptBody<T> {
    pub(crate) body: Body,
    /// What is logged while a piece is made belongs to this span.
    pub(crate) span: Span,
    pub(crate) _kept: T,
}

impl<T: Unpin> HttpBody for KeptBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let KeptBody { body, span, .. } = &mut *self;
        span.in_scope(|| Pin::new(body).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
