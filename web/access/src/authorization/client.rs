//! HTTP client for the authorization service and for public keys.
//!
//! No redirects and no proxy. Time and bytes of a request are bounded, whatever the server does.
//! **Invariant:** an error names the failure, never the sent data.

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::time::Duration;
use tls::ClientConfig;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

/// Concurrent requests, and so connections. More are queued.
const REQUESTS_MAX: usize = 64;

const CONNECT_MAX: Duration = Duration::from_secs(2);

const IDLE_MAX: Duration = Duration::from_secs(30);

const HEAD_BYTES_MAX: usize = 32 << 10;
const HEADERS_MAX: usize = 100;

/// Bounds for ignored bodies, read so that the connection can be reused.
const IGNORED_BYTES_MAX: usize = 16 << 10;
const IGNORED_MAX: Duration = Duration::from_millis(100);

/// Credentials are not logged.
pub(super) type Outgoing = Request<Full<Bytes>>;

pub(super) fn get(url: Uri) -> Outgoing {
    let mut request = Request::new(Full::default());
    *request.uri_mut() = url;
    request
}

/// The body is read only on success.
pub(super) type HttpAnswer = Response<Bytes>;

pub(super) struct HttpClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    permits: Semaphore,
}

impl HttpClient {
    /// `tls` has the trusted certificates.
    pub(super) fn new(tls: ClientConfig) -> HttpClient {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_MAX));
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls);
        let connector = connector.https_or_http().enable_http1().wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_MAX)
            .pool_max_idle_per_host(REQUESTS_MAX)
            .http1_max_buf_size(HEAD_BYTES_MAX)
            .http1_max_headers(HEADERS_MAX)
            .build(connector);
        HttpClient {
            client,
            permits: Semaphore::new(REQUESTS_MAX),
        }
    }

    /// Bounds the time, and the bytes of the answer.
    pub(super) async fn fetch(
        &self,
        outgoing: Outgoing,
        (time_max, bytes_max): (Duration, usize),
    ) -> Result<HttpAnswer, String> {
        let due = Instant::now() + time_max;
        let late = |_| "no answer in time".to_owned();
        let _permit = timeout_at(due, self.permits.acquire())
            .await
            .map_err(late)?;
        let answer = timeout_at(due, self.client.request(outgoing)).await;
        let answer = answer.map_err(late)?.map_err(|error| reason(&error))?;
        let (head, body) = answer.into_parts();
        let body = if head.status.is_success() {
            let read = timeout_at(due, Limited::new(body, bytes_max).collect()).await;
            let cut = format!("the answer was cut off, or has more than {bytes_max} bytes");
            read.map_err(late)?.map_err(|_| cut)?.to_bytes()
        } else {
            let until = due.min(Instant::now() + IGNORED_MAX);
            // Closes a connection with a longer body.
            let _ = timeout_at(until, Limited::new(body, IGNORED_BYTES_MAX).collect()).await;
            Bytes::new()
        };
        Ok(Response::from_parts(head, body))
    }
}

pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// The innermost source is the useful one.
fn reason(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
