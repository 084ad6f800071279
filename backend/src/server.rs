//! Serves an index on connections: HELLO first, then one request after the other.
//!
//! A search runs on threads of its own (`search`). Its frames come through a short queue to the
//! connection, which also sends its progress while there are none. A connection that is not read
//! stops the search, because the queue fills up; there is no other flow control.
//!
//! **Invariant:** a search ends with END, ERROR, or the connection. Its workers stop at their next
//! check when the connection closes, CANCEL arrives or the deadline has passed.

mod admission;
mod chunk;
mod connection;
mod error_log;
mod file;
mod list;
mod lookup;
mod object_file;
mod search;
mod tls;
mod transfer;
mod visible;

pub use connection::{ConnectionError, Duplex};

use crate::compiler::KeptMatchers;
use crate::git_repositories::RecordedLocations;
use crate::live_shards::{Generation, LiveShards};
use crate::repositories::LookUp;
use admission::Admission;
use connection::Connection;
use error_log::ErrorLog;
use lookup::LookupService;
use object_file::ObjectFiles;
use rustls::ServerConfig;
use schema::frame::Kind;
use schema::message::{
    self, Failure, FailureKind, FileReply, FileRequest, FileSource, ListKind, ListReply,
    ListRequest, LookupRequest, Search, VisibleShard,
};
use search::SearchService;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use visible::Repositories;

/// An idle connection gets a HELLO this often.
const HELLO_EVERY: Duration = Duration::from_secs(1);

/// Connections at once. Further ones wait to be accepted.
const CONNECTIONS_MAX: usize = 1024;

/// Memory for compiled patterns: some queries with the largest patterns that people write, or one near the limits.
const PATTERN_BYTES: u64 = 64 << 20;

/// How a backend works.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that verify candidates, for each search.
    pub workers: usize,
    /// Light searches that run at once; others wait. Every search counts as light until it is
    /// planned.
    pub searches: usize,
    /// Heavy searches that run at once, beside the light ones: those with more than
    /// [`HEAVY_BLOCKS`](crate::search::HEAVY_BLOCKS) candidate blocks.
    pub heavy_searches: usize,
    /// Requests for look-ups in repositories that are answered at once; others wait.
    pub lookups: usize,
    /// Memory for the compiled patterns of heavy searches. One that needs more runs alone.
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

/// A source backend: serves live shards.
pub struct Backend {
    live: Arc<LiveShards>,
    searches: SearchService,
    lookups: LookupService,
    object_files: Arc<ObjectFiles>,
    is_draining: AtomicBool,
    /// Requests that are being answered.
    requests: watch::Sender<usize>,
}

impl Backend {
    /// Starts to keep `live` up to date, and returns a backend that serves it, and answers look-ups from
    /// `repositories` if there are any, and from what the index recorded of its own. Needs a tokio runtime.
    pub fn start(
        live: LiveShards,
        repositories: Option<Arc<dyn LookUp>>,
        options: Options,
    ) -> Arc<Backend> {
        crate::metrics::describe();
        let live = Arc::new(live);
        tokio::spawn(live.clone().watch());
        let searches = SearchService {
            live: live.clone(),
            workers: options.workers,
            admission: Arc::new(Admission::new(
                options.searches,
                options.heavy_searches,
                options.pattern_bytes,
            )),
            kept: KeptMatchers::default(),
        };
        let lookups = LookupService::new(repositories, live.clone(), options.lookups);
        Arc::new(Backend {
            live,
            searches,
            lookups,
            object_files: Arc::default(),
            is_draining: AtomicBool::new(false),
            requests: watch::Sender::new(0),
        })
    }

    /// Refuses searches from now on, which frontends then ask of others, and waits until no request is being answered.
    pub async fn drain(&self) {
        self.is_draining.store(true, Relaxed);
        let mut requests = self.requests.subscribe();
        // The sender is in self.
        let _ = requests.wait_for(|requests| *requests == 0).await;
    }

    /// Whether searches are refused because the process is about to end.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Relaxed)
    }

    /// Returns the shards that are served.
    pub fn live(&self) -> &LiveShards {
        &self.live
    }

    /// Answers a search of a client in the same process, on the calling thread, if it can start at once; a heavy one waits
    /// there for its permit. Else returns false, and the search is to be sent to a connection. The thread must belong to a
    /// runtime, and be one that may block. `send` gets the frames that a connection would
    /// send, but for HELLO, in slices of whole frames; it returns whether more are wanted. The search ends early when
    /// `stop` is set.
    pub fn answer_here(
        &self,
        search: &Search,
        stop: &Arc<AtomicBool>,
        send: &mut dyn FnMut(&[u8]) -> bool,
    ) -> bool {
        self.searches.answer_here(search, stop, send)
    }

    /// Accepts and serves connections for ever; if `tls` is given, over TLS with its current configuration.
    pub async fn listen(
        self: Arc<Self>,
        listener: TcpListener,
        tls: Option<watch::Receiver<Arc<ServerConfig>>>,
    ) -> io::Result<()> {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let errors = Arc::new(ErrorLog::default());
        loop {
            let permit = permits.clone().acquire_owned().await.expect("never closed");
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    // There are no descriptors left, or the connection is already gone.
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

    /// Serves one connection until it ends, and counts the error with which it does.
    pub async fn serve<S: Duplex>(&self, stream: S) -> Result<(), ConnectionError> {
        counted(self.serve_requests(stream).await)
    }

    async fn serve_accepted(
        &self,
        stream: TcpStream,
        tls: Option<Arc<ServerConfig>>,
    ) -> Result<(), ConnectionError> {
        let Some(config) = tls else {
            return self.serve(stream).await;
        };
        match counted(tls::accept(stream, config).await)? {
            Some(stream) => self.serve(stream).await,
            None => Ok(()),
        }
    }

    async fn serve_requests<S: Duplex>(&self, stream: S) -> Result<(), ConnectionError> {
        let mut connection =
            Connection::new(stream, self.live.clone(), self.lookups.has_repositories());
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
            let _counted = Counted::new(&self.requests);
            match ClientRequest::decode(kind, &payload) {
                Ok(ClientRequest::Search(_)) if self.is_draining() => {
                    let message = "this backend is about to stop";
                    let failure = Failure::new(FailureKind::StaleShards, message);
                    connection.answer(|out| failure.encode(out)).await?;
                }
                Ok(ClientRequest::Search(search)) => {
                    self.searches.answer(&mut connection, search).await?;
                }
                Ok(ClientRequest::File(request)) => {
                    let repositories = self.lookups.repositories();
                    let files = Arc::clone(&self.object_files);
                    let reads = Reads::file(&request);
                    let read = move |shards: &Generation| {
                        files.answer(shards, &readers(repositories.as_deref()), &request)
                    };
                    let encode = FileReply::encode;
                    self.answer_read(&mut connection, reads, read, encode)
                        .await?;
                }
                Ok(ClientRequest::List(request)) if request.kind == ListKind::Shard => {
                    self.answer_shard(&mut connection, request).await?;
                }
                Ok(ClientRequest::List(request)) => {
                    let repositories = self.lookups.repositories();
                    let reads = Reads::list(&request);
                    let read = move |shards: &Generation| {
                        list::read(shards, &readers(repositories.as_deref()), &request)
                    };
                    let encode = ListReply::encode;
                    self.answer_read(&mut connection, reads, read, encode)
                        .await?;
                }
                Ok(ClientRequest::Lookup(request)) => {
                    self.answer_lookups(&mut connection, request).await?;
                }
                // The search that it was for has ended.
                Ok(ClientRequest::Cancel) => {}
                Err(error) => {
                    let failure = Failure::new(FailureKind::Protocol, error.to_string());
                    connection.send(|out| failure.encode(out)).await?;
                    return Err(error);
                }
            }
        }
    }

    /// Answers with the packages of a shard, which any generation that is still served may have.
    async fn answer_shard<S: Duplex>(
        &self,
        connection: &mut Connection<S>,
        request: ListRequest,
    ) -> Result<(), ConnectionError> {
        let id = <[u8; 32]>::try_from(&request.package[..]).ok();
        match id.and_then(|id| self.live.shard(&id)) {
            Some(shard) => {
                let reads = Reads::list(&request);
                let read = move |shards: &Generation| {
                    list::shard_packages(&shard, &shards.recorded, &request)
                };
                self.answer_read(connection, reads, read, ListReply::encode)
                    .await
            }
            None => {
                let message = "this backend no longer serves the shard";
                let failure = Failure::new(FailureKind::StaleShards, message);
                connection.answer(|out| failure.encode(out)).await
            }
        }
    }

    async fn answer_lookups<S: Duplex>(
        &self,
        connection: &mut Connection<S>,
        request: LookupRequest,
    ) -> Result<(), ConnectionError> {
        if !self.lookups.has_repositories() && self.live.current().recorded.repositories.is_empty()
        {
            let message = "this backend has no repositories: it was started without --repos, and its index has none";
            let failure = Failure::new(FailureKind::Unavailable, message);
            return connection.answer(|out| failure.encode(out)).await;
        }
        let reply = self.lookups.answer(request).await;
        connection.answer(|out| reply.encode(out)).await
    }

    /// Answers with what `read` returns for the current shards, or for what is visible of them.
    async fn answer_read<S: Duplex, T: Send + 'static>(
        &self,
        connection: &mut Connection<S>,
        reads: Reads,
        read: impl FnOnce(&Generation) -> Result<T, index::shard::ShardError> + Send + 'static,
        encode: impl FnOnce(&T, &mut Vec<u8>) -> Result<(), message::MessageError>,
    ) -> Result<(), ConnectionError> {
        let live = Arc::clone(&self.live);
        let unavailable = |error: String| Failure::new(FailureKind::Unavailable, error);
        let reading = tokio::task::spawn_blocking(move || {
            let shards = visible::generation(&live, reads.visible.as_deref(), &reads.repositories)?;
            read(&shards).map_err(|error| unavailable(error.to_string()))
        });
        let failure = match reading.await {
            Ok(Ok(reply)) => return connection.answer(|out| encode(&reply, out)).await,
            Ok(Err(failure)) => failure,
            Err(error) => unavailable(error.to_string()),
        };
        connection.answer(|out| failure.encode(out)).await
    }
}

/// Counts a request while it is being answered.
struct Counted<'a>(&'a watch::Sender<usize>);

impl Counted<'_> {
    fn new(requests: &watch::Sender<usize>) -> Counted<'_> {
        requests.send_modify(|requests| *requests += 1);
        Counted(requests)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|requests| *requests -= 1);
    }
}

/// What a FILE or LIST request reads.
struct Reads {
    visible: Option<Vec<VisibleShard>>,
    repositories: Repositories,
}

impl Reads {
    fn file(request: &FileRequest) -> Reads {
        Reads {
            visible: request.visible.clone(),
            repositories: match request.source {
                FileSource::Text if request.revision.is_empty() => Repositories::None,
                _ => Repositories::Of(request.package.clone()),
            },
        }
    }

    fn list(request: &ListRequest) -> Reads {
        Reads {
            visible: request.visible.clone(),
            repositories: match request.kind {
                ListKind::Repositories => Repositories::All,
                _ => Repositories::None,
            },
        }
    }
}

/// Returns what can read the repositories of the index: those that the backend was given, and those where the index
/// found them.
fn readers(given: Option<&dyn LookUp>) -> Vec<&dyn LookUp> {
    let found: &dyn LookUp = &RecordedLocations;
    given.into_iter().chain([found]).collect()
}

/// Counts the error with which a connection ends.
fn counted<T>(served: Result<T, ConnectionError>) -> Result<T, ConnectionError> {
    if let Some(reason) = served.as_ref().err().and_then(ConnectionError::label) {
        metrics::counter!("trawl_backend_connection_errors_total", "reason" => reason).increment(1);
    }
    served
}

/// A request of the other side.
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
