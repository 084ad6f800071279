//! Circuit breaker for a failing dependency.
//!
//! Opens after five failures in a row, or if less than half of at least twenty calls in ten seconds
//! succeeded: for a second, then twice as long each time up to a maximum, with jitter. Then a probe
//! call goes through; its success closes it. Excess concurrent calls are refused. `Circuit` decides
//! (pure); `Breaker` has clock, lock and metrics.

use super::outcome::random;
use crate::sync::lock;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const FAILURES_MAX: u32 = 5;

/// Seconds over which calls are counted.
const WINDOW: usize = 10;

/// Fewer calls say nothing about their success rate.
const CALLS_MIN: u32 = 20;

const OPEN_MIN: Duration = Duration::from_secs(1);

/// Longest time open by default, even if the dependency asks for more.
const OPEN_MAX: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    #[default]
    Closed,
    Open {
        until: Duration,
    },
    /// One call goes through.
    HalfOpen {
        is_probing: bool,
    },
}

type Reason = &'static str;

const IN_A_ROW: Reason = "in_a_row";
const SHARE: Reason = "share";
const PROBE: Reason = "probe";
const QUEUE: Reason = "queue";

#[derive(Clone, Copy, Debug)]
enum Ended {
    Succeeded,
    /// The dependency may ask for a pause.
    Failed(Option<Duration>),
    /// Outcome unknown: the caller has left.
    Cancelled,
}

/// Pure: the time is passed in.
#[derive(Debug, Default)]
struct Circuit {
    position: Position,
    calls_max: usize,
    open_max: Duration,
    calls: usize,
    in_a_row: u32,
    trips: u32,
    buckets: [(u64, u32, u32); WINDOW],
}

impl Circuit {
    fn new(calls_max: usize, open_max: Duration) -> Circuit {
        Circuit {
            calls_max,
            open_max,
            ..Circuit::default()
        }
    }

    /// Admits a call, true for a probe, or returns the wait.
    fn admit(&mut self, now: Duration) -> Result<bool, (Duration, Reason)> {
        if let Position::Open { until } = self.position
            && now >= until
        {
            self.position = Position::HalfOpen { is_probing: false };
        }
        let is_probe = match self.position {
            Position::Open { until } => return Err((until - now, IN_A_ROW)),
            Position::HalfOpen { is_probing: true } => return Err((OPEN_MIN, PROBE)),
            Position::HalfOpen { is_probing: false } => true,
            Position::Closed => false,
        };
        if self.calls >= self.calls_max {
            return Err((OPEN_MIN, QUEUE));
        }
        if is_probe {
            self.position = Position::HalfOpen { is_probing: true };
        }
        self.calls += 1;
        Ok(is_probe)
    }

    /// Records the end of a call. Returns the reason if that opens the breaker.
    fn end(&mut self, is_probe: bool, ended: Ended, now: Duration, random: u32) -> Option<Reason> {
        self.calls -= 1;
        match (self.position, ended) {
            (Position::HalfOpen { .. }, Ended::Succeeded) if is_probe => {
                *self = Circuit {
                    calls: self.calls,
                    ..Circuit::new(self.calls_max, self.open_max)
                };
                None
            }
            (Position::HalfOpen { .. }, Ended::Failed(retry_after)) if is_probe => {
                self.open(now, retry_after, random);
                Some(PROBE)
            }
            (Position::HalfOpen { .. }, Ended::Cancelled) if is_probe => {
                self.position = Position::HalfOpen { is_probing: false };
                None
            }
            (Position::Closed, Ended::Succeeded) => {
                self.in_a_row = 0;
                self.count(now, 0);
                None
            }
            (Position::Closed, Ended::Failed(retry_after)) => {
                self.in_a_row += 1;
                self.count(now, 1);
                let reason = self.fault(now)?;
                self.open(now, retry_after, random);
                Some(reason)
            }
            _ => None,
        }
    }

    fn open(&mut self, now: Duration, retry_after: Option<Duration>, random: u32) {
        let time = (OPEN_MIN * (1 << self.trips.min(5))).min(self.open_max);
        let time = time - time.mul_f64(f64::from(random) / f64::from(u32::MAX) / 2.0);
        let asked = retry_after.unwrap_or_default().min(self.open_max);
        self.trips += 1;
        self.position = Position::Open {
            until: now + time.max(asked),
        };
    }

    fn count(&mut self, now: Duration, failures: u32) {
        let second = now.as_secs();
        let bucket = &mut self.buckets[second as usize % WINDOW];
        if bucket.0 != second {
            *bucket = (second, 0, 0);
        }
        bucket.1 += 1;
        bucket.2 += failures;
    }

    fn fault(&self, now: Duration) -> Option<Reason> {
        if self.in_a_row >= FAILURES_MAX {
            return Some(IN_A_ROW);
        }
        let recent = |bucket: &&(u64, u32, u32)| now.as_secs() - bucket.0 < WINDOW as u64;
        let recent = self.buckets.iter().filter(recent);
        let (calls, failures) = recent.fold((0, 0), |(calls, failures), bucket| {
            (calls + bucket.1, failures + bucket.2)
        });
        (calls >= CALLS_MIN && 2 * failures > calls).then_some(SHARE)
    }

    /// 0: closed; 1: half-open; 2: open.
    fn level(&self) -> f64 {
        match self.position {
            Position::Closed => 0.0,
            Position::HalfOpen { .. } => 1.0,
            Position::Open { .. } => 2.0,
        }
    }
}

#[derive(Debug)]
pub struct Breaker {
    dependency: &'static str,
    began: Instant,
    circuit: Mutex<Circuit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    pub retry_after: Duration,
}

impl Breaker {
    /// Starts closed. `dependency` names it in metrics.
    pub fn new(dependency: &'static str, calls_max: usize) -> Arc<Breaker> {
        Breaker::with_open_max(dependency, calls_max, OPEN_MAX)
    }

    pub fn with_open_max(
        dependency: &'static str,
        calls_max: usize,
        open_max: Duration,
    ) -> Arc<Breaker> {
        Arc::new(Breaker {
            dependency,
            began: Instant::now(),
            circuit: Mutex::new(Circuit::new(calls_max, open_max)),
        })
    }

    pub fn admit(self: &Arc<Self>) -> Result<Call, Refused> {
        let mut circuit = lock(&self.circuit);
        let admitted = circuit.admit(self.began.elapsed());
        self.show(&circuit);
        match admitted {
            Ok(is_probe) => Ok(Call {
                breaker: Arc::clone(self),
                is_probe,
                is_ended: false,
            }),
            Err((retry_after, reason)) => {
                if reason == QUEUE {
                    self.count(reason);
                }
                Err(Refused { retry_after })
            }
        }
    }

    fn end(&self, is_probe: bool, ended: Ended) {
        let mut circuit = lock(&self.circuit);
        let opened = circuit.end(is_probe, ended, self.began.elapsed(), random());
        self.show(&circuit);
        drop(circuit);
        if let Some(reason) = opened {
            self.count(reason);
            tracing::warn!(
                dependency = self.dependency,
                reason,
                "it fails, and is not called for a while"
            );
        }
    }

    fn show(&self, circuit: &Circuit) {
        ::metrics::gauge!("trawl_frontend_breaker_state", "dependency" => self.dependency)
            .set(circuit.level());
    }

    fn count(&self, reason: Reason) {
        ::metrics::counter!("trawl_frontend_breaker_trips_total", "dependency" => self.dependency, "reason" => reason)
            .increment(1);
    }
}

/// An admitted call. Dropping it records no outcome.
#[derive(Debug)]
pub struct Call {
    breaker: Arc<Breaker>,
    is_probe: bool,
    is_ended: bool,
}

impl Call {
    pub fn succeeded(mut self) {
        self.end(Ended::Succeeded);
    }

    /// Records a failure. A requested pause counts up to the longest time open.
    pub fn failed(mut self, retry_after: Option<Duration>) {
        self.end(Ended::Failed(retry_after));
    }

    fn end(&mut self, ended: Ended) {
        if !std::mem::replace(&mut self.is_ended, true) {
            self.breaker.end(self.is_probe, ended);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.end(Ended::Cancelled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);
    const FAILED: Ended = Ended::Failed(None);

    fn call(circuit: &mut Circuit, ended: Ended, now: Duration) -> Option<Reason> {
        let is_probe = circuit.admit(now).unwrap();
        circuit.end(is_probe, ended, now, 0)
    }

    fn opened() -> Circuit {
        let mut circuit = Circuit::new(100, OPEN_MAX);
        for _ in 1..FAILURES_MAX {
            assert_eq!(call(&mut circuit, FAILED, 10 * S), None);
        }
        assert_eq!(call(&mut circuit, FAILED, 10 * S), Some(IN_A_ROW));
        circuit
    }

    #[test]
    fn five_failures_in_a_row_open_it_and_one_probe_closes_it() {
        let mut circuit = opened();
        assert_eq!(circuit.admit(10 * S), Err((S, IN_A_ROW)));
        assert_eq!(circuit.admit(11 * S), Ok(true), "a probe");
        assert!(circuit.admit(11 * S).is_err(), "one probe at once");
        assert_eq!(circuit.end(true, Ended::Succeeded, 11 * S, 0), None);
        assert_eq!(circuit.admit(11 * S), Ok(false));
        assert_eq!(circuit.position, Position::Closed);
    }

    fn open_times(mut circuit: Circuit, random: u32) -> Vec<u128> {
        let (mut now, mut times) = (10 * S, Vec::new());
        for _ in 0..8 {
            let Position::Open { until } = circuit.position else {
                panic!("{circuit:?}");
            };
            times.push((until - now).as_millis());
            now = until;
            assert_eq!(circuit.admit(now), Ok(true), "a probe");
            assert!(circuit.admit(now).is_err(), "one probe at once");
            let reason = circuit.end(true, FAILED, now, random);
            assert_eq!(reason, Some(PROBE));
        }
        times
    }

    #[test]
    fn failing_probes_double_the_time_up_to_half_a_minute() {
        let times = open_times(opened(), 0);
        let expected = [1, 2, 4, 8, 16, 30, 30, 30].map(|seconds| seconds * 1000);
        assert_eq!(times, expected);
    }

    #[test]
    fn a_dependency_with_a_bound_of_its_own_is_tried_that_often_and_never_twice_at_once() {
        let mut circuit = opened();
        circuit.open_max = 2 * S;
        assert_eq!(open_times(circuit, 0)[..4], [1000, 2000, 2000, 2000]);
        let mut circuit = opened();
        circuit.open_max = 2 * S;
        let shortest = open_times(circuit, u32::MAX);
        assert_eq!(shortest[..4], [1000, 1000, 1000, 1000]);
    }

    #[test]
    fn most_calls_of_ten_seconds_failing_open_it() {
        let mut circuit = Circuit::new(100, OPEN_MAX);
        for number in 0..30 {
            let now = 20 * S + S * number / 3;
            let ended = if number % 3 == 0 {
                Ended::Succeeded
            } else {
                FAILED
            };
            let opened = call(&mut circuit, ended, now);
            if number >= CALLS_MIN - 1 {
                assert_eq!(opened, Some(SHARE), "{number}");
                return;
            }
            assert_eq!(opened, None, "{number}");
        }
    }

    #[test]
    fn failures_that_are_long_ago_do_not_count() {
        let mut circuit = Circuit::new(100, OPEN_MAX);
        for number in 0..200 {
            let ended = if number % 3 == 0 {
                Ended::Succeeded
            } else {
                FAILED
            };
            assert_eq!(call(&mut circuit, ended, S * number), None, "{number}");
        }
    }

    #[test]
    fn a_dependency_may_ask_for_a_pause_of_half_a_minute_at_most() {
        for (asked, open) in [(7, 7), (3600, 30)] {
            let mut circuit = Circuit::new(100, OPEN_MAX);
            (0..FAILURES_MAX).for_each(|_| {
                call(&mut circuit, Ended::Failed(Some(asked * S)), S);
            });
            assert_eq!(
                circuit.position,
                Position::Open {
                    until: S + open * S
                }
            );
        }
    }

    #[test]
    fn a_probe_whose_caller_left_leaves_room_for_another() {
        let mut circuit = opened();
        assert_eq!(call(&mut circuit, Ended::Cancelled, 12 * S), None);
        assert_eq!(circuit.admit(12 * S), Ok(true));
    }

    #[test]
    fn too_many_calls_at_once_are_refused() {
        let breaker = Breaker::new("test", 2);
        let calls = [breaker.admit().unwrap(), breaker.admit().unwrap()];
        assert_eq!(breaker.admit().unwrap_err().retry_after, S);
        drop(calls);
        breaker.admit().unwrap().succeeded();
    }
}
