//! Answers SEARCH: runs the search on its own thread and sends its frames until the end or the
//! deadline.
//!
//! The thread compiles, plans, and searches if its permit allows. Chunks of frames reach the
//! connection through a short queue ([`Transfer`]). A heavy search without a permit ends, keeps
//! nothing, and restarts with one; only a few, on client threads, keep their plans.
//!
//! Clients in the process try [`Backend::answer_here`] first: most searches are faster than
//! threads and a socket.

use super::Backend;
use super::admission::{Permit, until_cancelled};
use super::connection::{Connection, ConnectionError, Duplex};
use super::transfer::{CHUNKS_MAX, Chunk, ChunkWriter, Queue, Transfer, queue};
use super::visible::{self, unavailable};
use crate::matcher::compile_cost::CompileCost;
use crate::matcher::compiled_query::CompiledQuery;
use crate::matcher::compiler::Compiler;
use crate::search::{Cancel, HEAVY_BLOCKS, Plan, PlanError, Request, Stopped, yielding};
use index::shard::Shard;
use schema::message::{
    End, Failure, FailureKind, MessageError, Phases, Progress, Search, ShardEnd, TextOrder,
    VisibleShard, Want,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time;
use trace::TraceSpan;
use tracing::{Instrument, Span};

/// For people; longer plans are cut.
const PLAN_BYTES_MAX: usize = 16 << 10;

const SPAN: &str = "backend search";

/// On either side.
const CONTEXT_LINES_MAX: u32 = 20;

impl Backend {
    pub(super) async fn answer_search<S: Duplex>(
        self: &Arc<Self>,
        connection: &mut Connection<S>,
        search: Search,
    ) -> Result<(), ConnectionError> {
        metrics::counter!("trawl_backend_searches_total").increment(1);
        let log = log_span(&search);
        let trace = TraceSpan::of_frontend(search.trace, SPAN);
        let answer = self.search(connection, search, &trace).instrument(log);
        let answer = answer.await?;
        connection
            .answer(|out| encode_end(&answer, &trace, out))
            .await
    }

    /// Sends all but the end.
    async fn search<S: Duplex>(
        self: &Arc<Self>,
        connection: &mut Connection<S>,
        search: Search,
        trace: &TraceSpan,
    ) -> Result<Result<Finished, Failure>, ConnectionError> {
        let deadline_ms = search.deadline_ms;
        let after = Duration::from_millis(deadline_ms.into());
        let deadline = (deadline_ms > 0).then(|| time::Instant::now() + after);
        let job = match self.job(search, trace.clone()) {
            Ok(job) => Arc::new(job),
            Err(failure) => return Ok(Err(failure)),
        };
        let (queue, chunks) = mpsc::channel(CHUNKS_MAX);
        let transfer = Transfer {
            connection,
            chunks,
            sent: Progress::default(),
            steps: 0,
            deadline,
            cancel: &job.cancel,
            is_queued: &job.is_queued,
        };
        let answer = transfer.run(run(job.clone(), queue)).await?;
        Ok(answer.unwrap_or_else(|| {
            let message = format!("the search did not finish within {deadline_ms} ms");
            Err(refused("deadline", FailureKind::Deadline, message))
        }))
    }

    /// Answers a search on the calling thread, if it can start at once; a heavy one waits for its
    /// permit. Returns false if it needs a connection.
    ///
    /// The thread must belong to a runtime and may block. `send` gets whole frames, without HELLO,
    /// and returns true while more are wanted. `stop` ends the search.
    pub fn answer_here(
        self: &Arc<Self>,
        search: &Search,
        stop: &Arc<AtomicBool>,
        send: &mut dyn FnMut(&[u8]) -> bool,
    ) -> bool {
        if search.want == Want::Estimate || search.uncounted || search.per_document > 0 {
            return false;
        }
        let here = &self.admission.here;
        let place = search.heavy.then(|| here.clone().try_acquire_owned());
        if let Some(Err(_)) = place {
            return false;
        }
        let Some(permit) = self.admission.light.try_permit() else {
            return false;
        };
        let trace = TraceSpan::of_frontend(search.trace, SPAN);
        let answer = self
            .job(search.clone(), trace.clone())
            .map(|job| SearchJob {
                cancel: Cancel::by(stop),
                is_here: true,
                ..job
            });
        let log = log_span(search);
        let answer = match answer.map(|job| log.in_scope(|| job.run_here(permit, send))) {
            Ok(Ok(finished)) => Ok(finished),
            Ok(Err(Incomplete::NeedsHeavyPermit)) => unreachable!("it waits for its permit here"),
            Ok(Err(Incomplete::Failed(failure))) | Err(failure) => Err(failure),
            Ok(Err(Incomplete::Stopped)) => Err(cancelled()),
        };
        metrics::counter!("trawl_backend_searches_total").increment(1);
        let mut frames = Vec::new();
        if let Err(error) = encode_end(&answer, &trace, &mut frames) {
            tracing::error!(%error, "the answer to a search cannot be sent");
            frames.clear();
        }
        send(&frames);
        true
    }

    fn job(self: &Arc<Self>, mut search: Search, trace: TraceSpan) -> Result<SearchJob, Failure> {
        let find = |id| visible::served(&self.live, id, "a shard of the search");
        if !search.resume.is_empty() && search.resume.len() != search.shards.len() {
            let message = "the search does not say how far each of its shards was answered";
            return Err(Failure::new(FailureKind::Protocol, message));
        }
        if search.limit > 0 || search.context_lines > 0 || search.expr.is_of_history() {
            search.text = TextOrder::None;
        }
        search.context_lines = match search.want {
            Want::Matches | Want::Documents => search.context_lines.min(CONTEXT_LINES_MAX),
            Want::Count | Want::Estimate => 0,
        };
        Ok(SearchJob {
            shards: search.shards.iter().map(find).collect::<Result<_, _>>()?,
            search,
            backend: Arc::clone(self),
            cancel: Cancel::default(),
            is_queued: AtomicBool::new(true),
            is_here: false,
            trace,
        })
    }
}

async fn run(job: Arc<SearchJob>, queue: mpsc::Sender<Chunk>) -> Result<Finished, Failure> {
    let backend = Arc::clone(&job.backend);
    let begun = Instant::now();
    let mut permit = backend.admission.light.wait().await;
    job.waited(begun);
    loop {
        let (job, queue, log) = (job.clone(), queue.clone(), Span::current());
        let waiting = job.clone();
        let search = move || log.in_scope(|| job.run(permit, &mut self::queue(queue)));
        match tokio::task::spawn_blocking(search).await {
            Ok(Ok(finished)) => return Ok(finished),
            Ok(Err(Incomplete::Failed(failure))) => return Err(failure),
            Ok(Err(Incomplete::NeedsHeavyPermit)) => {
                waiting.is_queued.store(true, Relaxed);
                let begun = Instant::now();
                permit = backend.admission.heavy.wait().await;
                waiting.waited(begun);
            }
            Ok(Err(Incomplete::Stopped)) => return Err(cancelled()),
            Err(error) => {
                tracing::error!(%error, "a search failed");
                return Err(panicked());
            }
        }
    }
}

struct SearchJob {
    shards: Vec<Arc<Shard>>,
    search: Search,
    backend: Arc<Backend>,
    cancel: Cancel,
    /// Waits for a permit, or compiles.
    is_queued: AtomicBool,
    /// On a client's thread, which waits for a heavy permit with its plan.
    is_here: bool,
    trace: TraceSpan,
}

struct Finished {
    rest: Chunk,
    end: End,
}

/// Encodes the rest; the whole answer of a small search.
fn encode_end(
    answer: &Result<Finished, Failure>,
    trace: &TraceSpan,
    out: &mut Vec<u8>,
) -> Result<(), MessageError> {
    match answer {
        Ok(Finished { rest, end }) => {
            rest.count_sent();
            out.extend_from_slice(&rest.frames);
            rest.after.encode(out)?;
            end.encode(out)
        }
        Err(failure) => {
            trace_failure(trace, failure);
            failure.encode(out)
        }
    }
}

enum Incomplete {
    Stopped,
    /// It restarts with a permit, and keeps nothing.
    NeedsHeavyPermit,
    Failed(Failure),
}

impl From<Stopped> for Incomplete {
    fn from(Stopped: Stopped) -> Self {
        Incomplete::Stopped
    }
}

impl SearchJob {
    /// Searches, and queues batches and progress. A heavy search trades its light permit.
    fn run<'q>(&self, permit: Permit, queue: &mut Queue<'q>) -> Result<Finished, Incomplete> {
        let (mut permit, _memory) = self.admit_compiling(permit)?;
        let started = Instant::now();
        let query = if permit.is_heavy() {
            yielding(|| self.compile())?
        } else {
            self.compile()?
        };
        let query = query.preferring(&self.search.phrase);
        self.is_queued.store(false, Relaxed);
        let shards = self.narrowed_shards().map_err(Incomplete::Failed)?;
        let mut request = Request {
            shards: &shards,
            query: &query,
            search: &self.search,
            workers: self.backend.workers,
            cancel: &self.cancel,
        };
        let planned = Instant::now();
        if (self.search.uncounted || self.search.per_document > 0)
            && let Some(finished) = self.run_best_first(&request, started, queue)?
        {
            return Ok(finished);
        }
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
        let mut held_up = Duration::ZERO;
        if plan.is_heavy() {
            let begun = Instant::now();
            permit = self.heavy_permit(permit)?;
            held_up = begun.elapsed();
        }
        if !plan.is_heavy() {
            // Light searches share processors: starting threads costs as much as some of them.
            request.workers = self.backend.admission.light.share(self.backend.workers);
        }
        let shards = request.run(plan, &mut chunks)?;
        drop(permit);
        let phases = [
            planned - started,
            counted - planned,
            counted.elapsed() - held_up,
        ];
        Ok(self.done(&query, (started, held_up), phases, chunks, shards))
    }

    /// Waits for a heavy permit and memory, for costly patterns.
    fn admit_compiling(
        &self,
        permit: Permit,
    ) -> Result<(Permit, Option<OwnedSemaphorePermit>), Incomplete> {
        let cost = CompileCost::of(&self.search.expr);
        if !cost.is_heavy() {
            return Ok((permit, None));
        }
        if !self.search.heavy {
            let message = "the patterns take longer to compile than the request allows";
            let blocks = cost.blocks(HEAVY_BLOCKS).max(HEAVY_BLOCKS + 1);
            return Err(heavy(blocks, message.to_owned()));
        }
        let permit = self.heavy_permit(permit)?;
        let begun = Instant::now();
        let admission = &self.backend.admission;
        let memory = admission.charge_patterns(cost.memory, &self.cancel);
        self.waited(begun);
        Ok((permit, Some(memory.ok_or(Incomplete::Stopped)?)))
    }

    fn heavy_permit(&self, permit: Permit) -> Result<Permit, Incomplete> {
        if permit.is_heavy() {
            return Ok(permit);
        }
        match self.backend.admission.heavy.try_permit() {
            Some(heavy) => Ok(heavy),
            None if self.is_here => {
                drop(permit);
                let begun = Instant::now();
                let admitted = until_cancelled(self.backend.admission.heavy.wait(), &self.cancel);
                self.waited(begun);
                admitted.ok_or(Incomplete::Stopped)
            }
            None => Err(Incomplete::NeedsHeavyPermit),
        }
    }

    fn compile(&self) -> Result<CompiledQuery, Incomplete> {
        let compiler = Compiler::new(&self.backend.kept, self.cancel.flag());
        let compiled = CompiledQuery::compile(&self.search.expr, self.search.names, &compiler);
        // Compiling fails if stopped.
        compiled.map_err(|bad| {
            if self.cancel.is_cancelled() {
                Incomplete::Stopped
            } else {
                Incomplete::Failed(bad.into())
            }
        })
    }

    fn waited(&self, begun: Instant) {
        self.trace.child_between("queue", begun, Instant::now());
    }

    /// Records phases, the time `held_up` by heavy searches, and the wait for the reader.
    fn done(
        &self,
        query: &CompiledQuery,
        (started, held_up): (Instant, Duration),
        phases: [Duration; 3],
        chunks: ChunkWriter<'_>,
        shards: Vec<ShardEnd>,
    ) -> Finished {
        let (rest, waited) = chunks.finish();
        crate::metrics::record_search(phases, waited, &shards);
        if self.trace.is_recorded() {
            self.trace_done((started, held_up), phases, waited, &shards);
        }
        let end = end(query, phases, shards);
        Finished { rest, end }
    }

    fn trace_done(
        &self,
        (started, held_up): (Instant, Duration),
        phases: [Duration; 3],
        waited: Duration,
        shards: &[ShardEnd],
    ) {
        let mut begun = started;
        for (name, time) in ["plan", "candidates", "verify"].into_iter().zip(phases) {
            if name == "verify" {
                begun += held_up;
            }
            self.trace.child_between(name, begun, begun + time);
            begun += time;
        }
        let sum = |of: fn(&ShardEnd) -> u64| shards.iter().map(of).sum::<u64>();
        let waited_us = waited.as_micros() as u64;
        for (key, value) in [
            ("trawl.shards", shards.len() as u64),
            ("trawl.matches", sum(|shard| shard.matches)),
            ("trawl.documents", sum(|shard| shard.documents)),
            ("trawl.candidates", sum(|shard| shard.candidates)),
            ("trawl.verified_bytes", sum(|shard| shard.verified_bytes)),
            ("trawl.reader_wait_us", waited_us),
        ] {
            self.trace.set(key, value);
        }
    }

    fn run_here(
        &self,
        permit: Permit,
        send: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<Finished, Incomplete> {
        let mut queue = |chunk: Chunk| {
            let is_wanted = send(&chunk.frames);
            chunk.count_sent();
            is_wanted.then_some(()).ok_or(Stopped)
        };
        let run = AssertUnwindSafe(|| self.run(permit, &mut queue));
        catch_unwind(run).unwrap_or_else(|_| {
            tracing::error!("a search failed");
            Err(Incomplete::Failed(panicked()))
        })
    }

    /// `None` if a search of all candidates is as cheap.
    fn run_best_first(
        &self,
        request: &Request<'_>,
        started: Instant,
        queue: &mut Queue<'_>,
    ) -> Result<Option<Finished>, Incomplete> {
        let compiled = started.elapsed();
        let mut chunks = ChunkWriter::new(queue, Progress::default())?;
        let Some(shards) = request.run_best_first(&mut chunks)? else {
            if self.search.per_document == 0 {
                return Ok(None);
            }
            // Neither a retry nor another backend would help.
            let message = "the best documents cannot be found with little work";
            let failure = Failure::new(FailureKind::BadQuery, message);
            return Err(Incomplete::Failed(failure));
        };
        let phases = [compiled, Duration::ZERO, started.elapsed() - compiled];
        let timing = (started, Duration::ZERO);
        Ok(Some(self.done(
            request.query,
            timing,
            phases,
            chunks,
            shards,
        )))
    }

    fn narrowed_shards(&self) -> Result<Vec<Arc<Shard>>, Failure> {
        if let Some(visible) = &self.search.visible {
            return self.views(visible);
        }
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
            let narrowed = self.backend.live.without(shard, &excluded.packages);
            *shard = narrowed.map_err(unavailable)?;
        }
        Ok(shards)
    }

    fn views(&self, visible: &[VisibleShard]) -> Result<Vec<Arc<Shard>>, Failure> {
        let same = visible.iter().map(|each| each.shard);
        if !same.eq(self.search.shards.iter().copied()) || !self.search.excluded.is_empty() {
            let message = "the search does not say what is visible of each of its shards";
            return Err(Failure::new(FailureKind::Protocol, message));
        }
        visible::views(&self.backend.live, visible)
    }

    fn plan(&self, request: &Request<'_>) -> Result<Plan, Incomplete> {
        let may_be_heavy = self.search.heavy || self.search.want == Want::Estimate;
        let plan = request.plan(may_be_heavy);
        plan.map_err(|error| match error {
            PlanError::Stopped => Incomplete::Stopped,
            PlanError::TooMany(cost) => heavy(
                cost,
                format!(
                    "the search would read {cost} or more blocks, but the request does not allow \
                     more than {HEAVY_BLOCKS} (HEAVY_BLOCKS)"
                ),
            ),
            PlanError::SlowLines => heavy(
                HEAVY_BLOCKS + 1,
                "the search would read a long line in which its pattern may take seconds, which the \
                 request does not allow"
                    .to_owned(),
            ),
        })
    }
}

fn log_span(search: &Search) -> Span {
    search.trace.map_or_else(Span::none, |context| {
        // A level that every log filter keeps.
        tracing::error_span!("search", trace = format!("{:032x}", context.trace))
    })
}

/// Omits the message, which may quote the query.
fn trace_failure(trace: &TraceSpan, failure: &Failure) {
    trace.fail(match failure.kind {
        FailureKind::BadQuery => "bad query",
        FailureKind::StaleShards => "stale shards",
        FailureKind::Unavailable => "unavailable",
        FailureKind::Protocol => "protocol",
        FailureKind::Heavy => "heavy",
        FailureKind::Deadline => "deadline",
    });
}

fn heavy(cost: u64, message: String) -> Incomplete {
    let failure = refused("heavy", FailureKind::Heavy, message);
    Incomplete::Failed(Failure { cost, ..failure })
}

fn refused(reason: &'static str, kind: FailureKind, message: String) -> Failure {
    metrics::counter!("trawl_backend_searches_refused_total", "reason" => reason).increment(1);
    Failure::new(kind, message)
}

fn cancelled() -> Failure {
    unavailable("the search was cancelled")
}

fn panicked() -> Failure {
    unavailable("the search failed; see the log of the backend")
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
