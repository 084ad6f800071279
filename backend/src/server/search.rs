//! Answers SEARCH: moves the frames of a search to its connection until its end or its deadline.

use super::admission::Admission;
use super::chunks::{self, Chunk, PROGRESS_EVERY};
use super::connection::{Connection, ConnectionError, Duplex};
use super::job::{CancelOnDrop, Finished, Incomplete, SearchJob};
use crate::live_shards::LiveShards;
use crate::search::Cancel;
use schema::message::{Failure, FailureKind, Progress, Search};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{self, Instant, MissedTickBehavior};

/// Runs the searches of all connections.
pub(super) struct SearchService {
    pub(super) live: Arc<LiveShards>,
    /// Threads per search.
    pub(super) workers: usize,
    pub(super) admission: Arc<Admission>,
}

impl SearchService {
    pub(super) async fn answer<S: Duplex>(
        &self,
        connection: &mut Connection<S>,
        search: Search,
    ) -> Result<(), ConnectionError> {
        metrics::counter!("trawl_backend_searches_total").increment(1);
        let deadline_ms = search.deadline_ms;
        let after = Duration::from_millis(deadline_ms.into());
        let deadline = (deadline_ms > 0).then(|| Instant::now() + after);
        let job = match self.job(search) {
            Ok(job) => Arc::new(job),
            Err(failure) => return connection.answer(|out| failure.encode(out)).await,
        };
        // The workers stop, however this ends.
        let _cancel_on_drop = CancelOnDrop(job.clone());
        let (queue, chunks) = chunks::queue();
        let transfer = Transfer {
            connection: &mut *connection,
            chunks,
            sent: Progress {
                bound: f32::INFINITY,
                ..Progress::default()
            },
            deadline,
            cancel: &job.cancel,
        };
        let ended = transfer.run(run(job.clone(), queue)).await?;
        let failure = match ended {
            Some(Ok(finished)) => {
                count_sent(&finished.rest);
                return connection.answer(|out| finished.encode(out)).await;
            }
            Some(Err(failure)) => failure,
            None => deadline_exceeded(deadline_ms),
        };
        connection.answer(|out| failure.encode(out)).await
    }

    fn job(&self, search: Search) -> Result<SearchJob, Failure> {
        let find = |id| {
            self.live.shard(id).ok_or_else(|| {
                let message = "this backend no longer serves a shard of the search";
                Failure::new(FailureKind::StaleShards, message)
            })
        };
        Ok(SearchJob {
            shards: search.shards.iter().map(find).collect::<Result<_, _>>()?,
            search,
            workers: self.workers,
            admission: self.admission.clone(),
            cancel: Cancel::default(),
        })
    }
}

fn deadline_exceeded(deadline_ms: u32) -> Failure {
    metrics::counter!("trawl_backend_searches_refused_total", "reason" => "deadline").increment(1);
    let message = format!("the search did not finish within {deadline_ms} ms");
    Failure::new(FailureKind::Deadline, message)
}

/// Runs a search on a thread of its own, once it is admitted.
async fn run(job: Arc<SearchJob>, queue: mpsc::Sender<Chunk>) -> Result<Finished, Failure> {
    let admission = job.admission.clone();
    let mut permit = admission.light.wait().await;
    loop {
        let (job, queue) = (job.clone(), queue.clone());
        match tokio::task::spawn_blocking(move || job.run(permit, queue)).await {
            Ok(Ok(finished)) => return Ok(finished),
            Ok(Err(Incomplete::Failed(failure))) => return Err(failure),
            Ok(Err(Incomplete::NeedsHeavyPermit)) => permit = admission.heavy.wait().await,
            Ok(Err(Incomplete::Stopped)) => return Err(unavailable("the search was cancelled")),
            Err(error) => {
                tracing::error!(%error, "a search failed");
                return Err(unavailable("the search failed; see the log of the backend"));
            }
        }
    }
}

fn unavailable(message: &str) -> Failure {
    Failure::new(FailureKind::Unavailable, message)
}

/// Moves the frames of a search to its connection.
struct Transfer<'a, S> {
    connection: &'a mut Connection<S>,
    chunks: mpsc::Receiver<Chunk>,
    /// The progress of the search after what has been sent.
    sent: Progress,
    deadline: Option<Instant>,
    cancel: &'a Cancel,
}

impl<S: Duplex> Transfer<'_, S> {
    /// Returns the result of `running` once all frames have been sent; `None` if the deadline has
    /// passed before.
    async fn run<T>(
        mut self,
        running: impl Future<Output = T>,
    ) -> Result<Option<T>, ConnectionError> {
        let deadline = self.deadline;
        let mut running = pin!(running);
        let mut deadline_passed = pin!(async {
            match deadline {
                Some(at) => time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        });
        let mut result = None;
        let mut progress = time::interval(PROGRESS_EVERY);
        progress.set_missed_tick_behavior(MissedTickBehavior::Delay);
        progress.reset();
        loop {
            tokio::select! {
                biased;
                end = &mut running, if result.is_none() => result = Some(end),
                () = &mut deadline_passed => {
                    self.cancel.cancel();
                    return Ok(None);
                }
                chunk = self.chunks.recv() => match chunk {
                    Some(chunk) => {
                        if !self.send(chunk, deadline_passed.as_mut()).await? {
                            return Ok(None);
                        }
                        progress.reset();
                    }
                    None => break,
                },
                error = self.connection.reader.interrupted() => return Err(error),
                _ = progress.tick() => {
                    let sent = self.sent;
                    self.connection.send(|out| sent.encode(out)).await?;
                }
            }
        }
        // The end of the search has closed the queue.
        Ok(Some(match result {
            Some(result) => result,
            None => running.await,
        }))
    }

    /// Sends a whole chunk, since frames must not be cut. Returns `false` if the deadline has
    /// passed meanwhile; the search is stopped then.
    async fn send(
        &mut self,
        chunk: Chunk,
        deadline_passed: impl Future<Output = ()>,
    ) -> Result<bool, ConnectionError> {
        let mut sending = pin!(self.connection.send_while_wanted(&chunk.frames));
        let in_time = tokio::select! {
            biased;
            sent = &mut sending => sent.map(|()| true)?,
            () = deadline_passed => {
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
