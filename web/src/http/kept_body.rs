//! Response body that keeps a value until it is sent or dropped, and renders in a log span.

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use tracing::Span;

pub(crate) struct KeptBody<T> {
    pub(crate) body: Body,
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
