//! One query's state: events in, actions out.
//!
//! Each backend that takes part has one stream. A stream closes once, by END or by a loss; when
//! the last one has, the run is finished, once, with an [`Outcome`] that says what is missing and
//! why. What a stream has sent is checked by its [`StreamAccount`] before it gets here. A backend that finds a
//! search to cost much does not begin it: its stream waits until the run has its turn.
//! There is no clock, file or socket in this module: the rim says what happened and when, and does
//! what it is told.
//!
//! **Invariant:** after [`Action::Finish`] no event has any effect.

use crate::peers::account::StreamEnd;
use crate::peers::shard_routing::Assignment;
use crate::query::BadQuery;
use crate::results::{Missing, Outcome, SkippedDocument};
use schema::message::Phases;
use std::time::SystemTime;

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
    /// A backend says that the search costs much, and does not begin it.
    Heavy,
    /// The run may cost what it costs; of the run, like all below.
    Admitted,
    /// Too many runs that cost much run and wait already.
    Shed { at: SystemTime },
    /// The run is to stop where it is: it was cancelled, or its time is over.
    Halt { reason: String, at: SystemTime },
}

/// Something is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Close the stream with this index; its `PeerError` event is expected.
    Stop(usize),
    /// Wait for the turn of a run that costs much; `Admitted` or `Shed` is expected.
    Queue,
    /// Ask the backend of this stream again, for whatever it costs.
    Ask(usize),
    /// Nothing more will come: put the pointers in order and answer.
    Finish(Box<Outcome>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamState {
    Open,
    /// Its backend is to be asked again once the run is admitted.
    Waiting,
    Stopping,
    Closed,
}

/// Whether the run may cost much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Unknown,
    Queued,
    Admitted,
}

/// The state of a run.
#[derive(Debug)]
pub(crate) struct State {
    assignments: Vec<Assignment>,
    streams: Vec<StreamState>,
    turn: Turn,
    halted: Option<String>,
    /// Taken by the finish.
    outcome: Option<Box<Outcome>>,
}

impl State {
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
        let mut run = State {
            streams: vec![StreamState::Open; assignments.len()],
            assignments,
            turn: Turn::Unknown,
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
            Event::Halt { reason, at } => return self.halt(reason, at),
            Event::Admitted => return self.admit(),
            Event::Shed { at } => {
                outcome.shed = true;
                return self.halt("too many queries that cost much are running".to_owned(), at);
            }
            _ if self.streams[stream] == StreamState::Closed => {}
            Event::Skip(document) => outcome.skipped.add(document),
            Event::Heavy => return self.wait(stream),
            Event::End(end) => self.end(stream, end),
            Event::Lost { reason, at } => self.lose(stream, reason, at),
            Event::Refused(bad) => {
                outcome.refused.get_or_insert(bad);
                self.streams[stream] = StreamState::Closed;
                return self.halt("the query was refused".to_owned(), SystemTime::UNIX_EPOCH);
            }
        }
        self.finish_when_closed().into_iter().collect()
    }

    /// A backend has not begun: it is asked again when the run has its turn.
    fn wait(&mut self, stream: usize) -> Vec<Action> {
        if let Some(reason) = self.halted.clone() {
            self.lose(stream, reason, SystemTime::UNIX_EPOCH);
            return self.finish_when_closed().into_iter().collect();
        }
        self.streams[stream] = StreamState::Waiting;
        match self.turn {
            Turn::Unknown => {
                self.turn = Turn::Queued;
                vec![Action::Queue]
            }
            Turn::Queued => Vec::new(),
            Turn::Admitted => self.admit(),
        }
    }

    /// The run has its turn: all that wait are asked.
    fn admit(&mut self) -> Vec<Action> {
        self.turn = Turn::Admitted;
        let mut actions = Vec::new();
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if *stream == StreamState::Waiting {
                *stream = StreamState::Open;
                actions.push(Action::Ask(index));
            }
        }
        actions
    }

    /// Stops what still runs. The first reason stands.
    fn halt(&mut self, reason: String, at: SystemTime) -> Vec<Action> {
        let reason = self.halted.get_or_insert(reason).clone();
        let mut actions = Vec::new();
        for index in 0..self.streams.len() {
            match self.streams[index] {
                StreamState::Open => {
                    self.streams[index] = StreamState::Stopping;
                    actions.push(Action::Stop(index));
                }
                // Nobody else will close it.
                StreamState::Waiting => self.lose(index, reason.clone(), at),
                StreamState::Stopping | StreamState::Closed => {}
            }
        }
        actions.extend(self.finish_when_closed());
        actions
    }

    fn end(&mut self, stream: usize, end: StreamEnd) {
        self.streams[stream] = StreamState::Closed;
        let outcome = self.outcome.as_mut().expect("checked by `on`");
        if outcome.explain.plan.is_empty() {
            outcome.explain.plan = end.plan;
        }
        outcome.explain.add_estimates(end.estimates);
        outcome.phases = slowest(outcome.phases, end.phases);
        let assignment = &self.assignments[stream];
        for shard in &end.shards {
            outcome.explain.add(shard);
            if shard.failure.is_empty() {
                let documents = assignment.documents[shard.shard as usize];
                outcome.explain.shard_documents += u64::from(documents);
            } else {
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
        self.streams[stream] = StreamState::Closed;
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
        if self
            .streams
            .iter()
            .any(|stream| *stream != StreamState::Closed)
        {
            return None;
        }
        let mut outcome = self.outcome.take()?;
        outcome
            .missing
            .sort_by(|a, b| (&a.backend, &a.shards).cmp(&(&b.backend, &b.shards)));
        Some(Action::Finish(outcome))
    }
}

/// Of each phase the longer one.
fn slowest(a: Phases, b: Phases) -> Phases {
    Phases {
        plan_us: a.plan_us.max(b.plan_us),
        candidates_us: a.candidates_us.max(b.candidates_us),
        verify_us: a.verify_us.max(b.verify_us),
    }
}

#[cfg(test)]
mod tests;
