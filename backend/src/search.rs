//! Searches shards: candidates in, frames of batches out, in the order of shards and documents.
//!
//! A [`Request`] is planned first ([`Plan`]): that is what it will cost. Then each shard's candidates
//! are cut into `units` of some blocks, which `workers` verify side by side (`unit`); what they find
//! the calling thread takes in the units' order (`emitter`) and, when only so many are wanted, weighs
//! against the `best` so far.
//! **Invariant:** the frames do not depend on the number of workers.

mod document_slices;
mod emit;
mod evaluate;
mod line_locator;
mod plan;
mod pool;
mod spans;
mod top_k;
mod work;
mod worker;

pub use plan::{HEAVY_BLOCKS, Plan, PlanError};
pub use top_k::LIMIT_MAX;

use crate::compiled_query::CompiledQuery;
use emit::{Emitter, Output};
use evaluate::SharedEvaluations;
use index::shard::{Shard, ShardError};
use schema::message::{Progress, ShardEnd, Want};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use top_k::{Threshold, TopMatches};
use work::{ShardCandidates, WorkList};

/// Tells a search to stop.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// The search stops at its next look, which is at least once a matching line, a run of blocks, a
    /// posting list and a package. What it does not look up from is the search of one line.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Takes frames of batches, in order.
pub trait Sink {
    /// Takes the frames of a unit, whole ones or none, and how far the search is behind them: what
    /// has been passed on, these frames included, and what is still to come. An error stops the
    /// search: nobody wants its matches any more.
    fn frames(&mut self, frames: Vec<u8>, after: &Progress) -> Result<(), Stopped>;
}

/// Nobody wants the matches any more.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped;

/// What is searched for, where, and how.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The shards. Frames name them by their index here.
    pub shards: &'a [Arc<Shard>],
    /// What is searched for, and in which documents.
    pub compiled: &'a CompiledQuery,
    /// What of it is passed on: all matching lines; of every document with one the first; none.
    pub want: Want,
    /// How many of the best of those need be passed on; 0, and more than [`LIMIT_MAX`]: all.
    pub limit: u64,
    /// Lines of context before and after a match.
    pub context_lines: u32,
    /// Threads that verify.
    pub workers: usize,
    /// Stops it.
    pub cancel: &'a Cancel,
}

impl Request<'_> {
    /// Searches all shards: what there is to say of each at the end. What was passed on before an
    /// error stays valid; the error is in the shard's `failure`. `Err`: it was stopped.
    pub fn run(&self, plan: Plan, sink: &mut dyn Sink) -> Result<Vec<ShardEnd>, Stopped> {
        let (threshold, resolved) = (Threshold::default(), SharedEvaluations::default());
        let mut course = Output {
            sink,
            progress: plan.progress,
            best: self.best_limit().map(TopMatches::new),
        };
        let parts = self.shards.iter().zip(plan.parts);
        let tasks = (0..).zip(parts.zip(plan.later_static_ranks));
        let ends = tasks.map(|(index, ((shard, part), later_static_rank))| {
            let candidates = self.take(part, shard)?;
            let task = ShardTask {
                resolved: &resolved,
                request: self,
                shard,
                index,
                later_static_rank,
                threshold: &threshold,
            };
            let end = task.search(candidates, &mut course);
            resolved.forget();
            end
        });
        ends.collect()
    }

    /// How many of the best are wanted, when not all are.
    fn best_limit(&self) -> Option<usize> {
        let limited = self.want != Want::Count && (1..=LIMIT_MAX).contains(&self.limit);
        limited.then_some(self.limit as usize)
    }
}

/// One shard of a request.
#[derive(Clone, Copy)]
struct ShardTask<'a> {
    request: &'a Request<'a>,
    shard: &'a Shard,
    index: u32,
    /// The highest static rank in the shards that are searched after this one.
    later_static_rank: f32,
    threshold: &'a Threshold,
    /// What is known of documents that several units have a part of.
    resolved: &'a SharedEvaluations,
}

impl<'a> ShardTask<'a> {
    fn search(
        self,
        candidates: Result<ShardCandidates, ShardError>,
        course: &mut Output<'a>,
    ) -> Result<ShardEnd, Stopped> {
        let mut end = ShardEnd {
            shard: self.index,
            blocks: u64::from(self.shard.live_counts().blocks),
            ..ShardEnd::default()
        };
        let searched = candidates.map_err(Interrupted::Failed).and_then(|found| {
            end.candidates = found.blocks();
            let units = WorkList::new(&found, self.shard)?;
            let mut emitter = Emitter::new(self, course, &mut end);
            pool::search_units(self, &units, &mut emitter)
        });
        match searched {
            Ok(()) => Ok(end),
            Err(Interrupted::Stopped) => Err(Stopped),
            Err(Interrupted::Failed(error)) => {
                end.failure = error.to_string();
                Ok(end)
            }
        }
    }
}

/// Why a search ended early.
enum Interrupted {
    Stopped,
    Failed(ShardError),
}

impl From<ShardError> for Interrupted {
    fn from(error: ShardError) -> Self {
        Interrupted::Failed(error)
    }
}

impl From<Stopped> for Interrupted {
    fn from(Stopped: Stopped) -> Self {
        Interrupted::Stopped
    }
}
