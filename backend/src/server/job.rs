//! One search on its thread: compiles it, plans it, and runs it if its permit allows.

use super::admission::{Admission, Permit};
use super::chunks::{Chunk, ChunkWriter};
use crate::compiled_query::CompiledQuery;
use crate::search::{Cancel, HEAVY_BLOCKS, Plan, PlanError, Request, Stopped};
use index::shard::Shard;
use schema::message::{self, End, Failure, FailureKind, Phases, Search, ShardEnd, Want};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Bytes of a plan in END. A longer plan is cut, since nobody would read it.
const PLAN_BYTES_MAX: usize = 16 << 10;

/// Lines of context before and after a match, at most.
const CONTEXT_LINES_MAX: u32 = 20;

/// One search.
pub(super) struct SearchJob {
    pub(super) shards: Vec<Arc<Shard>>,
    pub(super) search: Search,
    pub(super) workers: usize,
    pub(super) admission: Arc<Admission>,
    pub(super) cancel: Cancel,
}

/// The result of a search that is done: the last frames, and END.
pub(super) struct Finished {
    pub(super) rest: Chunk,
    end: End,
}

impl Finished {
    /// Encodes what is left to send. For a small search this is the whole answer.
    pub(super) fn encode(&self, out: &mut Vec<u8>) -> Result<(), message::MessageError> {
        out.extend_from_slice(&self.rest.frames);
        self.rest.after.encode(out)?;
        self.end.encode(out)
    }
}

/// Why a search is not done.
pub(super) enum Incomplete {
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
    pub(super) fn run(
        &self,
        permit: Permit,
        queue: mpsc::Sender<Chunk>,
    ) -> Result<Finished, Incomplete> {
        let started = Instant::now();
        let query = CompiledQuery::new(&self.search.expr, self.search.names)
            .map_err(|bad| Incomplete::Failed(bad.into()))?;
        let request = self.request(&query);
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
        let is_heavy = plan.progress.blocks_total > HEAVY_BLOCKS;
        let permit = self.permit_for(is_heavy, permit)?;
        let shards = request.run(plan, &mut chunks)?;
        let (rest, waited) = chunks.finish();
        drop(permit);
        let phases = [planned - started, counted - planned, counted.elapsed()];
        record(phases, waited, &shards);
        let end = end(&query, phases, shards);
        Ok(Finished { rest, end })
    }

    fn request<'a>(&'a self, query: &'a CompiledQuery) -> Request<'a> {
        Request {
            shards: &self.shards,
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
            PlanError::TooMany(cost) => Incomplete::Failed(too_heavy(cost)),
        })
    }

    /// Returns a permit of the class of the search.
    fn permit_for(&self, is_heavy: bool, permit: Permit) -> Result<Permit, Incomplete> {
        if is_heavy && !permit.is_heavy() {
            let heavy = self.admission.heavy.try_permit();
            return heavy.ok_or(Incomplete::NeedsHeavyPermit);
        }
        Ok(permit)
    }
}

fn end(query: &CompiledQuery, phases: [Duration; 3], shards: Vec<ShardEnd>) -> End {
    let [plan_us, candidates_us, verify_us] = phases.map(|phase| phase.as_micros() as u64);
    End {
        shards,
        plan: plan_text(query),
        phases: Phases {
            plan_us,
            candidates_us,
            verify_us,
        },
        estimates: Vec::new(),
    }
}

fn too_heavy(cost: u64) -> Failure {
    metrics::counter!("trawl_backend_searches_refused_total", "reason" => "heavy").increment(1);
    let message = format!(
        "the search would read {cost} or more blocks, but the request does not allow more than \
         {HEAVY_BLOCKS} (HEAVY_BLOCKS)"
    );
    Failure {
        cost,
        ..Failure::new(FailureKind::Heavy, message)
    }
}

fn record([plan, candidates, verify]: [Duration; 3], waited: Duration, shards: &[ShardEnd]) {
    for (phase, time) in [
        ("plan", plan),
        ("candidates", candidates),
        ("verify", verify.saturating_sub(waited)),
        ("stream", waited),
    ] {
        metrics::histogram!("trawl_backend_phase_seconds", "phase" => phase).record(time);
    }
    metrics::histogram!("trawl_backend_search_seconds").record(plan + candidates + verify);
    let sum = |of: fn(&ShardEnd) -> u64| shards.iter().map(of).sum::<u64>();
    metrics::counter!("trawl_backend_verified_bytes_total")
        .increment(sum(|shard| shard.verified_bytes));
    metrics::counter!("trawl_backend_matches_total").increment(sum(|shard| shard.matches));
}

fn plan_text(query: &CompiledQuery) -> String {
    let mut text = query.plan_text();
    if text.len() > PLAN_BYTES_MAX {
        let end = text.floor_char_boundary(PLAN_BYTES_MAX);
        text.truncate(end);
        text.push_str(" ...");
    }
    text
}

/// Cancels a search when it is dropped.
pub(super) struct CancelOnDrop(pub(super) Arc<SearchJob>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel.cancel();
    }
}
