//! How an execution ended: what is missing, which documents were skipped, how the backends found the
//! matches, and how long that took.

use crate::query::BadQuery;
use schema::message::{Estimate, Phases, ShardEnd, Skip};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Skipped documents that are listed with their reason; all are counted.
const SKIPPED_LISTED_MAX: usize = 1000;

/// Packages of several backends that an answer lists; all are counted.
const OVERLAPS_LISTED_MAX: usize = 100;

/// A shard's id.
pub type ShardId = [u8; 32];

/// In the place of a backend: the spool of the frontend, which could not keep matches of these shards.
pub(crate) const SPOOL: &str = "spool";

/// Shards that were not searched to their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The backend that should have searched them; `spool` if the frontend could not keep their matches;
    /// `authorization` if nobody decided whether the caller may see them.
    pub backend: String,
    /// Why it did not.
    pub reason: String,
    /// The shards; empty when the backend never announced any.
    pub shards: Vec<ShardId>,
    /// When the backend or the stream was lost.
    pub since: SystemTime,
}

/// Packages that several shards have. The newest build of each is searched, the others are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlaps {
    /// All of them, by name.
    pub packages: Vec<OverlappingPackage>,
    /// Builds of them that are left out: one or more of each.
    pub superseded: u64,
    /// Bytes of their text.
    pub superseded_bytes: u64,
}

impl Overlaps {
    /// The first of them, which answers list.
    pub fn listed(&self) -> &[OverlappingPackage] {
        &self.packages[..self.packages.len().min(OVERLAPS_LISTED_MAX)]
    }
}

/// A package that several shards have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlappingPackage {
    /// The name of its directory.
    pub package: Vec<u8>,
    /// The backend whose build is searched.
    pub searched: String,
    /// The backends of the other builds, one for each.
    pub superseded: Vec<String>,
}

/// A document that a backend skipped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedDocument {
    /// Its package.
    pub package: Vec<u8>,
    /// Its path within the package.
    pub path: Vec<u8>,
    /// Why.
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

/// The documents that backends skipped. The first ones by name are listed, so that the list does not
/// depend on the order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub documents: BTreeSet<SkippedDocument>,
}

impl Skipped {
    pub(crate) fn add(&mut self, document: SkippedDocument) {
        self.count += 1;
        self.documents.insert(document);
        if self.documents.len() > SKIPPED_LISTED_MAX {
            self.documents.pop_last();
        }
    }
}

/// How the backends found the matches: sums over all shards that were searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explain {
    /// The trigram query, as text.
    pub plan: String,
    /// Shards searched.
    pub shards: u64,
    /// Blocks in them.
    pub blocks: u64,
    /// Blocks that the index could not rule out.
    pub candidates: u64,
    /// Candidates with a match.
    pub matched_blocks: u64,
    /// Documents examined.
    pub documents: u64,
    /// Bytes of text examined.
    pub verified_bytes: u64,
    /// Matches, or documents if the query asks for those, sent or not.
    pub found: u64,
    /// Documents in the shards that were searched to their end.
    pub shard_documents: u64,
    /// What each pattern would cost alone, in the order of the expression; for an estimate only.
    pub estimates: Vec<Estimate>,
}

impl Explain {
    /// Adds what another backend estimates for the same patterns.
    pub(crate) fn add_estimates(&mut self, estimates: Vec<Estimate>) {
        if self.estimates.is_empty() {
            self.estimates = estimates;
            return;
        }
        for (sum, other) in self.estimates.iter_mut().zip(estimates) {
            sum.candidates += other.candidates;
        }
    }

    /// Adds what a backend reports of a shard.
    pub(crate) fn add(&mut self, shard: &ShardEnd) {
        self.shards += 1;
        self.blocks += shard.blocks;
        self.candidates += shard.candidates;
        self.matched_blocks += shard.matched_blocks;
        self.documents += shard.documents;
        self.verified_bytes += shard.verified_bytes;
        self.found += shard.found;
    }
}

/// How far the backends came, those that were lost or stopped too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Candidate blocks verified.
    pub blocks_done: u64,
    /// Candidate blocks of the backends that have counted theirs.
    pub blocks_total: u64,
    /// Documents examined.
    pub documents: u64,
}

/// How an execution ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) missing: Vec<Missing>,
    pub(crate) skipped: Skipped,
    pub(crate) overlaps: Arc<Overlaps>,
    pub(crate) explain: Explain,
    pub(crate) reached: Reached,
    /// Why a backend cannot search for this query at all.
    pub(crate) refused: Option<BadQuery>,
    /// The query is heavy, and too many heavy queries run and wait already.
    pub(crate) shed: bool,
    /// All backends were lost before they had searched anything.
    pub(crate) is_unavailable: bool,
    /// A client stopped the search.
    pub(crate) was_stopped: bool,
    /// How long each phase took in the slowest backend.
    pub(crate) phases: Phases,
}

impl Outcome {
    /// Keeps the longer time of each phase.
    pub(crate) fn add_phases(&mut self, phases: Phases) {
        let longest = &mut self.phases;
        longest.plan_us = longest.plan_us.max(phases.plan_us);
        longest.candidates_us = longest.candidates_us.max(phases.candidates_us);
        longest.verify_us = longest.verify_us.max(phases.verify_us);
    }

    /// Whether every shard was searched to its end.
    pub(crate) fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.refused.is_none() && !self.shed
    }
}

/// How much there is to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusSize {
    /// Shards.
    pub shards: u64,
    /// Documents in them.
    pub documents: u64,
}

/// How much there is in the files of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Pointers in the order.
    pub(crate) pointers: u64,
    /// Packages with matches.
    pub(crate) packages: u32,
    /// Pointers that are not of folded documents.
    pub(crate) unique: u64,
}

/// How long the phases of a query took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Waiting for admission.
    pub queue: Duration,
    /// From the first request to the end of the last stream.
    pub stream: Duration,
    /// Putting the matches in order.
    pub rank: Duration,
    /// Inside the backends: the longest time that one of them took for each phase.
    pub phases: Phases,
}

impl Timings {
    /// All of it.
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
