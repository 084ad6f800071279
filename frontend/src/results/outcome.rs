//! How complete a result is, how it was found, and how long that took.

use crate::query::BadQuery;
use schema::message::{Estimate, Phases, ShardEnd};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

/// Skipped documents that are listed with their reasons; all are counted.
const SKIPPED_LISTED_MAX: usize = 1000;

/// A shard's id.
pub type ShardId = [u8; 32];

/// What an answer lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The backend that should have sent it.
    pub backend: String,
    /// Why it did not.
    pub reason: String,
    /// The shards that were not searched to their end; empty when nobody knows which they are.
    pub shards: Vec<ShardId>,
    /// Since when.
    pub since: SystemTime,
}

/// A document that was given up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedDocument {
    /// Its package.
    pub package: Vec<u8>,
    /// Its path within the package.
    pub path: Vec<u8>,
    /// Why.
    pub reason: String,
}

/// The documents that were given up. Which of them are listed does not depend on their arrival:
/// the first ones by name.
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
    /// The trigram query, for people.
    pub plan: String,
    /// Shards searched.
    pub shards: u64,
    /// Blocks in them.
    pub blocks: u64,
    /// Blocks that the index could not rule out.
    pub candidates: u64,
    /// Candidates that hold a match.
    pub matched_blocks: u64,
    /// Documents examined.
    pub documents: u64,
    /// Bytes of text looked at.
    pub verified_bytes: u64,
    /// Matches, or documents when those are wanted, sent or not.
    pub found: u64,
    /// Documents in the shards that were searched to their end.
    pub shard_documents: u64,
    /// Of an estimate: what each pattern alone would cost, in the order of the expression.
    pub estimates: Vec<Estimate>,
}

impl Explain {
    /// Adds what another backend says of the same patterns.
    pub(crate) fn add_estimates(&mut self, said: Vec<Estimate>) {
        if self.estimates.is_empty() {
            self.estimates = said;
            return;
        }
        for (sum, other) in self.estimates.iter_mut().zip(said) {
            sum.candidates += other.candidates;
        }
    }

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

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// What is missing; nothing when the answer is complete.
    pub(crate) missing: Vec<Missing>,
    pub(crate) skipped: Skipped,
    pub(crate) explain: Explain,
    /// A backend's reason why this query cannot be searched for at all.
    pub(crate) refused: Option<BadQuery>,
    /// It costs much, and too many such queries run and wait already.
    pub(crate) shed: bool,
    /// What the slowest backend did in the time of the search.
    pub(crate) phases: Phases,
}

/// How much there is to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusSize {
    /// Shards.
    pub shards: u64,
    /// Documents in them.
    pub documents: u64,
}

/// How much there is in the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Pointers in the order.
    pub(crate) pointers: u64,
    /// Packages with matches.
    pub(crate) packages: u32,
}

/// How long the phases of a query took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Waiting for its turn.
    pub queue: Duration,
    /// From the first request to the end of the last stream.
    pub stream: Duration,
    /// Putting the matches in order.
    pub rank: Duration,
    /// What backends did meanwhile: of each phase what the slowest one took.
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
