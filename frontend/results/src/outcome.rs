//! Outcome of an execution: missing shards, skipped documents, search plan and timings.

use query::BadQuery;
use schema::message::{Estimate, Phases, ShardEnd, Skip};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Skipped documents listed; all are counted.
const SKIPPED_LISTED_MAX: usize = 1000;

/// Overlapping packages listed; all are counted.
const OVERLAPS_LISTED_MAX: usize = 100;

pub type ShardId = [u8; 32];

/// Stands for a backend if the spool could not keep matches.
pub const SPOOL: &str = "spool";

/// Shards not searched to their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Backend; `spool` if matches could not be kept; `authorization` if the scope was not decided.
    pub backend: String,
    pub reason: String,
    /// Shards; empty if the backend never announced any.
    pub shards: Vec<ShardId>,
    pub since: SystemTime,
}

/// Packages in several shards. Only the newest build of each is searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlaps {
    /// All, by name.
    pub packages: Vec<OverlappingPackage>,
    /// Builds left out.
    pub superseded: u64,
    pub superseded_bytes: u64,
}

impl Overlaps {
    /// First ones, for answers.
    pub fn listed(&self) -> &[OverlappingPackage] {
        &self.packages[..self.packages.len().min(OVERLAPS_LISTED_MAX)]
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlappingPackage {
    pub package: Vec<u8>,
    pub searched: String,
    /// Backends of the other builds.
    pub superseded: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedDocument {
    pub package: Vec<u8>,
    pub path: Vec<u8>,
    pub reason: String,
}

impl From<Skip> for SkippedDocument {
    fn from(skip: Skip) -> Self {
        SkippedDocument {
            package: skip.package,
            path: skip.path,
            reason: skip.reason,
        }
    }
}

/// Skipped documents. The first by name are listed, so arrival order does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Total number.
    pub count: u64,
    /// First ones.
    pub documents: BTreeSet<SkippedDocument>,
}

impl Skipped {
    /// Counts a document, and lists it if it is among the first.
    pub fn add(&mut self, document: SkippedDocument) {
        self.count += 1;
        self.documents.insert(document);
        if self.documents.len() > SKIPPED_LISTED_MAX {
            self.documents.pop_last();
        }
    }
}

/// Search plan and its costs: sums over all searched shards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explain {
    /// Trigram query.
    pub plan: String,
    pub shards: u64,
    /// Sums of blocks, documents and matches.
    pub sum: ShardEnd,
    pub shard_documents: u64,
    /// Cost of each pattern alone, in expression order; estimates only.
    pub estimates: Vec<Estimate>,
}

impl Explain {
    pub fn add_estimates(&mut self, estimates: Vec<Estimate>) {
        if self.estimates.is_empty() {
            self.estimates = estimates;
            return;
        }
        for (sum, other) in self.estimates.iter_mut().zip(estimates) {
            sum.candidates += other.candidates;
        }
    }

    pub fn add(&mut self, shard: &ShardEnd) {
        self.shards += 1;
        self.sum.blocks += shard.blocks;
        self.sum.candidates += shard.candidates;
        self.sum.matched_blocks += shard.matched_blocks;
        self.sum.documents += shard.documents;
        self.sum.verified_bytes += shard.verified_bytes;
        self.sum.found += shard.found;
    }
}

/// Progress of all backends, also lost or stopped ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    pub blocks_done: u64,
    /// Candidate blocks counted so far.
    pub blocks_total: u64,
    pub documents: u64,
}

/// Completeness of a search, and its costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Shards not searched to their end.
    pub missing: Vec<Missing>,
    /// Documents not searched.
    pub skipped: Skipped,
    /// Packages in several shards.
    pub overlaps: Arc<Overlaps>,
    pub explain: Explain,
    /// Progress of all backends.
    pub reached: Reached,
    /// Reason of a backend that refused the query.
    pub refused: Option<BadQuery>,
    /// The queue for heavy queries was full.
    pub shed: bool,
    /// All backends were lost.
    pub is_unavailable: bool,
    pub was_stopped: bool,
    pub timings: Timings,
}

impl Outcome {
    /// Keeps the longest time of each phase.
    pub fn add_phases(&mut self, phases: Phases) {
        let longest = &mut self.timings.phases;
        longest.plan_us = longest.plan_us.max(phases.plan_us);
        longest.candidates_us = longest.candidates_us.max(phases.candidates_us);
        longest.verify_us = longest.verify_us.max(phases.verify_us);
    }

    /// True if every shard was searched to its end.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.refused.is_none() && !self.shed
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusSize {
    pub shards: u64,
    pub documents: u64,
}

/// Lengths of the lists of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Readable matches.
    pub pointers: u64,
    /// Packages with a readable match.
    pub packages: u32,
    /// Pointers outside folded documents.
    pub unique: u64,
}

/// Time per phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    pub queue: Duration,
    /// First request to last stream end.
    pub stream: Duration,
    pub rank: Duration,
    /// Longest time per phase in a backend.
    pub phases: Phases,
}

impl Timings {
    pub fn total(&self) -> Duration {
        self.queue + self.stream + self.rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_skips_do_not_depend_on_arrival_order() {
        let skip = |number: usize| SkippedDocument {
            package: b"p".to_vec(),
            path: format!("{number:05}").into_bytes(),
            reason: String::new(),
        };
        let (mut up, mut down) = (Skipped::default(), Skipped::default());
        (0..3000).for_each(|number| up.add(skip(number)));
        (0..3000).rev().for_each(|number| down.add(skip(number)));
        assert_eq!(up, down);
        assert_eq!((up.count, up.documents.len()), (3000, SKIPPED_LISTED_MAX));
    }
}
