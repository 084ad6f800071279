//! Searches shards: candidate blocks in, frames of batches out, in the order of shards and
//! documents.
//!
//! A [`Request`] is planned first: `plan` counts the candidates of all shards, which is the cost of
//! the search. Then each shard's candidates are cut into units of some blocks (`work`). Workers
//! (`pool`, `worker`) search the units in parallel: line by line (`verify`), or document by
//! document (`evaluate`, `document_search`). The calling thread emits their results in order
//! (`emit`) and drops what cannot be among the top matches when only those are wanted (`top_k`).
//!
//! **Invariant:** the frames do not depend on the number of workers.

mod document_search;
mod emit;
mod evaluate;
mod plan;
mod pool;
mod request;
mod spans;
mod top_k;
mod unit_result;
mod verify;
mod work;
mod worker;

pub use plan::{HEAVY_BLOCKS, Plan, PlanError};
pub use request::{Cancel, LIMIT_MAX, Request, Sink, Stopped};

use emit::{Emitter, Output};
use index::shard::ShardError;
use request::{Interrupted, ShardTask, SharedEvaluations};
use schema::message::ShardEnd;
use top_k::{Threshold, TopMatches};
use work::{ShardCandidates, WorkList};

impl Request<'_> {
    /// Searches all shards, and returns a summary of each. An error in a shard is reported in its
    /// `failure`; frames sent before it stay valid.
    pub fn run(&self, plan: Plan, sink: &mut dyn Sink) -> Result<Vec<ShardEnd>, Stopped> {
        let threshold = Threshold::default();
        let mut output = Output {
            sink,
            progress: plan.progress,
            top: self.top_k().map(TopMatches::new),
        };
        let plans = plan.shards.into_iter().zip(plan.later_static_ranks);
        let shards = (0..).zip(self.shards.iter().zip(plans));
        let ends = shards.map(|(index, (shard, (plan, later_static_rank)))| {
            let candidates = self.planned_candidates(plan, shard)?;
            let task = ShardTask {
                request: self,
                shard,
                index,
                later_static_rank,
                threshold: &threshold,
                evaluations: &SharedEvaluations::default(),
            };
            search_shard(task, candidates, &mut output)
        });
        ends.collect()
    }
}

fn search_shard(
    task: ShardTask<'_>,
    candidates: Result<ShardCandidates, ShardError>,
    output: &mut Output<'_>,
) -> Result<ShardEnd, Stopped> {
    let mut end = ShardEnd {
        shard: task.index,
        blocks: u64::from(task.shard.live_counts().blocks),
        ..ShardEnd::default()
    };
    let searched = candidates
        .map_err(Interrupted::Failed)
        .and_then(|candidates| {
            end.candidates = candidates.blocks();
            let units = WorkList::new(&candidates, task.shard)?;
            let mut emitter = Emitter::new(task, output, &mut end);
            pool::search_units(task, &units, &mut emitter)
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
