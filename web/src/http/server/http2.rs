//! HTTP/2: limits of a connection, and what the router expects of HTTP/1.
//!
//! A response that is not read does not stop the connection, so each stream has its own time.

use super::clients::{ConnectionLimits, HEADERS_BYTES_MAX};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Uri, Version, header};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

const STREAMS_MAX: u32 = 100;

const RESETS_MAX: usize = 20;

const ERRORS_MAX: usize = 64;

const SENT_BYTES_MAX: usize = 256 << 10;

pub(super) fn limit(builder: &mut auto::Builder<TokioExecutor>, limits: &ConnectionLimits) {
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(2 * HEADERS_BYTES_MAX as u32)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .max_local_error_reset_streams(ERRORS_MAX)
        .max_send_buf_size(SENT_BYTES_MAX)
        .keep_alive_interval(limits.unread_max)
        .keep_alive_timeout(limits.unread_max);
}

pub(super) fn name_host(request: &mut Request) {
    if request.version() != Version::HTTP_2 {
        return;
    }
    let uri = request.uri();
    let host = uri.authority().map(|it| HeaderValue::from_str(it.as_str()));
    let path = uri.path_and_query().cloned().map(Uri::from);
    if let Some(Ok(host)) = host {
        request.headers_mut().insert(header::HOST, host);
        *request.uri_mut() = path.unwrap_or_default();
    }
}

/// Notifies if the next piece is not wanted in time.
pub(super) struct WatchedBody {
    body: Body,
    unread: Arc<Notify>,
    time: Duration,
    due: Option<AbortHandle>,
}

impl WatchedBody {
    pub(super) fn new(body: Body, unread: Arc<Notify>, time: Duration) -> WatchedBody {
        WatchedBody {
            body,
            unread,
            time,
            due: None,
        }
    }

    fn stop(&mut self) {
        if let Some(due) = self.due.take() {
            due.abort();
        }
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        self.stop();
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.stop();
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if matches!(frame, Some(Ok(_))) && !self.body.is_end_stream() {
            let (unread, time) = (Arc::clone(&self.unread), self.time);
            let due = tokio::spawn(async move {
                tokio::time::sleep(time).await;
                unread.notify_one();
            });
            self.due = Some(due.abort_handle());
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
