//! Driver of the simulated execution: clients, admission and timer, without threads.
//!
//! Feeds events to the real [`ExecutionState`] and carries out its actions. It keeps its own simple
//! account of the rules and compares after every event.

use super::random::Random;
use super::scenario::{Client, Scenario};
use crate::execution::state::{Action, Deadline, Event, ExecutionState, Now, StreamEvent};
use query::BadQuery;
use results::Outcome;
use schema::message::End;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

/// Step 0, the same in every play, so that stories are equal.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(super) enum StreamAction {
    Open { stream: usize, heavy: bool },
    Stop(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admission {
    None,
    Asked,
    Light,
    Queued,
    Heavy,
}

pub(super) struct Driver<'a> {
    scenario: &'a Scenario,
    state: ExecutionState,
    start: Instant,
    pub(super) step: usize,
    timer: Option<Instant>,
    admission: Admission,
    decided: Option<usize>,
    rules: Rules,
    pub(super) is_finalizing: bool,
    publication: Option<Outcome>,
    pub(super) seen: Vec<&'static str>,
    pub(super) story: Vec<String>,
}

/// Rules of an execution, independent of its state.
struct Rules {
    clients: Vec<usize>,
    keep_until: usize,
    /// Step, and the timeout that set it.
    deadline: (usize, usize),
    is_abandoned: bool,
    is_cancelled: bool,
    halt: Option<String>,
}

impl Rules {
    fn halt(&mut self, reason: &str) {
        self.halt.get_or_insert_with(|| reason.to_owned());
    }
}

impl<'a> Driver<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let start = *START;
        let assignments = (0..scenario.scripts.len()).map(|stream| scenario.assignment(stream));
        let timeout = scenario.clients[0].timeout;
        let deadline = deadline(start, timeout);
        Driver {
            scenario,
            state: ExecutionState::new(assignments.collect(), Vec::new(), deadline, start),
            start,
            step: 0,
            timer: None,
            admission: Admission::None,
            decided: None,
            rules: Rules {
                clients: vec![0],
                keep_until: usize::MAX,
                deadline: (timeout, timeout),
                is_abandoned: false,
                is_cancelled: false,
                halt: None,
            },
            is_finalizing: false,
            publication: None,
            seen: Vec::new(),
            story: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, random: &mut Random) -> Vec<StreamAction> {
        self.step += 1;
        let now = self.now().instant;
        let mut actions = Vec::new();
        if self.timer.is_some_and(|at| at <= now) || random.one_in(50) {
            actions.extend(self.time(random));
        }
        assert!(!self.is_overdue(), "the timer was not set");
        for (number, client) in self.scenario.clients.iter().enumerate() {
            if client.joins == self.step {
                actions.extend(self.join(random, number, client));
            }
            if client.leaves == self.step {
                actions.extend(self.leave(random, number, client));
            }
        }
        if let Some(step) = self.scenario.cancelled
            && (step == self.step || step + 9 == self.step)
        {
            self.seen.push("cancelled");
            self.rules.is_cancelled = true;
            if !self.is_finalizing {
                self.rules.halt("the query was cancelled");
            }
            actions.extend(self.on(random, Event::Cancel));
        }
        if self.decided == Some(self.step) {
            actions.extend(self.admit(random));
        }
        actions
    }

    /// True if clients or deadline should have ended the execution.
    fn is_overdue(&self) -> bool {
        let Rules {
            clients,
            keep_until,
            deadline,
            is_abandoned,
            halt,
            ..
        } = &self.rules;
        let is_late = deadline.0 <= self.step && !self.is_finalizing && halt.is_none();
        is_late || clients.is_empty() && *keep_until <= self.step && !is_abandoned
    }

    fn time(&mut self, random: &mut Random) -> Vec<StreamAction> {
        let (at, timeout) = self.rules.deadline;
        if at <= self.step && !self.is_finalizing && self.rules.halt.is_none() {
            let (what, label) = match self.admission {
                Admission::Light | Admission::Heavy => ("done", "timeout_done"),
                _ => ("admitted", "timeout_admitted"),
            };
            self.seen.push(label);
            let reason = format!("the query was not {what} within {timeout}ms");
            self.rules.halt(&reason);
        }
        if self.rules.clients.is_empty() && self.rules.keep_until <= self.step {
            if !self.rules.is_abandoned {
                self.seen.push("abandoned");
            }
            (self.rules.is_abandoned, self.rules.is_cancelled) = (true, true);
            if !self.is_finalizing {
                self.rules.halt("the query was cancelled");
            }
        }
        self.on(random, Event::Timer)
    }

    fn join(&mut self, random: &mut Random, number: usize, client: &Client) -> Vec<StreamAction> {
        let can_be_joined = self.state.can_be_joined();
        assert_eq!(can_be_joined, !self.rules.is_cancelled);
        if client.by_id {
            self.rules.clients.push(number);
            return self.on(random, Event::Join { deadline: None });
        }
        if !can_be_joined {
            self.seen.push("not_joined");
            return Vec::new();
        }
        let came_back = self.rules.clients.is_empty();
        self.seen
            .push(if came_back { "came_back" } else { "joined" });
        self.rules.clients.push(number);
        if self.step + client.timeout > self.rules.deadline.0 {
            self.seen.push("extended");
            self.rules.deadline = (self.step + client.timeout, client.timeout);
        }
        let deadline = Some(deadline(self.now().instant, client.timeout));
        self.on(random, Event::Join { deadline })
    }

    fn leave(&mut self, random: &mut Random, number: usize, client: &Client) -> Vec<StreamAction> {
        let Some(index) = self.rules.clients.iter().position(|&it| it == number) else {
            return Vec::new();
        };
        self.rules.clients.remove(index);
        let until = self.step + client.grace;
        self.rules.keep_until = match self.rules.keep_until {
            usize::MAX => until,
            before => before.max(until),
        };
        self.seen.push("left");
        let grace = Duration::from_millis(client.grace as u64);
        let client = index as u128;
        self.on(random, Event::Leave { client, grace })
    }

    fn admit(&mut self, random: &mut Random) -> Vec<StreamAction> {
        self.decided = None;
        if self.admission == Admission::Queued && self.scenario.shed {
            self.seen.push("shed");
            if !self.is_finalizing {
                self.rules.halt("too many heavy queries are running");
            }
            return self.on(random, Event::Shed);
        }
        let heavy = self.admission == Admission::Queued || self.scenario.slot_is_free;
        self.admission = if heavy {
            Admission::Heavy
        } else {
            Admission::Light
        };
        self.on(random, Event::Admitted { heavy })
    }

    /// Carries out all but stream actions.
    pub(super) fn on(&mut self, random: &mut Random, event: Event) -> Vec<StreamAction> {
        if let Event::Stream(_, StreamEvent::Refused(_)) = event {
            self.rules.halt("the query was refused");
        }
        let mut of_streams = Vec::new();
        for action in self.feed(event) {
            match action {
                Action::SetTimer(at) => self.timer = at,
                Action::Acquire => {
                    assert_eq!(self.admission, Admission::None);
                    self.admission = Admission::Asked;
                    self.decided = Some(self.step + wait(random));
                }
                Action::AcquireHeavy => {
                    assert_eq!(self.admission, Admission::Light);
                    self.seen.push("queued");
                    self.admission = Admission::Queued;
                    self.decided = Some(self.step + wait(random));
                }
                Action::Open { stream, heavy } => {
                    let held = if heavy {
                        Admission::Heavy
                    } else {
                        Admission::Light
                    };
                    assert_eq!(self.admission, held, "opened without admission");
                    assert_eq!(self.rules.halt, None, "opened after a halt");
                    of_streams.push(StreamAction::Open { stream, heavy });
                }
                Action::Stop(stream) => of_streams.push(StreamAction::Stop(stream)),
                Action::Finalize => {
                    assert!(!self.is_finalizing, "finalized twice");
                    self.is_finalizing = true;
                }
                Action::Publish(publication) => {
                    assert!(self.publication.is_none(), "published twice");
                    self.publication = Some(*publication);
                }
            }
        }
        assert_eq!(self.state.is_cancelled, self.rules.is_cancelled);
        assert_eq!(self.state.is_abandoned, self.rules.is_abandoned);
        of_streams
    }

    fn feed(&mut self, event: Event) -> Vec<Action> {
        self.note(format!("{event:?}"));
        let actions = self.state.on(event, self.now());
        for action in &actions {
            self.note(format!("    {action:?}"));
        }
        actions
    }

    pub(super) fn is_halted(&self) -> bool {
        self.rules.halt.is_some()
    }

    pub(super) fn finish(&mut self, random: &mut Random, failure: Option<String>) -> Outcome {
        for _ in 0..random.pick(&[0, 1, 40]) {
            assert!(self.step(random).is_empty(), "there are no streams");
        }
        if failure.is_some() {
            self.seen.push("not_finalized");
        }
        self.on(random, Event::Finalized { failure });
        let publication = self.publication.clone().expect("it was finalized");
        self.check_reasons(&publication);
        let is_complete = publication.is_complete();
        assert_eq!(self.state.can_be_joined(), is_complete);
        self.too_late();
        publication
    }

    fn check_reasons(&self, publication: &Outcome) {
        for missing in &publication.missing {
            let reason = &missing.reason;
            let is_of_the_execution =
                reason.starts_with("the query was ") || reason.starts_with("too many ");
            assert!(
                !is_of_the_execution || self.rules.halt.as_ref() == Some(reason),
                "{reason}, but {:?}",
                self.rules.halt
            );
        }
    }

    fn too_late(&mut self) {
        let reason = "late".to_owned();
        let streams = [
            StreamEvent::End(End::default()),
            StreamEvent::Lost(reason),
            StreamEvent::Refused(BadQuery::new("late")),
            StreamEvent::Heavy,
        ];
        let mut events = vec![
            Event::Start,
            Event::Join { deadline: None },
            Event::Leave {
                client: 0,
                grace: Duration::ZERO,
            },
            Event::Cancel,
            Event::Timer,
            Event::Admitted { heavy: true },
            Event::Shed,
            Event::Finalized { failure: None },
        ];
        for stream in 0..self.scenario.scripts.len() {
            events.extend(streams.iter().cloned().map(|it| Event::Stream(stream, it)));
        }
        for event in events {
            assert_eq!(self.state.on(event, self.now()), []);
        }
    }

    pub(super) fn now(&self) -> Now {
        let elapsed = Duration::from_millis(self.step as u64);
        Now {
            instant: self.start + elapsed,
            time: SystemTime::UNIX_EPOCH + elapsed,
        }
    }

    /// Printed if a seed is played alone.
    fn note(&mut self, what: String) {
        let line = format!("{:>5} {what}", self.step);
        if super::variable("TRAWL_SEEDS") == Some(1) {
            eprintln!("{line}");
        }
        self.story.push(line);
    }
}

fn deadline(now: Instant, timeout: usize) -> Deadline {
    let timeout = Duration::from_millis(timeout as u64);
    Deadline {
        at: now + timeout,
        timeout,
    }
}

fn wait(random: &mut Random) -> usize {
    let most = random.pick(&[5, 5, 60]);
    1 + random.below(most)
}
