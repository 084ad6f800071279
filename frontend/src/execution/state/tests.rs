#![allow(clippy::disallowed_methods)]
use super::*;
use query::BadQuery;
use std::time::SystemTime;

const TIMEOUT: Duration = Duration::from_secs(10);

struct Machine {
    state: ExecutionState,
    created: Instant,
    seconds: u64,
}

impl Machine {
    fn new(streams: usize) -> Machine {
        let created = Instant::now();
        let assignments = (0..streams).map(|stream| assignment(stream, 1)).collect();
        let state = ExecutionState::new(assignments, Vec::new(), deadline(created), created);
        let mut machine = Machine {
            state,
            created,
            seconds: 0,
        };
        machine.on(Event::Join { deadline: None });
        machine
    }

    fn admitted(streams: usize, heavy: bool) -> Machine {
        let mut machine = Machine::new(streams);
        assert_eq!(machine.on(Event::Start), [Action::Acquire]);
        let open = |stream| Action::Open { stream, heavy };
        let opened: Vec<_> = (0..streams).map(open).collect();
        assert_eq!(machine.on(Event::Admitted { heavy }), opened);
        machine
    }

    /// Waits for a slot, since all backends find the query heavy.
    fn queued(streams: usize) -> Machine {
        let mut machine = Machine::admitted(streams, false);
        let first = machine.on_stream(0, StreamEvent::Heavy);
        assert_eq!(first, [Action::AcquireHeavy]);
        for stream in 1..streams {
            assert_eq!(machine.on_stream(stream, StreamEvent::Heavy), []);
        }
        machine
    }

    fn on(&mut self, event: Event) -> Vec<Action> {
        let now = Now {
            instant: self.now(),
            time: SystemTime::UNIX_EPOCH + Duration::from_secs(self.seconds),
        };
        let mut actions = self.state.on(event, now);
        actions.retain(|action| !matches!(action, Action::SetTimer(_)));
        actions
    }

    fn on_stream(&mut self, stream: usize, event: StreamEvent) -> Vec<Action> {
        self.on(Event::Stream(stream, event))
    }

    fn now(&self) -> Instant {
        self.created + Duration::from_secs(self.seconds)
    }

    fn timer(&self) -> Option<u64> {
        self.state.timer.map(|at| (at - self.created).as_secs())
    }

    fn wait_until(&mut self, seconds: u64) -> Vec<Action> {
        self.seconds = seconds;
        self.on(Event::Timer)
    }

    fn leave(&mut self, grace_s: u64) {
        let grace = Duration::from_secs(grace_s);
        assert_eq!(self.on(Event::Leave { client: 0, grace }), []);
    }

    fn join(&mut self) {
        assert_eq!(self.on(Event::Join { deadline: None }), []);
    }

    fn withdraw(&mut self, client: ClientKey, open: usize) -> Vec<Action> {
        self.on(Event::Withdraw { client, open })
    }

    fn join_until(&mut self, seconds: u64) {
        let deadline = Some(Deadline {
            at: self.created + Duration::from_secs(seconds),
            timeout: Duration::from_secs(seconds),
        });
        assert_eq!(self.on(Event::Join { deadline }), []);
    }

    fn publish(&mut self) -> Outcome {
        let actions = self.on(Event::Finalized { failure: None });
        publication(&actions)
    }

    fn finish(&mut self) -> Outcome {
        let streams = self.state.streams.len();
        for stream in 0..streams {
            let actions = self.on_stream(stream, StreamEvent::End(End::default()));
            assert_eq!(actions.contains(&Action::Finalize), stream + 1 == streams);
        }
        self.publish()
    }
}

fn publication(actions: &[Action]) -> Outcome {
    let [Action::Publish(publication)] = actions else {
        panic!("{actions:?}");
    };
    Outcome::clone(publication)
}

fn deadline(now: Instant) -> Deadline {
    Deadline {
        at: now + TIMEOUT,
        timeout: TIMEOUT,
    }
}

fn assignment(stream: usize, shards: usize) -> Assignment {
    let shard = |shard| [(stream * 16 + shard) as u8; 32];
    Assignment {
        backend: format!("backend {stream}"),
        shards: (0..shards).map(shard).collect(),
        documents: vec![10; shards],
        excluded: Vec::new(),
        visible: None,
        replicas: Vec::new(),
    }
}

fn lost(reason: &str) -> StreamEvent {
    StreamEvent::Lost(reason.to_owned())
}

fn reasons(publication: &Outcome) -> Vec<&str> {
    let missing = publication.missing.iter();
    missing.map(|missing| missing.reason.as_str()).collect()
}

#[test]
fn finishes_at_once_without_backends() {
    let missing = Missing {
        backend: "b".to_owned(),
        reason: "connection refused".to_owned(),
        shards: Vec::new(),
        since: SystemTime::UNIX_EPOCH,
    };
    let mut machine = Machine::new(0);
    machine.state.outcome.missing.push(missing.clone());
    machine.state.missing_before = 1;
    assert_eq!(machine.on(Event::Start), [Action::Finalize]);
    let failure = Some("the disk is full".to_owned());
    let actions = machine.on(Event::Finalized { failure });
    assert_eq!(publication(&actions).missing, [missing]);
}

#[test]
fn streams_open_when_the_execution_is_admitted() {
    Machine::admitted(2, true);
    let mut machine = Machine::admitted(2, false);
    assert_eq!(machine.on(Event::Admitted { heavy: false }), [], "once");
    let publication = machine.finish();
    assert!(publication.is_complete());
}

#[test]
fn stream_of_a_heavy_query_is_opened_again_with_a_slot() {
    let mut machine = Machine::queued(2);
    machine.on_stream(1, lost("connection reset"));
    let actions = machine.on(Event::Admitted { heavy: true });
    let (stream, heavy) = (0, true);
    assert_eq!(actions, [Action::Open { stream, heavy }]);
}

#[test]
fn stream_that_waits_late_is_opened_at_once() {
    let mut machine = Machine::admitted(2, false);
    machine.on_stream(0, StreamEvent::Heavy);
    machine.on(Event::Admitted { heavy: true });
    let (stream, heavy) = (1, true);
    let actions = machine.on_stream(1, StreamEvent::Heavy);
    assert_eq!(actions, [Action::Open { stream, heavy }]);
}

#[test]
fn shed_execution_ends_without_the_streams_that_wait() {
    let mut machine = Machine::queued(2);
    assert_eq!(machine.on(Event::Shed), [Action::Finalize]);
    let publication = machine.publish();
    assert!(publication.shed);
    assert_eq!(publication.missing.len(), 2);
}

#[test]
fn first_halt_names_the_reason_of_all_streams_that_it_stopped() {
    let mut machine = Machine::admitted(2, true);
    let stop = [Action::Stop(0), Action::Stop(1)];
    assert_eq!(machine.on(Event::Cancel), stop);
    assert_eq!(machine.wait_until(10), [], "the deadline comes second");
    assert_eq!(machine.on_stream(1, lost("connection reset")), []);
    let actions = machine.on_stream(0, StreamEvent::End(End::default()));
    assert_eq!(actions, [Action::Finalize]);
    let publication = machine.publish();
    let reasons = reasons(&publication);
    assert_eq!(reasons, ["the query was cancelled"], "stream 0 ended well");
}

#[test]
fn a_client_that_withdraws_ends_only_its_own_interest() {
    // The machine's first client stays.
    let mut machine = Machine::admitted(1, true);
    machine.join();
    assert_eq!(machine.withdraw(7, 1), [], "another client waits");
    machine.leave(0);
    assert!(machine.state.can_be_joined());
    // Now it has left, but may return.
    let grace = Duration::from_secs(30);
    machine.on(Event::Leave { client: 1, grace });
    assert_eq!(machine.withdraw(7, 0), [], "another client may come back");
    assert_eq!(machine.withdraw(1, 0), [Action::Stop(0)]);
    assert!(machine.state.is_cancelled && !machine.state.is_abandoned);
}

#[test]
fn the_only_client_that_withdraws_cancels() {
    let mut machine = Machine::admitted(1, true);
    assert_eq!(machine.withdraw(7, 1), [Action::Stop(0)]);
    machine.on_stream(0, lost("stopped"));
    let publication = machine.publish();
    assert_eq!(reasons(&publication), ["the query was cancelled"]);
}

#[test]
fn heavy_stream_is_missing_after_a_halt() {
    let mut machine = Machine::admitted(1, false);
    machine.on(Event::Cancel);
    let actions = machine.on_stream(0, StreamEvent::Heavy);
    assert_eq!(actions, [Action::Finalize]);
    assert_eq!(reasons(&machine.publish()), ["the query was cancelled"]);
}

#[test]
fn cancelled_execution_opens_no_stream() {
    let mut machine = Machine::new(2);
    machine.on(Event::Start);
    assert_eq!(machine.on(Event::Cancel), [Action::Finalize]);
    assert_eq!(machine.on(Event::Admitted { heavy: true }), []);
    assert_eq!(machine.publish().missing.len(), 2);
}

#[test]
fn refused_query_stops_the_other_streams() {
    let mut machine = Machine::admitted(2, true);
    let bad = BadQuery::new("too long");
    let actions = machine.on_stream(0, StreamEvent::Refused(bad.clone()));
    assert_eq!(actions, [Action::Stop(1)]);
    machine.on_stream(1, lost("the query was stopped"));
    assert_eq!(machine.publish().refused, Some(bad));
}

#[test]
fn last_client_that_leaves_takes_the_execution_along() {
    let mut machine = Machine::admitted(1, true);
    machine.join_until(1);
    machine.leave(2);
    assert_eq!(machine.timer(), Some(10), "one is still there");
    machine.leave(1);
    assert_eq!(machine.timer(), Some(2), "the longest grace counts");
    assert_eq!(machine.wait_until(1), [], "too early");
    assert_eq!(machine.timer(), Some(2));
    assert_eq!(machine.wait_until(2), [Action::Stop(0)]);
    assert!(machine.state.is_abandoned && machine.state.is_cancelled);
    machine.on_stream(0, lost("the query was stopped"));
    assert_eq!(reasons(&machine.publish()), ["the query was cancelled"]);
}

#[test]
fn client_that_comes_back_within_the_grace_keeps_the_execution() {
    let mut machine = Machine::admitted(1, true);
    machine.leave(2);
    machine.seconds = 1;
    machine.join_until(1);
    assert_eq!(machine.wait_until(5), []);
    assert!(!machine.state.is_cancelled);
    assert!(machine.finish().is_complete());
}

#[test]
fn execution_that_is_abandoned_while_it_is_finalized_is_complete() {
    let mut machine = Machine::admitted(1, true);
    machine.on_stream(0, StreamEvent::End(End::default()));
    machine.leave(2);
    assert_eq!(machine.wait_until(2), []);
    assert!(machine.publish().is_complete());
    assert!(machine.state.is_abandoned);
}

#[test]
fn deadline_stops_the_streams() {
    let mut machine = Machine::admitted(1, true);
    assert_eq!(machine.timer(), Some(10));
    assert_eq!(machine.wait_until(9), []);
    assert_eq!(machine.wait_until(10), [Action::Stop(0)]);
    assert_eq!(machine.timer(), None);
    machine.on_stream(0, lost("the query was stopped"));
    let reason = "the query was not done within 10s";
    assert_eq!(reasons(&machine.publish()), [reason]);
}

#[test]
fn deadline_ends_the_wait_for_admission() {
    let mut not_started = Machine::new(1);
    not_started.on(Event::Start);
    for mut machine in [not_started, Machine::queued(1)] {
        assert_eq!(machine.wait_until(10), [Action::Finalize]);
        let reason = "the query was not admitted within 10s";
        assert_eq!(reasons(&machine.publish()), [reason]);
    }
}

#[test]
fn client_with_more_time_extends_the_deadline() {
    let mut machine = Machine::admitted(1, true);
    machine.join_until(20);
    machine.join_until(15);
    assert_eq!(machine.timer(), Some(20));
    assert_eq!(machine.wait_until(10), []);
    assert_eq!(machine.wait_until(20), [Action::Stop(0)]);
    machine.on_stream(0, lost("the query was stopped"));
    let reason = "the query was not done within 20s";
    assert_eq!(reasons(&machine.publish()), [reason]);
}

#[test]
fn new_clients_may_join_unless_it_was_cancelled_or_is_incomplete() {
    let mut complete = Machine::admitted(1, true);
    assert!(complete.state.can_be_joined());
    complete.finish();
    assert!(complete.state.can_be_joined());
    let mut cancelled = Machine::admitted(1, true);
    cancelled.on(Event::Cancel);
    assert!(!cancelled.state.can_be_joined());
    let mut incomplete = Machine::admitted(1, true);
    incomplete.on_stream(0, lost("connection reset"));
    assert!(incomplete.state.can_be_joined());
    incomplete.publish();
    assert!(!incomplete.state.can_be_joined());
    let recovered = ExecutionState::finished(Instant::now());
    assert!(recovered.can_be_joined());
}

#[test]
fn time_of_waiting_is_not_counted_as_time_of_the_search() {
    let mut machine = Machine::new(1);
    machine.on(Event::Start);
    machine.seconds = 1;
    machine.on(Event::Admitted { heavy: false });
    machine.seconds = 3;
    machine.on_stream(0, StreamEvent::Heavy);
    machine.seconds = 6;
    machine.on(Event::Admitted { heavy: true });
    machine.seconds = 8;
    let now = machine.now();
    assert_eq!(machine.state.elapsed(now), Duration::from_secs(4));
    let publication = machine.finish();
    assert_eq!(publication.timings.queue, Duration::from_secs(4));
    assert_eq!(publication.timings.stream, Duration::from_secs(4));
}

#[test]
fn failure_to_finalize_is_said_of_every_shard() {
    let missing = Missing {
        backend: "lost before".to_owned(),
        reason: "connection refused".to_owned(),
        shards: Vec::new(),
        since: SystemTime::UNIX_EPOCH,
    };
    let now = Instant::now();
    let assignments = vec![assignment(0, 2), assignment(1, 1)];
    let state = ExecutionState::new(assignments, vec![missing], deadline(now), now);
    let mut machine = Machine {
        state,
        created: now,
        seconds: 0,
    };
    machine.on(Event::Admitted { heavy: true });
    machine.on_stream(0, lost("connection reset"));
    machine.on_stream(1, StreamEvent::End(End::default()));
    let failure = Some("the disk is full".to_owned());
    let publication = publication(&machine.on(Event::Finalized { failure }));
    let reason = "the matches cannot be put in order: the disk is full";
    assert_eq!(reasons(&publication), ["connection refused", reason]);
    let missing = &publication.missing[1];
    assert_eq!((&missing.backend[..], missing.shards.len()), (SPOOL, 3));
}

#[test]
fn events_after_the_result_have_no_effect() {
    let mut machine = Machine::admitted(1, true);
    machine.finish();
    for event in [
        Event::Start,
        Event::Cancel,
        Event::Timer,
        Event::Admitted { heavy: true },
        Event::Shed,
        Event::Finalized { failure: None },
        Event::Stream(0, StreamEvent::Heavy),
        Event::Stream(0, lost("late")),
    ] {
        assert_eq!(machine.on(event), []);
    }
    assert_eq!(machine.timer(), None);
    assert!(!machine.state.is_cancelled);
}
