//! Plans a request: counts the candidate blocks of all shards before verifying any, and splits them
//! into work units.
//!
//! So expensive searches can be refused, and progress is known from the start. Few candidates are
//! kept; others are computed again, shard by shard, when the search runs.

use super::pool::{self, Workers};
use super::request::{Interrupted, Request, Stopped};
use super::slices::Slices;
use crate::matcher::compiled_query::Strategy;
use index::plan::{DocumentQuery, TrigramQuery};
use index::shard::{Candidates, DocId, DocumentCandidates, PackageId, Shard, ShardError};
use schema::message::{Estimate, Progress, ShardEnd};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Candidate blocks of a light search. More are 30 MB, or ten milliseconds.
pub const HEAVY_BLOCKS: u64 = 8192;

/// Line length that, with a slow pattern, takes most of
/// [`LINE_STEPS_MAX`](crate::matcher::long_line::LINE_STEPS_MAX). A search that may read one is
/// heavy. Long blocks are single lines.
pub(super) const SLOW_LINE_BYTES: u64 = 16 << 10;

/// Held block ids: 4 MiB.
const HELD_BLOCKS_MAX: u64 = 1 << 20;

pub struct Plan {
    pub(super) shards: Vec<ShardPlan>,
    pub(super) later_static_ranks: Vec<f32>,
    /// Progress before the start; `blocks_total` are all candidate blocks.
    pub progress: Progress,
    has_slow_lines: bool,
}

impl Plan {
    pub fn is_heavy(&self) -> bool {
        self.progress.blocks_total > HEAVY_BLOCKS || self.has_slow_lines
    }
}

pub(super) enum ShardPlan {
    Held(ShardCandidates),
    /// Number of blocks, too many to hold.
    Counted(u64),
    Failed(ShardError),
}

#[derive(Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The search was cancelled.
    Stopped,
    /// At least this number of candidate blocks, over the limit.
    TooMany(u64),
    /// A pattern may take a second or more in a long line.
    SlowLines,
}

impl Request<'_> {
    /// Fails once the search is heavy, unless it `may_be_heavy`.
    pub fn plan(&self, may_be_heavy: bool) -> Result<Plan, PlanError> {
        let blocks_max = if may_be_heavy { u64::MAX } else { HEAVY_BLOCKS };
        let has_slow_lines = AtomicBool::new(false);
        let (counted, mut shards) = (AtomicU64::new(0), Vec::new());
        let workers = Workers {
            count: self.workers,
            yielding: false,
        };
        let plans = pool::in_order(
            workers,
            self.shards.len(),
            || (),
            |(), index| {
                let plan = self.plan_shard(&self.shards[index], &counted, blocks_max)?;
                has_slow_lines.fetch_or(self.has_slow_lines(&self.shards[index], &plan), Relaxed);
                Ok(plan)
            },
            |plan| {
                shards.push(plan);
                Ok(())
            },
        );
        let blocks = counted.into_inner();
        if blocks > blocks_max {
            return Err(PlanError::TooMany(blocks));
        }
        plans.map_err(|_| PlanError::Stopped)?;
        let has_slow_lines = has_slow_lines.into_inner();
        if has_slow_lines && !may_be_heavy {
            return Err(PlanError::SlowLines);
        }
        let (later_static_ranks, static_rank) = static_ranks(self.shards);
        Ok(Plan {
            shards,
            later_static_ranks,
            progress: Progress {
                blocks_total: blocks,
                bound: self.query.bound(static_rank),
                ..Progress::default()
            },
            has_slow_lines,
        })
    }

    /// True if a pattern may take a second or more in one line. Too many blocks are heavy anyway,
    /// and the search reports read errors.
    fn has_slow_lines(&self, shard: &Shard, plan: &ShardPlan) -> bool {
        let ShardPlan::Held(candidates) = plan else {
            return false;
        };
        let blocks = candidates.weight();
        self.query.is_slow(blocks)
            && blocks <= HEAVY_BLOCKS
            && candidates
                .has_block_longer_than(SLOW_LINE_BYTES, shard)
                .unwrap_or(false)
    }

    /// Work of a plan: per shard, and per pattern alone.
    pub fn estimate(&self, plan: Plan) -> Result<(Vec<ShardEnd>, Vec<Estimate>), Stopped> {
        let shards = (0..).zip(self.shards.iter().zip(plan.shards));
        let ends = shards.map(|(index, (shard, plan))| {
            let mut end = ShardEnd {
                shard: index,
                blocks: shard.live_counts().blocks.into(),
                ..ShardEnd::default()
            };
            match plan {
                ShardPlan::Held(candidates) => end.candidates = candidates.blocks(),
                ShardPlan::Counted(blocks) => end.candidates = blocks,
                ShardPlan::Failed(error) => end.failure = error.to_string(),
            }
            end
        });
        let plans = self.query.pattern_plans.iter();
        let estimates = plans.map(|plan| self.estimate_pattern(plan));
        Ok((ends.collect(), estimates.collect::<Result<_, _>>()?))
    }

    fn estimate_pattern(&self, plan: &DocumentQuery) -> Result<Estimate, Stopped> {
        let stop = || self.cancel.is_cancelled();
        let filters = &self.query.filters;
        let mut candidates = 0;
        for shard in self.shards {
            let found = match plan {
                DocumentQuery::Block(query) => shard
                    .filtered_candidates(query, filters, &stop)
                    .map(|found| found.map(|found| ShardCandidates::Blocks(found).blocks())),
                multiline => shard
                    .document_candidates(multiline, &[&TrigramQuery::All], filters, &stop)
                    .map(|found| found.map(|found| found.block_count)),
            };
            if let Ok(blocks) = found {
                candidates += blocks.ok_or(Stopped)?;
            }
        }
        Ok(Estimate {
            plan: match plan {
                DocumentQuery::Block(query) => query.to_string(),
                multiline => multiline.to_string(),
            },
            candidates,
        })
    }

    pub(super) fn planned_candidates(
        &self,
        plan: ShardPlan,
        shard: &Shard,
    ) -> Result<Result<ShardCandidates, ShardError>, Stopped> {
        match plan {
            ShardPlan::Held(candidates) => Ok(Ok(candidates)),
            ShardPlan::Counted(_) => self.candidates(shard).transpose().ok_or(Stopped),
            ShardPlan::Failed(error) => Ok(Err(error)),
        }
    }

    /// `counted` are the blocks of all shards so far.
    fn plan_shard(
        &self,
        shard: &Shard,
        counted: &AtomicU64,
        blocks_max: u64,
    ) -> Result<ShardPlan, Interrupted> {
        if counted.load(Relaxed) > blocks_max {
            return Err(Interrupted::Stopped);
        }
        let candidates = match self.candidates(shard) {
            Ok(candidates) => candidates.ok_or(Stopped)?,
            Err(error) => return Ok(ShardPlan::Failed(error)),
        };
        let weight = candidates.weight();
        if counted.fetch_add(weight, Relaxed) + weight > HELD_BLOCKS_MAX {
            Ok(ShardPlan::Counted(candidates.blocks()))
        } else {
            Ok(ShardPlan::Held(candidates))
        }
    }

    fn candidates(&self, shard: &Shard) -> Result<Option<ShardCandidates>, ShardError> {
        // A damaged shard is not trusted, even in whole pages.
        shard.intact()?;
        let stop = || self.cancel.is_cancelled();
        let filters = &self.query.filters;
        match &self.query.strategy {
            Strategy::Lines { query, .. } => {
                let found = shard.filtered_candidates(query, filters, &stop)?;
                Ok(found.map(ShardCandidates::Blocks))
            }
            Strategy::Documents(matcher) => {
                let blocks = matcher.block_queries();
                let found = shard.document_candidates(&matcher.query, &blocks, filters, &stop)?;
                Ok(found.map(ShardCandidates::Documents))
            }
        }
    }
}

/// Highest static rank after each shard, and of all. Unreadable shards count as infinite.
fn static_ranks(shards: &[Arc<Shard>]) -> (Vec<f32>, f32) {
    let mut later = vec![0.0; shards.len()];
    let mut highest = 0.0_f32;
    for (later, shard) in later.iter_mut().zip(shards).rev() {
        *later = highest;
        let rank = shard.static_rank_from(PackageId(0));
        let rank = rank.and_then(|rank| shard.intact().map(|()| rank));
        highest = highest.max(rank.unwrap_or(f32::INFINITY));
    }
    (later, highest)
}

pub(super) enum ShardCandidates {
    Blocks(Candidates),
    Documents(DocumentCandidates),
}

impl ShardCandidates {
    pub(super) fn slices(&self, shard: &Shard) -> Result<Slices<'_>, ShardError> {
        match self {
            ShardCandidates::Blocks(blocks) => Slices::of_texts(blocks, shard),
            ShardCandidates::Documents(documents) => Slices::of_documents(documents, shard),
        }
    }

    pub(super) fn blocks(&self) -> u64 {
        match self {
            ShardCandidates::Blocks(_) => self.weight(),
            ShardCandidates::Documents(documents) => documents.block_count,
        }
    }

    pub(super) fn read_tables_ahead(&self, shard: &Shard) {
        match self {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => {
                shard.read_tables_ahead(Some(blocks));
            }
            ShardCandidates::Blocks(Candidates::Ranges(_)) => shard.read_tables_ahead(None),
            ShardCandidates::Documents(it) => shard.read_tables_ahead(it.blocks.as_deref()),
        }
    }

    pub(super) fn has_block_longer_than(
        &self,
        bytes: u64,
        shard: &Shard,
    ) -> Result<bool, ShardError> {
        let ranges: Box<dyn Iterator<Item = Result<Range<u32>, ShardError>>> = match self {
            ShardCandidates::Blocks(Candidates::Blocks(blocks))
            | ShardCandidates::Documents(DocumentCandidates {
                blocks: Some(blocks),
                ..
            }) => Box::new(blocks.iter().map(|&block| Ok(block..block + 1))),
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => {
                Box::new(ranges.iter().cloned().map(Ok))
            }
            ShardCandidates::Documents(it) => {
                let documents = it.documents.iter().cloned().flatten();
                Box::new(documents.map(|id| Ok(shard.document(DocId(id))?.blocks)))
            }
        };
        for range in ranges {
            for block in range? {
                let text = shard.text_range(block..block + 1)?;
                if text.end - text.start > bytes {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    pub(super) fn weight(&self) -> u64 {
        match self {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => blocks.len() as u64,
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => total_len(ranges),
            ShardCandidates::Documents(it) => total_len(&it.documents) + it.block_count,
        }
    }
}

fn total_len(ranges: &[Range<u32>]) -> u64 {
    ranges.iter().map(|range| range.len() as u64).sum()
}
