//! Speaks frames: HELLO, then one request after the other, each answered before the next.
//!
//! A search runs on threads of its own; this side only moves its frames to the connection, and
//! says how far it is when there is nothing to move. The queue between the two is short, so a
//! connection that is not read from stops the search, which is all the flow control there is.
//! **Invariant:** a search ends with END or ERROR, or with the connection; when the connection
//! closes, CANCEL comes or its time is over, its workers stop at their next look.

mod admission;
mod chunks;
mod connection;
mod error_log;
mod file;
mod job;
mod list;
mod search;

use crate::live_shards::{Generation, LiveShards};
use admission::Admission;
use connection::Connection;
use error_log::ErrorLog;
use index::shard::Shard;
use schema::frame::Kind;
use schema::message::{
    self, Failure, FailureKind, FileReply, FileRequest, Hello, ListReply, ListRequest, PROTOCOL,
    Search,
};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// A search says how far it is at least this often; the other end gives up after 3 s of silence.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// An idle connection hears HELLO this often.
const HELLO_EVERY: Duration = Duration::from_secs(1);

/// Connections at once. Beyond, a new one waits to be accepted.
const CONNECTIONS_MAX: usize = 1024;

/// How a backend works.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that verify, for each search.
    pub workers: usize,
    /// Light searches that run at once; others wait. Every search is a light one until it has been
    /// planned.
    pub searches: usize,
    /// Heavy searches that run at once, beside the light ones: those with more than
    /// [`HEAVY_BLOCKS`](crate::search::HEAVY_BLOCKS) candidate blocks.
    pub heavy_searches: usize,
}

impl Default for Options {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, |count| count.get());
        Options {
            workers,
            searches: 4 * workers,
            heavy_searches: workers.max(2),
        }
    }
}

/// A source backend: live shards, and the right to search them.
pub struct Backend {
    live: Arc<LiveShards>,
    options: Options,
    turns: Arc<Admission>,
}

impl Backend {
    /// A backend that serves `live`, and keeps it up to date. Needs a tokio runtime.
    pub fn start(live: LiveShards, options: Options) -> Arc<Backend> {
        crate::metrics::describe();
        let live = Arc::new(live);
        tokio::spawn(live.clone().watch());
        Arc::new(Backend {
            live,
            options,
            turns: Arc::new(Admission::new(options)),
        })
    }

    /// The shards that are served.
    pub fn live(&self) -> &LiveShards {
        &self.live
    }

    /// Accepts connections, for ever.
    pub async fn listen(self: Arc<Self>, listener: TcpListener) -> io::Result<()> {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let ended = Arc::new(ErrorLog::default());
        loop {
            let permit = permits.clone().acquire_owned().await.expect("never closed");
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of descriptors, or a connection that is gone already: go on.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (backend, ended) = (self.clone(), ended.clone());
            tokio::spawn(async move {
                let _permit = permit;
                let _ = stream.set_nodelay(true);
                if let Err(error) = backend.serve(stream).await {
                    ended.log(peer, &error);
                }
            });
        }
    }

    /// Serves one connection until it ends, and counts why it did when that was not by the other
    /// side's closing or cancelling.
    pub async fn serve<S>(&self, stream: S) -> Result<(), connection::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let served = self.converse(stream).await;
        if let Some(reason) = served.as_ref().err().and_then(connection::Error::label) {
            metrics::counter!("trawl_backend_connection_errors_total", "reason" => reason)
                .increment(1);
        }
        served
    }

    /// One request after the other.
    async fn converse<S>(&self, stream: S) -> Result<(), connection::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let mut connection = Connection::new(stream);
        let mut changes = self.live.changes();
        connection.greet(&self.hello()).await?;
        loop {
            let request = loop {
                tokio::select! {
                    request = connection.next() => break request?,
                    Ok(()) = changes.changed() => {}
                    () = tokio::time::sleep(HELLO_EVERY) => {}
                }
                connection.greet(&self.hello()).await?;
            };
            let Some((kind, payload)) = request else {
                return Ok(());
            };
            // Every answer ends with a greeting, in the write that it ends with.
            match kind {
                Kind::Search => match Search::decode(&payload) {
                    Ok(request) => self.answer_search(&mut connection, request).await?,
                    Err(error) => return refuse(&mut connection, bad_request(&error)).await,
                },
                Kind::File => match FileRequest::decode(&payload) {
                    Ok(request) => {
                        let read = move |snapshot: &Generation| file::read(snapshot, &request);
                        self.answer_read(&mut connection, read, FileReply::encode)
                            .await?;
                    }
                    Err(error) => return refuse(&mut connection, bad_request(&error)).await,
                },
                Kind::List => match ListRequest::decode(&payload) {
                    Ok(request) => {
                        let read = move |snapshot: &Generation| list::read(snapshot, &request);
                        self.answer_read(&mut connection, read, ListReply::encode)
                            .await?;
                    }
                    Err(error) => return refuse(&mut connection, bad_request(&error)).await,
                },
                // It came too late to stop anything.
                Kind::Cancel => {}
                other => {
                    return refuse(&mut connection, connection::Error::OutOfPlace(other)).await;
                }
            }
        }
    }

    fn hello(&self) -> Hello {
        let describe = |shard: &Arc<Shard>| {
            let live = shard.live_counts();
            message::ShardInfo {
                id: shard.id(),
                packages: live.packages,
                documents: live.documents,
                blocks: live.blocks,
                text_bytes: live.text_bytes,
            }
        };
        let current = self.live.current();
        let shards = current.shards.iter().map(describe).collect();
        Hello {
            protocol: PROTOCOL,
            shards,
            updated: current.updated,
        }
    }

    /// Answers with what is read of the shards that are live now.
    async fn answer_read<S, T: Send + 'static>(
        &self,
        connection: &mut Connection<S>,
        read: impl FnOnce(&Generation) -> Result<T, index::shard::ShardError> + Send + 'static,
        encode: impl FnOnce(&T, &mut Vec<u8>) -> Result<(), message::MessageError>,
    ) -> Result<(), connection::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let snapshot = self.live.current();
        match tokio::task::spawn_blocking(move || read(&snapshot)).await {
            Ok(Ok(reply)) => self.answer(connection, |out| encode(&reply, out)).await,
            Ok(Err(error)) => self.fail(connection, &error.to_string()).await,
            Err(error) => self.fail(connection, &error.to_string()).await,
        }
    }

    async fn fail<S>(
        &self,
        connection: &mut Connection<S>,
        message: &str,
    ) -> Result<(), connection::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let failure = Failure::new(FailureKind::Unavailable, message);
        self.answer(connection, |out| failure.encode(out)).await
    }

    /// Sends the end of an answer and the greeting that follows it, in one write.
    async fn answer<S>(
        &self,
        connection: &mut Connection<S>,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), message::MessageError>,
    ) -> Result<(), connection::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        connection
            .send(|out| {
                encode(out)?;
                self.hello().encode(out)
            })
            .await
    }
}

/// Says what is wrong with a request; the connection ends with it.
async fn refuse<S>(
    connection: &mut Connection<S>,
    error: connection::Error,
) -> Result<(), connection::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let failure = Failure::new(FailureKind::Protocol, error.to_string());
    connection.send(|out| failure.encode(out)).await?;
    Err(error)
}

fn bad_request(error: &message::MessageError) -> connection::Error {
    connection::Error::Request(error.to_string())
}
