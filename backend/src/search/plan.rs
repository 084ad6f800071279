//! What a search will cost, and where it will look: the candidates of all its shards.
//!
//! They are counted before any is verified, so that a search that costs much can be refused, and so
//! that it is known from the start how far it is. What was counted is kept while there is little of
//! it, and evaluated once more, shard by shard, where there is much.

use super::work::ShardCandidates;
use super::{Request, Stopped};
use crate::compiled_query::Strategy;
use crate::rank;
use index::plan::{DocumentQuery, TrigramQuery};
use index::shard::{PackageId, Shard, ShardError};
use schema::message::{Estimate, Progress, ShardEnd};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Candidate blocks from which on a search is heavy: some 30 MB to verify, ten milliseconds or more.
pub const HEAVY_BLOCKS: u64 = 8192;

/// Candidate blocks whose numbers are held from counting to searching: 4 MiB of them.
const HELD_BLOCKS_MAX: u64 = 1 << 20;

/// Fewer shards are counted by the calling thread alone: starting others takes longer.
const PARALLEL_SHARDS_MIN: usize = 4;

/// The candidates of a search.
pub struct Plan {
    pub(super) parts: Vec<ShardPlan>,
    /// Of each shard, the highest static rank in those behind it.
    pub(super) later_static_ranks: Vec<f32>,
    pub(super) progress: Progress,
}

/// Those of a shard.
pub(super) enum ShardPlan {
    Held(ShardCandidates),
    /// Too many to be held: they are evaluated again. So many are blocks.
    Counted(u64),
    Failed(ShardError),
}

/// Why there is no plan.
#[derive(Debug, PartialEq, Eq)]
pub enum PlanError {
    /// Nobody wants it any more.
    Stopped,
    /// There are more candidate blocks than it may have: at least so many.
    TooMany(u64),
}

impl Plan {
    /// How far a search is before it has begun.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Candidate blocks of all shards.
    pub fn blocks(&self) -> u64 {
        self.progress.blocks_total
    }
}

impl From<Stopped> for PlanError {
    fn from(Stopped: Stopped) -> Self {
        PlanError::Stopped
    }
}

impl Request<'_> {
    /// Counts the candidates of all shards, or of so many that there are more than `blocks_max`.
    pub fn plan(&self, blocks_max: u64) -> Result<Plan, PlanError> {
        let count = CandidateCounter {
            request: self,
            blocks_max,
            next: AtomicUsize::new(0),
            blocks: AtomicU64::new(0),
        };
        let parts = count.parts()?;
        let blocks = count.blocks.into_inner();
        if blocks > blocks_max {
            return Err(PlanError::TooMany(blocks));
        }
        let (later_static_ranks, static_rank) = static_ranks(self.shards);
        let progress = Progress {
            blocks_total: blocks,
            bound: rank::bound(static_rank, self.compiled.names),
            ..Progress::default()
        };
        Ok(Plan {
            parts,
            later_static_ranks,
            progress,
        })
    }

    /// The candidates of a shard; `None`: it was stopped.
    fn candidates(&self, shard: &Shard) -> Result<Option<ShardCandidates>, ShardError> {
        // Of a shard that is damaged already nothing is believed, though these pages may be whole.
        shard.intact()?;
        let stop = || self.cancel.is_cancelled();
        let filters = &self.compiled.filters;
        match &self.compiled.strategy {
            Strategy::Lines { query, .. } => {
                let found = shard.filtered_candidates(query, filters, &stop)?;
                Ok(found.map(ShardCandidates::Blocks))
            }
            Strategy::Documents(matcher) => {
                let (query, looks) = (&matcher.query, matcher.looks());
                let found = shard.document_candidates(query, &looks, filters, &stop)?;
                Ok(found.map(ShardCandidates::Documents))
            }
        }
    }

    /// What a search by this plan would look at: of each shard, and of each pattern alone.
    pub fn estimate(&self, plan: Plan) -> Result<(Vec<ShardEnd>, Vec<Estimate>), Stopped> {
        let parts = (0..).zip(self.shards.iter().zip(plan.parts));
        let ends = parts.map(|(index, (shard, part))| {
            let end = ShardEnd {
                shard: index,
                blocks: shard.live_counts().blocks.into(),
                ..ShardEnd::default()
            };
            match part {
                ShardPlan::Held(found) => ShardEnd {
                    candidates: found.blocks(),
                    ..end
                },
                ShardPlan::Counted(candidates) => ShardEnd { candidates, ..end },
                ShardPlan::Failed(error) => ShardEnd {
                    failure: error.to_string(),
                    ..end
                },
            }
        });
        let plans = self.compiled.plans.iter();
        let estimates = plans.map(|plan| self.estimate_of(plan));
        Ok((ends.collect(), estimates.collect::<Result<_, _>>()?))
    }

    /// What a pattern alone would cost. A shard that cannot be read is told of where it is searched.
    fn estimate_of(&self, plan: &DocumentQuery) -> Result<Estimate, Stopped> {
        let stop = || self.cancel.is_cancelled();
        let mut candidates = 0;
        for shard in self.shards {
            let filters = &self.compiled.filters;
            let found = match plan {
                DocumentQuery::Block(query) => shard
                    .filtered_candidates(query, filters, &stop)
                    .map(|found| found.map(|found| ShardCandidates::Blocks(found).blocks())),
                over_lines => shard
                    .document_candidates(over_lines, &[&TrigramQuery::All], filters, &stop)
                    .map(|found| found.map(|found| found.block_count)),
            };
            match found {
                Ok(None) => return Err(Stopped),
                Ok(Some(blocks)) => candidates += blocks,
                Err(_) => {}
            }
        }
        Ok(Estimate {
            plan: match plan {
                DocumentQuery::Block(query) => query.to_string(),
                over_lines => over_lines.to_string(),
            },
            candidates,
        })
    }

    /// What a part of a plan stands for.
    pub(super) fn take(
        &self,
        part: ShardPlan,
        shard: &Shard,
    ) -> Result<Result<ShardCandidates, ShardError>, Stopped> {
        let candidates = match part {
            ShardPlan::Held(candidates) => Ok(Some(candidates)),
            ShardPlan::Counted(_) => self.candidates(shard),
            ShardPlan::Failed(error) => Err(error),
        };
        candidates.transpose().ok_or(Stopped)
    }
}

/// The candidates of shards being counted, by several threads when there are several shards.
struct CandidateCounter<'a> {
    request: &'a Request<'a>,
    blocks_max: u64,
    /// The next shard that nobody has taken.
    next: AtomicUsize,
    /// Candidate blocks so far.
    blocks: AtomicU64,
}

impl CandidateCounter<'_> {
    /// The parts of all shards, in order; fewer when there are too many candidates.
    fn parts(&self) -> Result<Vec<ShardPlan>, Stopped> {
        let workers = self.request.workers.min(self.request.shards.len());
        if workers < 2 || self.request.shards.len() < PARALLEL_SHARDS_MIN {
            return Ok(self.work()?.into_iter().map(|(_, part)| part).collect());
        }
        let mut parts = thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(|| self.work())).collect();
            let mut parts = Vec::new();
            for thread in threads {
                let done = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                parts.extend(done?);
            }
            Ok::<_, Stopped>(parts)
        })?;
        parts.sort_unstable_by_key(|(index, _)| *index);
        Ok(parts.into_iter().map(|(_, part)| part).collect())
    }

    fn work(&self) -> Result<Vec<(usize, ShardPlan)>, Stopped> {
        let mut parts = Vec::new();
        while self.blocks.load(Relaxed) <= self.blocks_max {
            let index = self.next.fetch_add(1, Relaxed);
            let Some(shard) = self.request.shards.get(index) else {
                break;
            };
            parts.push((index, self.part(shard)?));
        }
        Ok(parts)
    }

    fn part(&self, shard: &Shard) -> Result<ShardPlan, Stopped> {
        Ok(match self.request.candidates(shard).transpose() {
            None => return Err(Stopped),
            Some(Err(error)) => ShardPlan::Failed(error),
            Some(Ok(candidates)) => {
                let (own, blocks) = (candidates.count(), candidates.blocks());
                match self.blocks.fetch_add(own, Relaxed) + own > HELD_BLOCKS_MAX {
                    true => ShardPlan::Counted(blocks),
                    false => ShardPlan::Held(candidates),
                }
            }
        })
    }
}

/// Of each shard, the highest static rank in those behind it; and that in all. When one does not
/// tell, nothing is known.
fn static_ranks(shards: &[Arc<Shard>]) -> (Vec<f32>, f32) {
    let mut later = vec![0.0; shards.len()];
    let mut highest = 0.0_f32;
    for (later, shard) in later.iter_mut().zip(shards).rev() {
        *later = highest;
        let rank = shard.static_rank_from(PackageId(0));
        let true_rank = rank.and_then(|rank| shard.intact().map(|()| rank));
        highest = highest.max(true_rank.unwrap_or(f32::INFINITY));
    }
    (later, highest)
}
