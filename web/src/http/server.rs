//! Serves a router on TCP connections, with limits on idle resources.
//!
//! Clients are disconnected if they send no request or an incomplete one, or do not read their
//! response. Connections are limited in total and for each client.
//!
//! **Invariant:** some connections are reserved for [`ALWAYS_SERVED`], so that health checks work
//! while all others are taken.

mod clients;
#[cfg(feature = "grpc")]
mod http2;
mod timed_stream;

pub use clients::{BadNetwork, Client, ConnectionLimits, TrustedProxies};
pub(crate) use clients::{BodyTime, HEADERS_BYTES_MAX, IsHttps};

use crate::http::kept_body::KeptBody;
use crate::problem::{Problem, RETRY_AFTER_S};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Version, header};
use axum::response::{IntoResponse, Response};
use clients::{Clients, Held};
use frontend::Serving;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::error::Error;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use timed_stream::{Phase, TimedStream};
use tls::{Current, ServerConfig, TlsAcceptor};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tower_service::Service;
use tracing::Span;

/// Protocols for TLS, the preferred first: browsers stay with HTTP/1.1.
pub const PROTOCOLS: &[&str] = if cfg!(feature = "grpc") {
    &["http/1.1", "h2"]
} else {
    &["http/1.1"]
};

/// Connections for [`ALWAYS_SERVED`] only, beyond the limit.
const RESERVED: usize = 16;

const RESERVED_PER_CLIENT: usize = 4;

/// Served when all connections are taken.
const ALWAYS_SERVED: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Another server may answer at once.
const RETRY_DRAINING_S: u64 = 1;

/// Pause of accepting without file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn describe() {
    let refused = "Connections, and requests on reserved ones, that were refused";
    metrics::describe_counter!("trawl_http_connections_refused_total", refused);
    metrics::describe_gauge!("trawl_http_connections", "Open connections");
}

/// Never returns.
pub async fn serve(listener: TcpListener, router: Router, limits: ConnectionLimits) {
    let (_, serving) = watch::channel(Serving::Open);
    serve_until_drained(listener, router, limits, None, serving).await;
}

/// Like `serve`, until the server is drained. With `tls`, each connection takes the current
/// configuration.
///
/// While draining, requests are answered, and each connection ends with its next response. On
/// handover, requests without the beginning of a response get 503.
pub async fn serve_until_drained(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    tls: Option<Current<ServerConfig>>,
    mut serving: watch::Receiver<Serving>,
) {
    let server = Arc::new(Server {
        clients: Arc::default(),
        router,
        limits,
        tls,
        serving: serving.clone(),
        open: watch::Sender::new(()),
    });
    let mut drained = pin!(async {
        reached(&mut serving, Serving::Draining).await;
        server.open.closed().await;
    });
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut drained => return,
        };
        match accepted {
            Ok((stream, peer)) => server.accept(stream, peer),
            Err(error) if is_about_the_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn reached(serving: &mut watch::Receiver<Serving>, wanted: Serving) {
    if serving.wait_for(|now| *now >= wanted).await.is_err() {
        pending().await
    }
}

fn is_about_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// With or without TLS: one type, as the HTTP library is compiled for each.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

struct Server {
    clients: Arc<Clients>,
    router: Router,
    limits: ConnectionLimits,
    tls: Option<Current<ServerConfig>>,
    serving: watch::Receiver<Serving>,
    /// Each connection has a receiver.
    open: watch::Sender<()>,
}

impl Server {
    fn accept(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        let limits = &self.limits;
        let client = Client::new(peer.ip());
        // A proxy has the connections of all its clients: their requests are counted instead.
        let per_client_max = if limits.trusted_proxies.contains(peer.ip()) {
            limits.connections_max
        } else {
            limits.per_client_max
        };
        let most = (limits.connections_max, per_client_max);
        let held = Clients::hold(&self.clients, client, most, false);
        let is_reserved = held.is_none();
        let held = held.or_else(|| {
            let most = (limits.connections_max + RESERVED, RESERVED_PER_CLIENT);
            Clients::hold(&self.clients, client, most, true)
        });
        let Some(held) = held else {
            metrics::counter!("trawl_http_connections_refused_total").increment(1);
            return;
        };
        // Only an optimization: failures are ignored.
        let _ = stream.set_nodelay(true);
        let open = self.open.subscribe();
        let server = Arc::clone(self);
        tokio::spawn(async move {
            metrics::gauge!("trawl_http_connections").increment(1.0);
            if let Err(error) = server.serve_connection(stream, peer, is_reserved).await {
                tracing::debug!(%peer, error, "a connection ended");
            }
            drop(held);
            metrics::gauge!("trawl_http_connections").decrement(1.0);
            drop(open);
        });
    }

    /// A handshake has the time limits of a request.
    async fn serve_connection(
        self: &Arc<Self>,
        mut stream: TcpStream,
        peer: SocketAddr,
        is_reserved: bool,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let tls = self.tls.as_ref().map(|tls| Arc::clone(&tls.borrow()));
        let limits = &self.limits;
        if tls.is_some() && !tls::server::is_handshake(&mut stream, limits.head_max).await? {
            return Err("the client does not speak TLS".into());
        }
        let phase = Arc::new(Phase::default());
        let stream = TimedStream::new(stream, Arc::clone(&phase), limits);
        let stream: Box<dyn Stream> = match tls {
            None => Box::new(stream),
            Some(config) => Box::new(TlsAcceptor::from(config).accept(stream).await?),
        };
        self.serve_requests(stream, phase, peer, is_reserved).await
    }

    async fn serve_requests(
        self: &Arc<Self>,
        stream: Box<dyn Stream>,
        phase: Arc<Phase>,
        peer: SocketAddr,
        is_reserved: bool,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (begun, unread) = (Notify::new(), Arc::new(Notify::new()));
        let service = service_fn(|request: hyper::Request<Incoming>| {
            begun.notify_one();
            let version = request.version();
            let (server, busy) = (Arc::clone(self), phase.begin(version));
            let unread = Arc::clone(&unread);
            async move {
                let request = request.map(Body::new);
                let (response, held) = server.respond(request, peer, is_reserved).await;
                let response = server.watched(response, version, unread);
                let kept = (busy, held);
                let body = |body| KeptBody::new(body, Span::none(), kept);
                Ok::<_, Infallible>(response.map(body))
            }
        });
        let mut serving = self.serving.clone();
        let is_open = *serving.borrow() == Serving::Open;
        let builder = self.builder(is_open);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let mut unread = pin!(unread.notified());
        let last = async {
            if is_open {
                reached(&mut serving, Serving::Draining).await;
            } else {
                begun.notified().await;
            }
        };
        tokio::select! {
            served = connection.as_mut() => return served,
            () = unread.as_mut() => return Err("the client does not read its response".into()),
            () = last => connection.as_mut().graceful_shutdown(),
        }
        tokio::select! {
            served = connection => served,
            () = unread => Err("the client does not read its response".into()),
        }
    }

    fn builder(&self, keep_alive: bool) -> auto::Builder<TokioExecutor> {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().keep_alive(keep_alive);
        #[cfg(feature = "grpc")]
        http2::limit(&mut builder, &self.limits);
        #[cfg(not(feature = "grpc"))]
        let builder = builder.http1_only();
        builder
    }

    #[cfg_attr(not(feature = "grpc"), expect(clippy::unused_self, unused_variables))]
    fn watched(&self, response: Response, version: Version, unread: Arc<Notify>) -> Response {
        #[cfg(feature = "grpc")]
        if version == Version::HTTP_2 {
            let watch = |body| http2::WatchedBody::new(body, unread, self.limits.unread_max);
            return response.map(|body| Body::new(watch(body)));
        }
        response
    }

    /// Returns also the request's count, to hold until the response is sent.
    async fn respond(
        &self,
        mut request: Request,
        peer: SocketAddr,
        is_reserved: bool,
    ) -> (Response, Option<Held>) {
        let limits = &self.limits;
        #[cfg(feature = "grpc")]
        http2::name_host(&mut request);
        if is_reserved && !ALWAYS_SERVED.contains(&request.uri().path()) {
            return (refused("connections are open"), None);
        }
        let client = limits.trusted_proxies.client(peer.ip(), request.headers());
        let mut held = None;
        // A connection of HTTP/2 has many requests, as that of a proxy.
        if client != Client::new(peer.ip()) || request.version() == Version::HTTP_2 {
            let most = (usize::MAX, limits.per_client_max);
            held = Clients::hold(&self.clients, client, most, false);
            if held.is_none() {
                return (refused("requests of this client are being answered"), None);
            }
        }
        let proxies = &limits.trusted_proxies;
        if self.tls.is_some() || proxies.is_https(peer.ip(), request.headers()) {
            request.extensions_mut().insert(IsHttps);
        }
        request.extensions_mut().insert(client);
        request.extensions_mut().insert(BodyTime(limits.body_max));
        let mut serving = self.serving.clone();
        let is_health = ALWAYS_SERVED.contains(&request.uri().path());
        let mut router = self.router.clone();
        tokio::select! {
            biased;
            Ok(response) = router.call(request) => (response, held),
            () = reached(&mut serving, Serving::HandingOver), if !is_health => (draining(), None),
        }
    }
}

fn draining() -> Response {
    let detail = "this server is about to stop, and the answer is not there yet; ask again";
    Problem::draining(detail, RETRY_DRAINING_S).into_response()
}

fn refused(what: &str) -> Response {
    metrics::counter!("trawl_http_connections_refused_total").increment(1);
    let mut response = Problem::busy(format!("too many {what}"), RETRY_AFTER_S).into_response();
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}
