//! One search on its thread: compiled, planned, and run when it is its turn.

use super::admission::{Admission, Permit};
use super::chunks::{Chunk, ChunkSender, ChunkWriter};
use crate::compiled_query::CompiledQuery;
use crate::search::{Cancel, HEAVY_BLOCKS, Plan, PlanError, Request, Stopped};
use index::shard::Shard;
use schema::message::{self, End, Failure, FailureKind, Phases, Search, ShardEnd, Want};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of a plan in END; `.*` spelled out as trigrams helps nobody.
const PLAN_BYTES_MAX: usize = 16 << 10;

/// Lines of context before and after a match, at most.
const CONTEXT_LINES_MAX: u32 = 20;

/// One search.
pub(super) struct SearchJob {
    pub(super) shards: Vec<Arc<Shard>>,
    pub(super) search: Search,
    pub(super) workers: usize,
    pub(super) turns: Arc<Admission>,
    pub(super) cancel: Cancel,
}

/// What END says, and the last frames before it.
pub(super) struct Finished {
    pub(super) rest: Chunk,
    pub(super) end: End,
}

impl Finished {
    /// All that is left to be said of a search: of a small one, all there is.
    pub(super) fn encode(&self, out: &mut Vec<u8>) -> Result<(), message::MessageError> {
        out.extend_from_slice(&self.rest.frames);
        self.rest.after.encode(out)?;
        self.end.encode(out)
    }
}

/// Why a search is not done.
pub(super) enum Incomplete {
    /// Nobody waits for it.
    Stopped,
    /// It is heavy, and others are before it. Nothing of it is kept meanwhile.
    Waits,
    /// It has no answer.
    Failed(Failure),
}

impl From<Stopped> for Incomplete {
    fn from(Stopped: Stopped) -> Self {
        Incomplete::Stopped
    }
}

impl SearchJob {
    /// Searches, in this turn or, if it turns out to be a heavy search, in one that it takes for
    /// this; sends frames of batches and progress.
    pub(super) fn run(&self, turn: Permit, queue: ChunkSender) -> Result<Finished, Incomplete> {
        let started = Instant::now();
        let compiled = CompiledQuery::new(&self.search.expr, self.search.names)
            .map_err(|bad| Incomplete::Failed(bad.into()))?;
        let request = self.request(&compiled);
        let planned = Instant::now();
        let plan = self.plan(&request)?;
        let counted = Instant::now();
        let mut chunks = ChunkWriter::begin(queue, plan.progress())?;
        if self.search.want == Want::Estimate {
            let (shards, estimates) = request.estimate(plan)?;
            let (rest, _) = chunks.finish();
            let phases = [planned - started, counted.elapsed(), Duration::ZERO];
            let end = end(&compiled, phases, shards);
            let end = End { estimates, ..end };
            return Ok(Finished { rest, end });
        }
        let is_heavy = plan.blocks() > HEAVY_BLOCKS;
        let turn = self.turn_for(is_heavy, turn)?;
        let shards = request.run(plan, &mut chunks)?;
        let (rest, waited) = chunks.finish();
        drop(turn);
        let phases = [planned - started, counted - planned, counted.elapsed()];
        record(phases, waited, &shards);
        let end = end(&compiled, phases, shards);
        Ok(Finished { rest, end })
    }

    fn request<'a>(&'a self, compiled: &'a CompiledQuery) -> Request<'a> {
        Request {
            shards: &self.shards,
            compiled,
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
        let blocks_max = match self.search.heavy || self.search.want == Want::Estimate {
            true => u64::MAX,
            false => HEAVY_BLOCKS,
        };
        request
            .plan(blocks_max)
            .map_err(|unplanned| match unplanned {
                PlanError::Stopped => Incomplete::Stopped,
                PlanError::TooMany(cost) => Incomplete::Failed(too_heavy(cost)),
            })
    }

    /// A turn of the class that the search is of.
    fn turn_for(&self, is_heavy: bool, turn: Permit) -> Result<Permit, Incomplete> {
        match is_heavy && !turn.is_heavy() {
            true => self.turns.heavy_now().ok_or(Incomplete::Waits),
            false => Ok(turn),
        }
    }
}

fn end(compiled: &CompiledQuery, phases: [Duration; 3], shards: Vec<ShardEnd>) -> End {
    let [plan_us, candidates_us, verify_us] = phases.map(|phase| phase.as_micros() as u64);
    End {
        shards,
        plan: plan_text(compiled),
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
        "the search would read {cost} blocks or more, and was asked for as one that reads at most \
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

fn plan_text(compiled: &CompiledQuery) -> String {
    let mut text = compiled.plan_text();
    if text.len() > PLAN_BYTES_MAX {
        let end = text.floor_char_boundary(PLAN_BYTES_MAX);
        text.truncate(end);
        text.push_str(" ...");
    }
    text
}

/// Stops a search when nobody waits for it any more.
pub(super) struct CancelOnDrop(pub(super) Arc<SearchJob>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel.cancel();
    }
}
