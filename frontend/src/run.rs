//! One query's state: events in, actions out.
//!
//! Each backend that takes part has one stream. A stream closes once, by END or by a loss; when
//! the last one has, the run is finished, once, with an [`Outcome`] that says what is missing and
//! why. What a stream has sent is checked by its [`Part`] before it gets here.
//! There is no clock, file or socket in this module: the rim says what happened and when, and does
//! what it is told.
//!
//! **Invariant:** after [`Action::Finish`] no event has any effect.

mod part;

pub(crate) use part::{Fault, Part};

use crate::query::BadQuery;
use schema::message::{Phases, ShardEnd};
use std::collections::BTreeSet;
use std::time::SystemTime;

/// Documents that are listed with the reason why they were given up; all are counted.
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
    fn add(&mut self, document: SkippedDocument) {
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
}

impl Explain {
    fn add(&mut self, shard: &ShardEnd) {
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
    /// Of the slowest backend each.
    pub(crate) phases: Phases,
    /// A backend's reason why this query cannot be searched for at all.
    pub(crate) refused: Option<BadQuery>,
}

/// A backend's part in a run: who, and which shards it is to search.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) backend: String,
    pub(crate) shards: Vec<ShardId>,
}

/// Something happened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A stream sent a SKIP frame.
    Skip(SkippedDocument),
    /// A stream sent an END frame that agrees with what it had sent.
    End(StreamEnd),
    /// A stream is closed without a good END.
    Lost { reason: String, at: SystemTime },
    /// A backend will not search for this.
    Refused(BadQuery),
    /// The run is to stop where it is: cancelled, or a bound was reached, or the disk is full.
    Halt { reason: String },
}

/// An END frame, checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamEnd {
    pub(crate) plan: String,
    pub(crate) phases: Phases,
    pub(crate) shards: Vec<ShardEnd>,
    pub(crate) at: Option<SystemTime>,
}

/// Something is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Close the stream with this index; its `Lost` event is expected.
    Stop(usize),
    /// Nothing more will come: put the pointers in order and answer.
    Finish(Box<Outcome>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Open,
    Stopping,
    Closed,
}

/// The state of a run.
#[derive(Debug)]
pub(crate) struct Run {
    assignments: Vec<Assignment>,
    streams: Vec<Stream>,
    halted: Option<String>,
    /// Taken by the finish.
    outcome: Option<Box<Outcome>>,
}

impl Run {
    /// A run with a stream for each assignment, and what is missing before it starts. The actions
    /// finish it at once when there is nobody to ask.
    pub(crate) fn new(
        assignments: Vec<Assignment>,
        missing: Vec<Missing>,
    ) -> (Self, Option<Action>) {
        let outcome = Outcome {
            missing,
            ..Outcome::default()
        };
        let mut run = Run {
            streams: vec![Stream::Open; assignments.len()],
            assignments,
            halted: None,
            outcome: Some(Box::new(outcome)),
        };
        let finish = run.finish_when_closed();
        (run, finish)
    }

    /// Takes an event; those that concern one stream come with its index.
    pub(crate) fn on(&mut self, stream: usize, event: Event) -> Vec<Action> {
        let Some(outcome) = &mut self.outcome else {
            return Vec::new();
        };
        match event {
            Event::Skip(document) => outcome.skipped.add(document),
            Event::Halt { reason } => return self.halt(reason),
            _ if self.streams[stream] == Stream::Closed => {}
            Event::End(end) => self.end(stream, end),
            Event::Lost { reason, at } => self.lose(stream, reason, at),
            Event::Refused(bad) => {
                outcome.refused.get_or_insert(bad);
                self.streams[stream] = Stream::Closed;
                return self.halt("the query was refused".to_owned());
            }
        }
        self.finish_when_closed().into_iter().collect()
    }

    /// Stops what still runs. The first reason stands.
    fn halt(&mut self, reason: String) -> Vec<Action> {
        self.halted.get_or_insert(reason);
        let mut actions = Vec::new();
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if *stream == Stream::Open {
                *stream = Stream::Stopping;
                actions.push(Action::Stop(index));
            }
        }
        actions.extend(self.finish_when_closed());
        actions
    }

    fn end(&mut self, stream: usize, end: StreamEnd) {
        self.streams[stream] = Stream::Closed;
        let outcome = self.outcome.as_mut().expect("checked by `on`");
        if outcome.explain.plan.is_empty() {
            outcome.explain.plan = end.plan;
        }
        let (phases, other) = (&mut outcome.phases, end.phases);
        phases.plan_us = phases.plan_us.max(other.plan_us);
        phases.candidates_us = phases.candidates_us.max(other.candidates_us);
        phases.verify_us = phases.verify_us.max(other.verify_us);
        let assignment = &self.assignments[stream];
        for shard in &end.shards {
            outcome.explain.add(shard);
            if !shard.failure.is_empty() {
                outcome.missing.push(Missing {
                    backend: assignment.backend.clone(),
                    reason: shard.failure.clone(),
                    shards: vec![assignment.shards[shard.shard as usize]],
                    since: end.at.unwrap_or(SystemTime::UNIX_EPOCH),
                });
            }
        }
    }

    fn lose(&mut self, stream: usize, reason: String, at: SystemTime) {
        self.streams[stream] = Stream::Closed;
        let assignment = &self.assignments[stream];
        let outcome = self.outcome.as_mut().expect("checked by `on`");
        outcome.missing.push(Missing {
            backend: assignment.backend.clone(),
            reason: self.halted.clone().unwrap_or(reason),
            shards: assignment.shards.clone(),
            since: at,
        });
    }

    fn finish_when_closed(&mut self) -> Option<Action> {
        if self.streams.iter().any(|stream| *stream != Stream::Closed) {
            return None;
        }
        let mut outcome = self.outcome.take()?;
        outcome
            .missing
            .sort_by(|a, b| (&a.backend, &a.shards).cmp(&(&b.backend, &b.shards)));
        Some(Action::Finish(outcome))
    }
}

#[cfg(test)]
mod tests;
