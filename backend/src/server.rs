//! Serves an index on connections: HELLO, then one request after the other.
//!
//! A search runs on its own threads (`search`). Frames, or progress meanwhile, reach the connection
//! through a short queue; a full queue is the only back-pressure.
//!
//! **Invariant:** a search ends with END, ERROR, or the connection. Workers stop at their next
//! check after a close, CANCEL or the deadline.

mod admission;
mod connection;
mod definitions;
mod file;
mod list;
mod lookup;
mod object_file;
mod search;
mod transfer;
mod visible;

pub use connection::{ConnectionError, Duplex};
pub use definitions::add as add_definitions;

use crate::live::LiveShards;
use crate::lookup::LookUp;
use crate::matcher::compiler::KeptMatchers;
use admission::Admission;
use connection::{Connection, ErrorLog};
use object_file::ObjectFiles;
use schema::frame::Kind;
use schema::message::{
    self, Failure, FailureKind, FileReply, FileRequest, ListReply, ListRequest, LookupRequest,
    Search,
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tls::{Current, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// On an idle connection.
const HELLO_EVERY: Duration = Duration::from_secs(1);

/// Others wait to be accepted.
const CONNECTIONS_MAX: usize = 1024;

/// Some queries with the largest usual patterns, or one near the limits.
const PATTERN_BYTES: u64 = 64 << 20;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that verify candidates, per search.
    pub workers: usize,
    /// Concurrent light searches; others wait. Every search counts as light until planned.
    pub searches: usize,
    /// Concurrent heavy searches, besides light ones: over
    /// [`HEAVY_BLOCKS`](crate::search::HEAVY_BLOCKS) candidate blocks.
    pub heavy_searches: usize,
    /// Concurrent look-up requests; others wait.
    pub lookups: usize,
    /// Memory for patterns of heavy searches. A larger search runs alone.
    pub pattern_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, |count| count.get());
        Options {
            workers,
            searches: 4 * workers,
            heavy_searches: workers.max(2),
            lookups: 4 * workers,
            pattern_bytes: PATTERN_BYTES,
        }
    }
}

pub struct Backend {
    live: Arc<LiveShards>,
    repositories: Option<Arc<dyn LookUp>>,
    workers: usize,
    admission: Admission,
    kept: KeptMatchers,
    lookup_permits: Arc<Semaphore>,
    object_files: ObjectFiles,
    is_draining: AtomicBool,
    /// A receiver for each request in progress.
    requests: watch::Sender<()>,
}

impl Backend {
    /// Backend of `live`, kept up to date. Look-ups use `repositories` and the index's
    /// records. Needs a tokio runtime.
    pub fn start(
        live: LiveShards,
        repositories: Option<Arc<dyn LookUp>>,
        options: Options,
    ) -> Arc<Backend> {
        crate::metrics::describe();
        let live = Arc::new(live);
        tokio::spawn(live.clone().watch());
        Arc::new(Backend {
            live,
            repositories,
            workers: options.workers,
            admission: Admission::new(
                options.searches,
                options.heavy_searches,
                options.pattern_bytes,
            ),
            kept: KeptMatchers::default(),
            lookup_permits: Arc::new(Semaphore::new(options.lookups)),
            object_files: ObjectFiles::default(),
            is_draining: AtomicBool::new(false),
            requests: watch::Sender::new(()),
        })
    }

    /// Refuses further searches, so frontends ask other backends, and waits for requests in
    /// progress.
    pub async fn drain(&self) {
        self.is_draining.store(true, Relaxed);
        self.requests.closed().await;
    }

    /// True while searches are refused before the process ends.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Relaxed)
    }

    pub fn live(&self) -> &LiveShards {
        &self.live
    }

    /// Serves for ever, over TLS with the current configuration of `tls`.
    pub async fn listen(
        self: Arc<Self>,
        listener: TcpListener,
        tls: Option<Current<ServerConfig>>,
    ) -> io::Result<()> {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let errors = Arc::new(ErrorLog::default());
        loop {
            let permit = permits.clone().acquire_owned().await.expect("never closed");
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    // No descriptors are left, or the connection is gone.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (backend, errors) = (self.clone(), errors.clone());
            let config = tls.as_ref().map(|tls| Arc::clone(&tls.borrow()));
            tokio::spawn(async move {
                let _permit = permit;
                let _ = stream.set_nodelay(true);
                if let Err(error) = backend.serve_accepted(stream, config).await {
                    errors.log(peer, &error);
                }
            });
        }
    }

    /// Serves one connection to its end, and counts its error.
    pub async fn serve<S: Duplex>(self: &Arc<Self>, stream: S) -> Result<(), ConnectionError> {
        counted(self.serve_requests(stream).await)
    }

    async fn serve_accepted(
        self: &Arc<Self>,
        stream: TcpStream,
        tls: Option<Arc<ServerConfig>>,
    ) -> Result<(), ConnectionError> {
        let Some(config) = tls else {
            return self.serve(stream).await;
        };
        let accepted = tls::server::accept(stream, config).await;
        match counted(accepted.map_err(ConnectionError::from))? {
            Some(stream) => self.serve(stream).await,
            None => Ok(()),
        }
    }

    async fn serve_requests<S: Duplex>(self: &Arc<Self>, stream: S) -> Result<(), ConnectionError> {
        let mut connection =
            Connection::new(stream, self.live.clone(), self.repositories.is_some());
        let mut changes = self.live.changes();
        connection.greet().await?;
        loop {
            let frame = loop {
                tokio::select! {
                    frame = connection.reader.next() => break frame?,
                    Ok(()) = changes.changed() => {}
                    () = tokio::time::sleep(HELLO_EVERY) => {}
                }
                connection.greet().await?;
            };
            let Some((kind, payload)) = frame else {
                return Ok(());
            };
            let _counted = self.requests.subscribe();
            match ClientRequest::decode(kind, &payload) {
                Ok(ClientRequest::Search(_)) if self.is_draining() => {
                    let message = "this backend is about to stop";
                    let failure = Failure::new(FailureKind::StaleShards, message);
                    connection.answer(|out| failure.encode(out)).await?;
                }
                Ok(ClientRequest::Search(search)) => {
                    self.answer_search(&mut connection, search).await?;
                }
                Ok(ClientRequest::File(request)) => {
                    let read = move |backend: &Backend| {
                        let given = backend.repositories.as_deref();
                        backend.object_files.read(&backend.live, given, &request)
                    };
                    self.answer_read(&mut connection, read, FileReply::encode)
                        .await?;
                }
                Ok(ClientRequest::List(request)) => {
                    let read = move |backend: &Backend| {
                        list::read(&backend.live, backend.repositories.as_deref(), &request)
                    };
                    self.answer_read(&mut connection, read, ListReply::encode)
                        .await?;
                }
                Ok(ClientRequest::Lookup(request)) => {
                    self.answer_lookups(&mut connection, request).await?;
                }
                // Its search has ended.
                Ok(ClientRequest::Cancel) => {}
                Err(error) => {
                    let failure = Failure::new(FailureKind::Protocol, error.to_string());
                    connection.send(|out| failure.encode(out)).await?;
                    return Err(error);
                }
            }
        }
    }

    async fn answer_read<S: Duplex, T: Send + 'static>(
        self: &Arc<Self>,
        connection: &mut Connection<S>,
        read: impl FnOnce(&Backend) -> Result<T, Failure> + Send + 'static,
        encode: impl FnOnce(&T, &mut Vec<u8>) -> Result<(), message::MessageError>,
    ) -> Result<(), ConnectionError> {
        let backend = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || read(&backend)).await;
        let reply = reading.unwrap_or_else(|error| Err(visible::unavailable(error)));
        let encode = |out: &mut Vec<u8>| match &reply {
            Ok(reply) => encode(reply, out),
            Err(failure) => failure.encode(out),
        };
        connection.answer(encode).await
    }
}

fn counted<T>(served: Result<T, ConnectionError>) -> Result<T, ConnectionError> {
    if let Some(reason) = served.as_ref().err().and_then(ConnectionError::label) {
        metrics::counter!("trawl_backend_connection_errors_total", "reason" => reason).increment(1);
    }
    served
}

enum ClientRequest {
    Search(Search),
    File(FileRequest),
    List(ListRequest),
    Lookup(LookupRequest),
    Cancel,
}

impl ClientRequest {
    fn decode(kind: Kind, payload: &[u8]) -> Result<ClientRequest, ConnectionError> {
        let request = match kind {
            Kind::Search => Search::decode(payload).map(ClientRequest::Search),
            Kind::File => FileRequest::decode(payload).map(ClientRequest::File),
            Kind::List => ListRequest::decode(payload).map(ClientRequest::List),
            Kind::Lookup => LookupRequest::decode(payload).map(ClientRequest::Lookup),
            Kind::Cancel => Ok(ClientRequest::Cancel),
            other => return Err(ConnectionError::UnexpectedFrame(other)),
        };
        request.map_err(|error| ConnectionError::BadRequest(error.to_string()))
    }
}
