//! Answers SEARCH: runs the search on a thread of its own, and moves its frames to the connection until
//! its end or its deadline.
//!
//! The thread compiles the query, plans it, and runs it if its permit allows ([`SearchJob`]). Its
//! frames are collected into chunks ([`super::chunk`]), which come through a short queue to the
//! connection ([`Transfer`]).

use super::admission::Admission;
use super::chunk::{CHUNKS_MAX, Chunk};
use super::connection::{Connection, ConnectionError, Duplex};
use super::search_job::{Finished, Incomplete, SearchJob, refused, unavailable};
use super::transfer::Transfer;
use crate::live_shards::LiveShards;
use crate::search::Cancel;
use schema::message::{Failure, FailureKind, Progress, Search};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time;

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
        let deadline = (deadline_ms > 0).then(|| time::Instant::now() + after);
        let job = match self.job(search) {
            Ok(job) => Arc::new(job),
            Err(failure) => return connection.answer(|out| failure.encode(out)).await,
        };
        let (queue, chunks) = mpsc::channel(CHUNKS_MAX);
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
        let failure = match transfer.run(run(job.clone(), queue)).await? {
            Some(Ok(finished)) => {
                finished.rest.count_sent();
                return connection.answer(|out| finished.encode(out)).await;
            }
            Some(Err(failure)) => failure,
            None => {
                let message = format!("the search did not finish within {deadline_ms} ms");
                refused("deadline", FailureKind::Deadline, message)
            }
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
            live: Arc::clone(&self.live),
            workers: self.workers,
            admission: self.admission.clone(),
            cancel: Cancel::default(),
        })
    }
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
