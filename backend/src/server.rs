//! Speaks frames: HELLO, then one request after the other, each answered before the next.
//!
//! A search runs on threads of its own; this side only moves its frames to the connection, and
//! says how far it is when there is nothing to move. The queue between the two is short, so a
//! connection that is not read from stops the search, which is all the flow control there is.
//! **Invariant:** a search ends with END or ERROR, or with the connection; when the connection
//! closes, or CANCEL comes, its workers stop at their next look.

mod connection;
mod ended;
mod file;
mod filters;
mod job;

use crate::pattern::Compiled;
use crate::search::{Cancel, Counters, Stopped};
use crate::snapshot::Live;
use connection::Connection;
use ended::Ended;
use index::shard::Shard;
use job::{CancelOnDrop, Job};
use schema::frame::Kind;
use schema::message::{self, End, Failure, FailureKind, FileRequest, Hello, PROTOCOL, Search};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};

/// A search says how far it is at least this often; the other end gives up after 3 s of silence.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// An idle connection hears HELLO this often.
const HELLO_EVERY: Duration = Duration::from_secs(1);

/// Chunks between a search and its connection.
const CHUNKS_MAX: usize = 4;

/// Connections at once. Beyond, a new one waits to be accepted.
const CONNECTIONS_MAX: usize = 1024;

/// How a backend works.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that verify, for each search.
    pub workers: usize,
    /// Searches that run at once; others wait.
    pub searches: usize,
}

impl Default for Options {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, |count| count.get());
        Options {
            workers,
            searches: 4 * workers,
        }
    }
}

/// A source backend: live shards, and the right to search them.
pub struct Backend {
    live: Arc<Live>,
    options: Options,
    searches: Semaphore,
}

impl Backend {
    /// A backend that serves `live`, and keeps it up to date. Needs a tokio runtime.
    pub fn start(live: Live, options: Options) -> Arc<Backend> {
        let live = Arc::new(live);
        tokio::spawn(live.clone().watch());
        let searches = Semaphore::new(options.searches.max(1));
        Arc::new(Backend {
            live,
            options,
            searches,
        })
    }

    /// The shards that are served.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// Accepts connections, for ever.
    pub async fn listen(self: Arc<Self>, listener: TcpListener) -> io::Result<()> {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let ended = Arc::new(Ended::default());
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
        loop {
            connection.greet(&self.hello()).await?;
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
            match kind {
                Kind::Search => match Search::decode(&payload) {
                    Ok(request) => self.answer_search(&mut connection, request).await?,
                    Err(error) => return refuse(&mut connection, bad_request(&error)).await,
                },
                Kind::File => match FileRequest::decode(&payload) {
                    Ok(request) => self.answer_file(&mut connection, request).await?,
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
            message::Shard {
                id: shard.id(),
                packages: live.packages,
                documents: live.documents,
                blocks: live.blocks,
                text_bytes: live.text_bytes,
            }
        };
        let shards = self.live.current().shards.iter().map(describe).collect();
        Hello {
            protocol: PROTOCOL,
            shards,
        }
    }

    async fn answer_file<S>(
        &self,
        connection: &mut Connection<S>,
        request: FileRequest,
    ) -> Result<(), connection::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let snapshot = self.live.current();
        let read = move || file::read(&snapshot, &request);
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(reply)) => connection.send(|out| reply.encode(out)).await,
            Ok(Err(error)) => fail(connection, &error.to_string()).await,
            Err(error) => fail(connection, &error.to_string()).await,
        }
    }

    async fn answer_search<S>(
        &self,
        connection: &mut Connection<S>,
        request: Search,
    ) -> Result<(), connection::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        metrics::counter!("trawl_backend_searches_total").increment(1);
        let job = match self.prepare(&request) {
            Ok(job) => Arc::new(job),
            Err(failure) => return connection.send(|out| failure.encode(out)).await,
        };
        // Whatever way this ends, the workers stop.
        let _cancel_on_drop = CancelOnDrop(job.clone());
        let (chunks, mut queue) = mpsc::channel(CHUNKS_MAX);
        let mut running = std::pin::pin!(self.run(job.clone(), chunks));
        let mut result = None;
        let mut progress = tokio::time::interval(PROGRESS_EVERY);
        progress.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        progress.reset();
        loop {
            tokio::select! {
                biased;
                end = &mut running, if result.is_none() => result = Some(end),
                chunk = queue.recv() => match chunk {
                    Some(chunk) => {
                        connection.send_while_wanted(&chunk).await?;
                        progress.reset();
                    }
                    None => break,
                },
                gone = connection.unwanted() => return gone,
                _ = progress.tick() => {
                    let progress = job.progress();
                    connection.send(|out| progress.encode(out)).await?;
                }
            }
        }
        // The queue is closed by the search's end.
        let result = match result {
            Some(result) => result,
            None => running.await,
        };
        match result {
            Ok(end) => {
                let progress = job.progress();
                connection
                    .send(|out| progress.encode(out).and_then(|()| end.encode(out)))
                    .await
            }
            Err(reason) => fail(connection, &reason).await,
        }
    }

    /// Finds the shards of a search and compiles its pattern and filters.
    fn prepare(&self, request: &Search) -> Result<Job, Failure> {
        let mut shards = Vec::with_capacity(request.shards.len());
        for id in &request.shards {
            shards.push(self.live.shard(id).ok_or_else(|| {
                let message = "a shard of the search is not served here any more";
                Failure::new(FailureKind::StaleShards, message)
            })?);
        }
        let compiled = Compiled::new(&request.pattern).map_err(|bad| Failure {
            offset: bad.at.and_then(|at| u32::try_from(at).ok()),
            ..Failure::new(FailureKind::BadQuery, bad.reason)
        })?;
        Ok(Job {
            shards,
            compiled,
            filters: filters::compile(&request.filters)?,
            context_lines: request.context_lines.min(CONTEXT_LINES_MAX),
            workers: self.options.workers,
            cancel: Cancel::default(),
            counters: Counters::default(),
        })
    }

    /// Runs a search on a thread of its own, when it is its turn.
    async fn run(&self, job: Arc<Job>, chunks: mpsc::Sender<Vec<u8>>) -> Result<End, String> {
        let _permit = self.searches.acquire().await.expect("never closed");
        match tokio::task::spawn_blocking(move || job.run(chunks)).await {
            Ok(Ok(end)) => Ok(end),
            Ok(Err(Stopped)) => Err("the search was cancelled".to_owned()),
            Err(error) => {
                tracing::error!(%error, "a search failed");
                Err("the backend failed: its log says how".to_owned())
            }
        }
    }
}

/// Lines of context before and after a match, at most.
const CONTEXT_LINES_MAX: u32 = 20;

async fn fail<S>(connection: &mut Connection<S>, message: &str) -> Result<(), connection::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let failure = Failure::new(FailureKind::Unavailable, message);
    connection.send(|out| failure.encode(out)).await
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

fn bad_request(error: &message::Error) -> connection::Error {
    connection::Error::Request(error.to_string())
}
