//! A search on its connection: its frames moved there, its time looked at, its end told.

use super::chunks::{self, Chunk, ChunkSender};
use super::connection::{self, Connection};
use super::job::{CancelOnDrop, Finished, Incomplete, SearchJob};
use super::{Backend, PROGRESS_EVERY};
use crate::search::Cancel;
use schema::message::{Failure, FailureKind, Progress, Search};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::{self, Instant, MissedTickBehavior};

/// When a search must be done.
#[derive(Clone, Copy)]
struct Deadline(Option<Instant>);

impl Deadline {
    fn of(search: &Search) -> Self {
        let after = Duration::from_millis(search.deadline_ms.into());
        Deadline((search.deadline_ms > 0).then(|| Instant::now() + after))
    }

    /// Waits until it is over; for ever when there is none.
    async fn is_over(self) {
        match self.0 {
            Some(at) => time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }
}

impl Backend {
    pub(super) async fn answer_search<S>(
        &self,
        connection: &mut Connection<S>,
        search: Search,
    ) -> Result<(), connection::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        metrics::counter!("trawl_backend_searches_total").increment(1);
        let (deadline, deadline_ms) = (Deadline::of(&search), search.deadline_ms);
        let job = match self.job(search) {
            Ok(job) => Arc::new(job),
            Err(failure) => return self.answer(connection, |out| failure.encode(out)).await,
        };
        // Whatever way this ends, the workers stop.
        let _cancel_on_drop = CancelOnDrop(job.clone());
        let (queue, chunks) = chunks::queue();
        let streamed = Stream {
            connection: &mut *connection,
            chunks,
            sent: Progress {
                bound: f32::INFINITY,
                ..Progress::default()
            },
            deadline,
            cancel: &job.cancel,
        };
        match streamed.run(run(job.clone(), queue)).await? {
            Some(Ok(finished)) => {
                count_sent(&finished.rest);
                self.answer(connection, |out| finished.encode(out)).await
            }
            Some(Err(failure)) => self.answer(connection, |out| failure.encode(out)).await,
            None => {
                let failure = too_late(deadline_ms);
                self.answer(connection, |out| failure.encode(out)).await
            }
        }
    }

    /// Finds the shards of a search.
    fn job(&self, search: Search) -> Result<SearchJob, Failure> {
        let find = |id| {
            self.live.shard(id).ok_or_else(|| {
                let message = "a shard of the search is not served here any more";
                Failure::new(FailureKind::StaleShards, message)
            })
        };
        Ok(SearchJob {
            shards: search.shards.iter().map(find).collect::<Result<_, _>>()?,
            search,
            workers: self.options.workers,
            turns: self.turns.clone(),
            cancel: Cancel::default(),
        })
    }
}

fn too_late(deadline_ms: u32) -> Failure {
    metrics::counter!("trawl_backend_searches_refused_total", "reason" => "deadline").increment(1);
    let message = format!("the search was not done within {deadline_ms} ms");
    Failure::new(FailureKind::Deadline, message)
}

/// Runs a search on a thread of its own, when it is its turn.
async fn run(job: Arc<SearchJob>, queue: ChunkSender) -> Result<Finished, Failure> {
    let turns = job.turns.clone();
    let mut turn = turns.light().await;
    loop {
        let (job, queue) = (job.clone(), queue.clone());
        match tokio::task::spawn_blocking(move || job.run(turn, queue)).await {
            Ok(Ok(finished)) => return Ok(finished),
            Ok(Err(Incomplete::Failed(failure))) => return Err(failure),
            Ok(Err(Incomplete::Waits)) => turn = turns.heavy().await,
            Ok(Err(Incomplete::Stopped)) => return Err(unavailable("the search was cancelled")),
            Err(error) => {
                tracing::error!(%error, "a search failed");
                return Err(unavailable("the backend failed: its log says how"));
            }
        }
    }
}

fn unavailable(message: &str) -> Failure {
    Failure::new(FailureKind::Unavailable, message)
}

/// Moves a search's frames to its connection.
struct Stream<'a, S> {
    connection: &'a mut Connection<S>,
    chunks: mpsc::Receiver<Chunk>,
    /// How far the search is behind what has been sent.
    sent: Progress,
    deadline: Deadline,
    cancel: &'a Cancel,
}

impl<S> Stream<'_, S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    /// What a search that runs ends with, once all its frames have been sent; `None`: its time was
    /// over before.
    async fn run<T>(
        mut self,
        running: impl Future<Output = T>,
    ) -> Result<Option<T>, connection::Error> {
        let mut running = pin!(running);
        let mut over = pin!(self.deadline.is_over());
        let mut result = None;
        let mut progress = time::interval(PROGRESS_EVERY);
        progress.set_missed_tick_behavior(MissedTickBehavior::Delay);
        progress.reset();
        loop {
            tokio::select! {
                biased;
                end = &mut running, if result.is_none() => result = Some(end),
                () = &mut over => {
                    self.cancel.cancel();
                    return Ok(None);
                }
                chunk = self.chunks.recv() => match chunk {
                    Some(chunk) => {
                        if !self.send(chunk, over.as_mut()).await? {
                            return Ok(None);
                        }
                        progress.reset();
                    }
                    None => break,
                },
                gone = self.connection.unwanted() => return gone.map(|()| None),
                _ = progress.tick() => {
                    let sent = self.sent;
                    self.connection.send(|out| sent.encode(out)).await?;
                }
            }
        }
        // The queue is closed by the search's end.
        Ok(Some(match result {
            Some(result) => result,
            None => running.await,
        }))
    }

    /// Sends a chunk, all of it whatever happens: frames are whole. `false`: the time is over, and
    /// the search has been stopped.
    async fn send(
        &mut self,
        chunk: Chunk,
        over: impl Future<Output = ()>,
    ) -> Result<bool, connection::Error> {
        let mut sending = pin!(self.connection.send_while_wanted(&chunk.frames));
        let in_time = tokio::select! {
            biased;
            sent = &mut sending => sent.map(|()| true)?,
            () = over => {
                self.cancel.cancel();
                self.chunks.close();
                sending.await?;
                false
            }
        };
        self.sent = chunk.after;
        count_sent(&chunk);
        Ok(in_time)
    }
}

fn count_sent(chunk: &Chunk) {
    metrics::counter!("trawl_backend_sent_bytes_total").increment(chunk.frames.len() as u64);
}
