//! Answers SEARCH: runs the search on a thread of its own, and moves its frames to the connection until
//! its end or its deadline.
//!
//! The thread compiles the query, plans it, and runs it if its permit allows ([`SearchJob`]). Its
//! frames are collected into chunks ([`ChunkWriter`]), which come through a short queue to the
//! connection ([`Transfer`]). Each chunk has the progress of the search after it.
//!
//! **Invariant:** a PROGRESS is right about the frames before and after it on the connection. It is
//! either written among the frames, or the connection repeats the progress after the last chunk
//! that it sent.

use super::admission::{Admission, Permit};
use super::connection::{Connection, ConnectionError, Duplex};
use crate::compiled_query::CompiledQuery;
use crate::live_shards::LiveShards;
use crate::search::{Cancel, HEAVY_BLOCKS, Plan, PlanError, Request, Sink, Stopped};
use index::shard::Shard;
use schema::message::{
    End, Failure, FailureKind, MessageError, Phases, Progress, Search, ShardEnd, Want,
};
use std::future::Future;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::{self, MissedTickBehavior};

/// A search sends PROGRESS at least this often. The other side gives up after 3 s without a frame.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// Chunks between a search and its connection.
const CHUNKS_MAX: usize = 4;

/// Bytes after which a chunk is sent, to have fewer and larger writes.
const CHUNK_BYTES: usize = 64 << 10;

/// How long frames wait for a chunk to fill, at most.
const CHUNK_WAIT: Duration = Duration::from_millis(5);

/// A search of at most this number of candidate blocks takes a few tenths of a millisecond. Its
/// first frames are sent with the last ones, in one write, because a reader gains nothing from them
/// earlier.
const SMALL_BLOCKS: u64 = 256;

/// Bytes of a plan in END. A longer plan is cut, since nobody would read it.
const PLAN_BYTES_MAX: usize = 16 << 10;

/// Lines of context before and after a match, at most.
const CONTEXT_LINES_MAX: u32 = 20;

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
                count_sent(&finished.rest);
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

/// Returns the failure of a search that gets no answer, and counts it.
fn refused(reason: &'static str, kind: FailureKind, message: String) -> Failure {
    metrics::counter!("trawl_backend_searches_refused_total", "reason" => reason).increment(1);
    Failure::new(kind, message)
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
    deadline: Option<time::Instant>,
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
                () = &mut deadline_passed => return Ok(None),
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

impl<S> Drop for Transfer<'_, S> {
    /// Stops the workers, however the transfer ends.
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn count_sent(chunk: &Chunk) {
    metrics::counter!("trawl_backend_sent_bytes_total").increment(chunk.frames.len() as u64);
}

/// One search.
struct SearchJob {
    shards: Vec<Arc<Shard>>,
    search: Search,
    live: Arc<LiveShards>,
    workers: usize,
    admission: Arc<Admission>,
    cancel: Cancel,
}

/// The result of a search that is done: the last frames, and END.
struct Finished {
    rest: Chunk,
    end: End,
}

impl Finished {
    /// Encodes what is left to send. For a small search this is the whole answer.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), MessageError> {
        out.extend_from_slice(&self.rest.frames);
        self.rest.after.encode(out)?;
        self.end.encode(out)
    }
}

/// Why a search is not done.
enum Incomplete {
    /// It was cancelled.
    Stopped,
    /// It is heavy and has to wait for a permit. It starts again after that, and nothing is kept
    /// until then.
    NeedsHeavyPermit,
    /// It has no answer.
    Failed(Failure),
}

impl From<Stopped> for Incomplete {
    fn from(Stopped: Stopped) -> Self {
        Incomplete::Stopped
    }
}

impl SearchJob {
    /// Searches, and queues frames of batches and progress. A search that turns out to be heavy
    /// exchanges its light permit for a heavy one.
    fn run(&self, mut permit: Permit, queue: mpsc::Sender<Chunk>) -> Result<Finished, Incomplete> {
        let started = Instant::now();
        let query = CompiledQuery::new(&self.search.expr, self.search.names)
            .map_err(|bad| Incomplete::Failed(bad.into()))?;
        let shards = self.narrowed_shards().map_err(Incomplete::Failed)?;
        let request = self.request(&shards, &query);
        let planned = Instant::now();
        let plan = self.plan(&request)?;
        let counted = Instant::now();
        let mut chunks = ChunkWriter::new(queue, plan.progress)?;
        if self.search.want == Want::Estimate {
            let (shards, estimates) = request.estimate(plan)?;
            let (rest, _) = chunks.finish();
            let phases = [planned - started, counted.elapsed(), Duration::ZERO];
            let end = End {
                estimates,
                ..end(&query, phases, shards)
            };
            return Ok(Finished { rest, end });
        }
        if plan.progress.blocks_total > HEAVY_BLOCKS && !permit.is_heavy() {
            let heavy = self.admission.heavy.try_permit();
            permit = heavy.ok_or(Incomplete::NeedsHeavyPermit)?;
        }
        let shards = request.run(plan, &mut chunks)?;
        let (rest, waited) = chunks.finish();
        drop(permit);
        let phases = [planned - started, counted - planned, counted.elapsed()];
        crate::metrics::record_search(phases, waited, &shards);
        let end = end(&query, phases, shards);
        Ok(Finished { rest, end })
    }

    /// Returns the shards without the packages that the search excludes.
    fn narrowed_shards(&self) -> Result<Vec<Arc<Shard>>, Failure> {
        let mut shards = self.shards.clone();
        for excluded in &self.search.excluded {
            let named = shards.get_mut(excluded.shard as usize);
            let has = |shard: &&mut Arc<Shard>| {
                let mut packages = excluded.packages.iter();
                packages.all(|&package| package < shard.package_count())
            };
            let shard = named.filter(has).ok_or_else(|| {
                let message = "the search excludes a package that its shards do not have";
                Failure::new(FailureKind::Protocol, message)
            })?;
            let narrowed = self.live.without(shard, &excluded.packages);
            *shard = narrowed.map_err(|error| unavailable(&error.to_string()))?;
        }
        Ok(shards)
    }

    fn request<'a>(&'a self, shards: &'a [Arc<Shard>], query: &'a CompiledQuery) -> Request<'a> {
        Request {
            shards,
            query,
            want: self.search.want,
            limit: self.search.limit,
            context_lines: match self.search.want {
                Want::Matches | Want::Documents => self.search.context_lines.min(CONTEXT_LINES_MAX),
                Want::Count | Want::Estimate => 0,
            },
            workers: self.workers,
            cancel: &self.cancel,
        }
    }

    fn plan(&self, request: &Request<'_>) -> Result<Plan, Incomplete> {
        let may_be_heavy = self.search.heavy || self.search.want == Want::Estimate;
        let blocks_max = if may_be_heavy { u64::MAX } else { HEAVY_BLOCKS };
        request.plan(blocks_max).map_err(|error| match error {
            PlanError::Stopped => Incomplete::Stopped,
            PlanError::TooMany(cost) => {
                let message = format!(
                    "the search would read {cost} or more blocks, but the request does not allow \
                     more than {HEAVY_BLOCKS} (HEAVY_BLOCKS)"
                );
                let failure = refused("heavy", FailureKind::Heavy, message);
                Incomplete::Failed(Failure { cost, ..failure })
            }
        })
    }
}

fn end(query: &CompiledQuery, phases: [Duration; 3], shards: Vec<ShardEnd>) -> End {
    let mut plan = query.plan_text();
    if plan.len() > PLAN_BYTES_MAX {
        plan.truncate(plan.floor_char_boundary(PLAN_BYTES_MAX));
        plan.push_str(" ...");
    }
    let [plan_us, candidates_us, verify_us] = phases.map(|phase| phase.as_micros() as u64);
    End {
        shards,
        plan,
        phases: Phases {
            plan_us,
            candidates_us,
            verify_us,
        },
        estimates: Vec::new(),
    }
}

/// Frames, and the progress of the search after them.
struct Chunk {
    frames: Vec<u8>,
    after: Progress,
}

/// Collects frames into chunks and queues them. Writes PROGRESS among the frames.
struct ChunkWriter {
    queue: mpsc::Sender<Chunk>,
    pending: Vec<u8>,
    after: Progress,
    /// When a chunk was last queued.
    sent: Instant,
    /// Whether to send the next frames at once, because they are the first.
    is_first_urgent: bool,
    /// When PROGRESS was last written.
    progress_written: Instant,
    /// How long the connection made the search wait.
    waited: Duration,
}

impl ChunkWriter {
    /// Starts with the progress of a planned search. It is sent with the first frames, or at once
    /// for a heavy search, whose first frames may take long.
    fn new(queue: mpsc::Sender<Chunk>, progress: Progress) -> Result<Self, Stopped> {
        let mut chunks = ChunkWriter {
            queue,
            pending: Vec::new(),
            after: progress,
            sent: Instant::now(),
            is_first_urgent: progress.blocks_total > SMALL_BLOCKS,
            progress_written: Instant::now(),
            waited: Duration::ZERO,
        };
        chunks.write_progress();
        if progress.blocks_total > HEAVY_BLOCKS {
            chunks.flush()?;
        }
        Ok(chunks)
    }

    /// Returns what is left to send, and how long the connection made the search wait.
    fn finish(self) -> (Chunk, Duration) {
        let rest = Chunk {
            frames: self.pending,
            after: self.after,
        };
        (rest, self.waited)
    }

    fn write_progress(&mut self) {
        self.progress_written = Instant::now();
        let encoded = self.after.encode(&mut self.pending);
        encoded.expect("a PROGRESS is smaller than a frame");
    }

    fn flush(&mut self) -> Result<(), Stopped> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let chunk = Chunk {
            frames: mem::take(&mut self.pending),
            after: self.after,
        };
        let started = Instant::now();
        let queued = self.queue.blocking_send(chunk);
        self.sent = Instant::now();
        self.waited += self.sent - started;
        queued.map_err(|_| Stopped)
    }
}

impl Sink for ChunkWriter {
    fn frames(&mut self, frames: Vec<u8>, after: &Progress) -> Result<(), Stopped> {
        let is_urgent = self.is_first_urgent && !frames.is_empty();
        self.is_first_urgent &= !is_urgent;
        if self.pending.is_empty() {
            self.pending = frames;
        } else {
            self.pending.extend_from_slice(&frames);
        }
        self.after = *after;
        if self.progress_written.elapsed() >= PROGRESS_EVERY {
            self.write_progress();
        }
        let is_due = is_urgent || self.sent.elapsed() > CHUNK_WAIT;
        if is_due || self.pending.len() >= CHUNK_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }
}
