//! State of one execution: events in, actions out.
//!
//! An execution waits for admission, opens a stream per backend, and is finalized when the last one
//! has closed. A stream that a backend finds heavy waits for a heavy slot. The deadline is the
//! latest of all clients. The execution is cancelled some time after the last client left; a client
//! that withdraws does not return.
//!
//! Pure: the [`driver`](super::driver) reports events and carries out the actions.
//!
//! **Invariant:** every stream closes once. [`Action::Finalize`] and [`Action::Publish`] come once
//! each; no event has an effect after `Publish`.

#![deny(clippy::disallowed_methods)]

use crate::peers::shard_routing::Assignment;
use query::BadQuery;
use results::{Missing, Outcome, SPOOL, SkippedDocument, Timings};
use schema::message::End;
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

/// Clients that may return. Beyond it, the first to expire counts as gone.
const KEPT_MAX: usize = 1024;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    pub(crate) time: SystemTime,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    /// The client's timeout, for the message.
    pub(crate) timeout: Duration,
}

pub(crate) type ClientKey = u128;

#[derive(Clone, Debug)]
pub(crate) enum Event {
    Start,
    /// A later deadline replaces the current one.
    Join {
        deadline: Option<Deadline>,
    },
    /// The client may come back within `grace`.
    Leave {
        client: ClientKey,
        grace: Duration,
    },
    /// The client gave up; `open` of its requests have not left yet.
    Withdraw {
        client: ClientKey,
        open: usize,
    },
    /// Ends the execution despite waiting clients.
    Cancel,
    /// [`Action::SetTimer`] is due.
    Timer,
    /// Admitted with a heavy slot, or with a light place.
    Admitted {
        heavy: bool,
    },
    /// The queue for heavy slots is full.
    Shed,
    Stream(usize, StreamEvent),
    /// The pointers are in order, or ordering failed.
    Finalized {
        failure: Option<String>,
    },
}

/// All but `Skip` close it or let it wait.
#[derive(Clone, Debug)]
pub(crate) enum StreamEvent {
    Skip(SkippedDocument),
    /// The stream ended, and everything sent has arrived.
    End(End),
    /// The stream ended in any other way.
    Lost(String),
    /// The spool could not store the stream; not the backend's fault.
    Unspooled(String),
    /// The backend cannot run this query.
    Refused(BadQuery),
    /// The backend finds the query heavy and did not begin it.
    Heavy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Take a free heavy slot, or wait for a light place. Expects `Admitted`.
    Acquire,
    /// Release the light place and queue for a heavy slot. Expects `Admitted` or `Shed`.
    AcquireHeavy,
    /// Send the stream's request.
    Open {
        stream: usize,
        heavy: bool,
    },
    /// Close the stream's connection. Expects an event that closes the stream.
    Stop(usize),
    /// Replaces the last one.
    SetTimer(Option<Instant>),
    /// Order the collected pointers. Expects `Finalized`.
    Finalize,
    Publish(Box<Outcome>),
}

#[derive(Debug)]
struct StreamState {
    assignment: Assignment,
    status: Status,
    is_lost: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    New,
    Open,
    /// Waits for a heavy slot, to be requested again.
    Waiting,
    Stopping,
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admission {
    /// Not admitted yet.
    No,
    Light,
    Queued {
        since: Instant,
    },
    Heavy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Streaming,
    Finalizing,
    Finished { is_complete: bool },
}

#[derive(Debug)]
pub(crate) struct ExecutionState {
    streams: Vec<StreamState>,
    phase: Phase,
    admission: Admission,
    clients: usize,
    /// Clients that left, and the end of their grace.
    kept: BTreeMap<ClientKey, Instant>,
    pub(crate) deadline: Deadline,
    timer: Option<Instant>,
    /// First reason for stopping the streams.
    halted: Option<String>,
    pub(crate) is_cancelled: bool,
    pub(crate) is_abandoned: bool,
    outcome: Outcome,
    /// Entries of `outcome.missing` without a stream.
    missing_before: usize,
    created: Instant,
    started: Option<Instant>,
    streamed: Option<Instant>,
    queued: Duration,
    actions: Vec<Action>,
}

impl ExecutionState {
    pub(crate) fn new(
        assignments: Vec<Assignment>,
        missing: Vec<Missing>,
        deadline: Deadline,
        now: Instant,
    ) -> Self {
        let stream = |assignment| StreamState {
            assignment,
            status: Status::New,
            is_lost: false,
        };
        ExecutionState {
            streams: assignments.into_iter().map(stream).collect(),
            phase: Phase::Streaming,
            admission: Admission::No,
            clients: 0,
            kept: BTreeMap::new(),
            deadline,
            timer: None,
            halted: None,
            is_cancelled: false,
            is_abandoned: false,
            missing_before: missing.len(),
            outcome: Outcome {
                missing,
                ..Outcome::default()
            },
            created: now,
            started: None,
            streamed: None,
            queued: Duration::ZERO,
            actions: Vec::new(),
        }
    }

    pub(crate) fn finished(now: Instant) -> Self {
        let deadline = Deadline {
            at: now,
            timeout: Duration::ZERO,
        };
        ExecutionState {
            phase: Phase::Finished { is_complete: true },
            ..ExecutionState::new(Vec::new(), Vec::new(), deadline, now)
        }
    }

    pub(crate) fn on(&mut self, event: Event, now: Now) -> Vec<Action> {
        match (self.phase, event) {
            (Phase::Finished { .. }, _) => return Vec::new(),
            (_, Event::Join { deadline }) => self.join(deadline),
            (_, Event::Leave { client, grace }) => self.leave(client, grace, now),
            (_, Event::Withdraw { client, open }) => self.withdraw(client, open, now),
            (_, Event::Cancel) => self.cancel(now),
            (_, Event::Timer) => self.on_timer(now),
            (Phase::Finalizing, Event::Finalized { failure }) => self.publish(failure, now),
            (Phase::Finalizing, _) | (_, Event::Finalized { .. }) => {}
            (_, Event::Start) => self.start(now),
            (_, Event::Admitted { heavy }) => self.admit(heavy, now),
            (_, Event::Shed) => {
                self.outcome.shed = true;
                self.halt("too many heavy queries are running", now);
            }
            (_, Event::Stream(stream, event)) => self.on_stream(stream, event, now),
        }
        self.set_timer();
        std::mem::take(&mut self.actions)
    }

    /// True if a new client may join: while running unless cancelled, afterwards if complete.
    pub(crate) fn can_be_joined(&self) -> bool {
        match self.phase {
            Phase::Finished { is_complete } => is_complete,
            _ => !self.is_cancelled,
        }
    }

    /// Time since the streams were opened, without the idle time in the queue.
    pub(crate) fn elapsed(&self, now: Instant) -> Duration {
        let started = self.started.map_or(Duration::ZERO, |started| now - started);
        started.saturating_sub(self.queued)
    }

    fn start(&mut self, now: Now) {
        if !self.streams.is_empty() {
            self.actions.push(Action::Acquire);
        }
        self.finalize_when_closed(now);
    }

    fn join(&mut self, deadline: Option<Deadline>) {
        self.clients += 1;
        if let Some(deadline) = deadline
            && deadline.at > self.deadline.at
        {
            self.deadline = deadline;
        }
    }

    fn leave(&mut self, client: ClientKey, grace: Duration, now: Now) {
        self.clients -= 1;
        self.kept.retain(|_, until| *until > now.instant);
        let kept = self.kept.entry(client).or_insert(now.instant);
        *kept = (*kept).max(now.instant + grace);
        if self.kept.len() > KEPT_MAX {
            let first = self.kept.iter().min_by_key(|(_, until)| **until);
            let first = *first.expect("there are more than none").0;
            self.kept.remove(&first);
        }
    }

    fn withdraw(&mut self, client: ClientKey, open: usize, now: Now) {
        self.kept.remove(&client);
        let is_kept = self.kept.values().any(|until| *until > now.instant);
        if self.clients <= open && !is_kept {
            self.outcome.was_stopped = true;
            self.cancel(now);
        }
    }

    fn cancel(&mut self, now: Now) {
        self.is_cancelled = true;
        self.halt("the query was cancelled", now);
    }

    fn on_timer(&mut self, now: Now) {
        self.timer = None;
        self.actions.push(Action::SetTimer(None));
        if self.phase == Phase::Streaming && self.deadline.at <= now.instant {
            let what = match self.admission {
                Admission::No | Admission::Queued { .. } => "admitted",
                Admission::Light | Admission::Heavy => "done",
            };
            let timeout = self.deadline.timeout;
            self.halt(&format!("the query was not {what} within {timeout:?}"), now);
        }
        if self.clients == 0 && self.keep_until().is_some_and(|until| until <= now.instant) {
            self.is_abandoned = true;
            self.cancel(now);
        }
    }

    fn keep_until(&self) -> Option<Instant> {
        self.kept.values().copied().max()
    }

    fn set_timer(&mut self) {
        let deadline = Some(self.deadline.at)
            .filter(|_| self.phase == Phase::Streaming && self.halted.is_none());
        let grace = self
            .keep_until()
            .filter(|_| self.clients == 0 && !self.is_abandoned);
        let next = match self.phase {
            Phase::Finished { .. } => None,
            _ => deadline.into_iter().chain(grace).min(),
        };
        if self.timer != next {
            self.timer = next;
            self.actions.push(Action::SetTimer(next));
        }
    }

    fn admit(&mut self, heavy: bool, now: Now) {
        match self.admission {
            Admission::No => self.started = Some(now.instant),
            Admission::Queued { since } if heavy => self.queued = now.instant - since,
            _ => return,
        }
        self.admission = if heavy {
            Admission::Heavy
        } else {
            Admission::Light
        };
        for stream in 0..self.streams.len() {
            if let Status::New | Status::Waiting = self.streams[stream].status {
                self.open(stream, heavy);
            }
        }
    }

    fn open(&mut self, stream: usize, heavy: bool) {
        self.streams[stream].status = Status::Open;
        self.actions.push(Action::Open { stream, heavy });
    }

    fn on_stream(&mut self, stream: usize, event: StreamEvent, now: Now) {
        if self.streams[stream].status == Status::Closed {
            return;
        }
        match event {
            StreamEvent::Skip(document) => self.outcome.skipped.add(document),
            StreamEvent::Heavy => self.wait(stream, now),
            StreamEvent::End(end) => self.end(stream, end, now),
            StreamEvent::Lost(reason) => {
                self.streams[stream].is_lost = self.halted.is_none();
                self.lose(stream, reason, now);
            }
            StreamEvent::Unspooled(reason) if self.halted.is_none() => {
                self.streams[stream].status = Status::Closed;
                self.miss_spooled(stream, reason, now);
            }
            StreamEvent::Unspooled(reason) => self.lose(stream, reason, now),
            StreamEvent::Refused(bad) => {
                self.outcome.refused.get_or_insert(bad);
                self.streams[stream].status = Status::Closed;
                self.halt("the query was refused", now);
            }
        }
        self.finalize_when_closed(now);
    }

    fn wait(&mut self, stream: usize, now: Now) {
        if self.halted.is_some() {
            self.lose(stream, String::new(), now);
            return;
        }
        self.streams[stream].status = Status::Waiting;
        match self.admission {
            Admission::Heavy => self.open(stream, true),
            Admission::Queued { .. } => {}
            Admission::No | Admission::Light => {
                let since = now.instant;
                self.admission = Admission::Queued { since };
                self.actions.push(Action::AcquireHeavy);
            }
        }
    }

    /// The first reason stands.
    fn halt(&mut self, reason: &str, now: Now) {
        if self.halted.is_some() {
            return;
        }
        self.halted = Some(reason.to_owned());
        for stream in 0..self.streams.len() {
            match self.streams[stream].status {
                Status::Open => {
                    self.streams[stream].status = Status::Stopping;
                    self.actions.push(Action::Stop(stream));
                }
                // It has no connection to close.
                Status::New | Status::Waiting => self.lose(stream, String::new(), now),
                Status::Stopping | Status::Closed => {}
            }
        }
        self.finalize_when_closed(now);
    }

    fn end(&mut self, stream: usize, end: End, now: Now) {
        let StreamState {
            assignment, status, ..
        } = &mut self.streams[stream];
        *status = Status::Closed;
        let outcome = &mut self.outcome;
        if outcome.explain.plan.is_empty() {
            outcome.explain.plan = end.plan;
        }
        outcome.explain.add_estimates(end.estimates);
        outcome.add_phases(end.phases);
        for shard in &end.shards {
            outcome.explain.add(shard);
            let index = shard.shard as usize;
            if shard.failure.is_empty() {
                outcome.explain.shard_documents += u64::from(assignment.documents[index]);
            } else {
                outcome.missing.push(Missing {
                    backend: assignment.backend.clone(),
                    reason: shard.failure.clone(),
                    shards: vec![assignment.shards[index]],
                    since: now.time,
                });
            }
        }
    }

    /// The halt's reason wins.
    fn lose(&mut self, stream: usize, reason: String, now: Now) {
        let StreamState {
            assignment, status, ..
        } = &mut self.streams[stream];
        *status = Status::Closed;
        self.outcome.missing.push(Missing {
            backend: assignment.backend.clone(),
            reason: self.halted.clone().unwrap_or(reason),
            shards: assignment.shards.clone(),
            since: now.time,
        });
    }

    /// Blames the spool, once per reason.
    fn miss_spooled(&mut self, stream: usize, reason: String, now: Now) {
        let shards = self.streams[stream].assignment.shards.clone();
        let mut missing = self.outcome.missing.iter_mut();
        match missing.find(|other| other.backend == SPOOL && other.reason == reason) {
            Some(other) => {
                other.shards.extend(shards);
                other.shards.sort_unstable();
            }
            None => self.outcome.missing.push(Missing {
                backend: SPOOL.to_owned(),
                reason,
                shards,
                since: now.time,
            }),
        }
    }

    fn finalize_when_closed(&mut self, now: Now) {
        let is_closed = |stream: &StreamState| stream.status == Status::Closed;
        if self.phase == Phase::Streaming && self.streams.iter().all(is_closed) {
            self.phase = Phase::Finalizing;
            self.streamed = Some(now.instant);
            self.actions.push(Action::Finalize);
        }
    }

    fn publish(&mut self, failure: Option<String>, now: Now) {
        if let Some(failure) = failure {
            // Nothing that arrived can be shown.
            self.outcome.missing.truncate(self.missing_before);
            for stream in 0..self.streams.len() {
                let reason = format!("the matches cannot be put in order: {failure}");
                self.miss_spooled(stream, reason, now);
            }
        }
        let are_lost = self.streams.iter().all(|stream| stream.is_lost);
        self.outcome.is_unavailable = are_lost && !self.outcome.missing.is_empty();
        let mut outcome = std::mem::take(&mut self.outcome);
        (outcome.missing).sort_by(|a, b| (&a.backend, &a.shards).cmp(&(&b.backend, &b.shards)));
        self.phase = Phase::Finished {
            is_complete: outcome.is_complete(),
        };
        let streamed = self.streamed.unwrap_or(now.instant);
        let started = self.started.unwrap_or(streamed);
        outcome.timings = Timings {
            queue: started - self.created + self.queued,
            stream: (streamed - started).saturating_sub(self.queued),
            rank: now.instant - streamed,
            ..outcome.timings
        };
        self.actions.push(Action::Publish(Box::new(outcome)));
    }
}

#[cfg(test)]
mod tests;
