//! Speed and failures of a backend, learned from the frontend's own requests.
//!
//! Of several replicas, the better of two random draws is asked. Load is an average wait that
//! follows slow answers at once and forgets slowly (peak EWMA), times pending requests.
//!
//! A repeatedly failing backend is *ejected* for some time: others are preferred, without effect on
//! answers. If more than half of a shard's backends are ejected, all are asked. No clock, socket,
//! lock or source of randomness is here.

use std::time::{Duration, Instant};

/// Consecutive failures before ejection.
const FAILURES_MAX: u32 = 5;

const OUTCOMES: u32 = 32;

/// Minimum of successes among them.
const SUCCESSES_MIN: u32 = OUTCOMES / 2;

/// First ejection time, doubled if the next stream fails too.
const EJECTED_MIN: Duration = Duration::from_secs(1);
const EJECTED_MAX: Duration = Duration::from_secs(60);

/// Successes in a row after which ejection times start over.
const RECOVERED: u32 = 2 * OUTCOMES;

/// Time after which an average keeps a third of a slow answer.
const FORGET: Duration = Duration::from_secs(10);

/// Wait charged for a failure, so that fast failures are not preferred.
const FAILED: Duration = Duration::from_secs(1);

const WAITS: usize = 64;

/// Shortest wait before hedging, longer than scheduler pauses.
pub(crate) const HEDGE_AFTER_MIN: Duration = Duration::from_millis(50);

/// Longest wait before hedging: backends that search or queue send PROGRESS every 200 ms.
pub(crate) const HEDGE_AFTER_MAX: Duration = Duration::from_millis(400);

#[derive(Debug, Default)]
pub(crate) struct Health {
    /// Average wait in microseconds, as of `heard`.
    average_us: f64,
    heard: Option<Instant>,
    under_way: u32,
    pub(crate) failures_in_row: u32,
    successes_in_row: u32,
    /// A bit per request, latest lowest; 1 for a success.
    outcomes: u32,
    known_outcomes: u32,
    ejections: u32,
    ejected_until: Option<Instant>,
    /// Ring of the last waits of light searches.
    waits: Vec<Duration>,
    next_wait: usize,
}

impl Health {
    pub(crate) fn begin(&mut self) {
        self.under_way += 1;
    }

    /// The first frame came after `wait`. `is_light` if only the backend's
    /// load can explain a long one.
    pub(crate) fn hear(&mut self, wait: Duration, is_light: bool, now: Instant) {
        self.average(wait, now);
        if !is_light {
            return;
        }
        if self.waits.len() < WAITS {
            self.waits.push(wait);
        } else {
            self.waits[self.next_wait] = wait;
        }
        self.next_wait = (self.next_wait + 1) % WAITS;
    }

    fn average(&mut self, wait: Duration, now: Instant) {
        let wait_us = wait.as_secs_f64() * 1e6;
        self.average_us = wait_us.max(wait_us + (self.average_us - wait_us) * self.kept(now));
        self.heard = Some(now);
    }

    pub(crate) fn succeed(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
        self.failures_in_row = 0;
        self.successes_in_row = self.successes_in_row.saturating_add(1);
        if self.successes_in_row >= RECOVERED {
            self.ejections = 0;
        }
        self.record(true);
    }

    pub(crate) fn end(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    pub(crate) fn fail(&mut self, now: Instant) -> Option<Duration> {
        self.under_way = self.under_way.saturating_sub(1);
        self.average(FAILED, now);
        self.failures_in_row += 1;
        self.successes_in_row = 0;
        self.record(false);
        let fails_often =
            self.known_outcomes == OUTCOMES && self.outcomes.count_ones() < SUCCESSES_MIN;
        if self.is_ejected(now) || self.failures_in_row < FAILURES_MAX && !fails_often {
            return None;
        }
        let time = EJECTED_MIN.saturating_mul(1 << self.ejections.min(16));
        let time = time.min(EJECTED_MAX);
        self.ejections += 1;
        self.ejected_until = Some(now + time);
        // One more failure ejects again.
        self.failures_in_row = FAILURES_MAX - 1;
        self.known_outcomes = 0;
        Some(time)
    }

    fn record(&mut self, is_success: bool) {
        self.outcomes = self.outcomes << 1 | u32::from(is_success);
        self.known_outcomes = OUTCOMES.min(self.known_outcomes + 1);
    }

    pub(crate) fn is_ejected(&self, now: Instant) -> bool {
        self.ejected_until.is_some_and(|until| now < until)
    }

    pub(crate) fn load(&self, now: Instant) -> f64 {
        (self.average_us * self.kept(now) + 1.0) * f64::from(self.under_way + 1)
    }

    fn kept(&self, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.heard.unwrap_or(now));
        (-passed.as_secs_f64() / FORGET.as_secs_f64()).exp()
    }

    /// Wait before hedging: longer than 19 of 20 recent ones.
    pub(crate) fn hedge_after(&self, is_light: bool) -> Duration {
        if !is_light {
            return HEDGE_AFTER_MAX;
        }
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        let usual = waits.get(waits.len() * 19 / 20).copied();
        usual
            .unwrap_or_default()
            .clamp(HEDGE_AFTER_MIN, HEDGE_AFTER_MAX)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Preference {
    places: Vec<usize>,
    ejected: Vec<bool>,
}

impl Preference {
    /// Orders backends by load: each place goes to the better of two draws. `draw` returns a random
    /// number below its argument.
    pub(crate) fn new(
        loads: &[f64],
        ejected: Vec<bool>,
        mut draw: impl FnMut(usize) -> usize,
    ) -> Preference {
        let mut left: Vec<usize> = (0..loads.len()).collect();
        let mut places = vec![0; loads.len()];
        for place in 0..loads.len() {
            let one = draw(left.len());
            // Different, unless only one is left.
            let other = (one + 1 + draw(left.len().max(2) - 1)) % left.len();
            let is_better = loads[left[other]] < loads[left[one]];
            let drawn = left.swap_remove(if is_better { other } else { one });
            places[drawn] = place;
        }
        Preference { places, ejected }
    }

    pub(crate) fn of<'a>(
        &'a self,
        backends: &[usize],
    ) -> impl Fn(usize) -> (bool, usize) + use<'a> {
        let is_ejected = |backend: usize| self.ejected.get(backend).is_some_and(|it| *it);
        let ejected = backends.iter().filter(|&&it| is_ejected(it)).count();
        let are_trusted = 2 * ejected > backends.len();
        move |backend| {
            let place = self.places.get(backend).copied();
            let is_last = is_ejected(backend) && !are_trusted;
            (is_last, place.unwrap_or(usize::MAX))
        }
    }
}

/// Pseudorandom numbers from a seed (SplitMix64).
pub(crate) fn draws(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |sides| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % sides as u64) as usize
    }
}

const HEDGES_PER_REQUEST: f64 = 0.05;

#[derive(Debug)]
pub(crate) struct HedgeBudget {
    hedges: f64,
    max: f64,
}

impl HedgeBudget {
    pub(crate) fn new(max: u32) -> HedgeBudget {
        let max = f64::from(max);
        HedgeBudget { hedges: max, max }
    }

    pub(crate) fn add(&mut self) {
        self.hedges = self.max.min(self.hedges + HEDGES_PER_REQUEST);
    }

    pub(crate) fn take(&mut self) -> bool {
        let is_enough = self.hedges >= 1.0;
        if is_enough {
            self.hedges -= 1.0;
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Preference {
        pub(crate) fn in_order(order: &[usize]) -> Preference {
            let backends = order.iter().max().map_or(0, |last| last + 1);
            let place = |backend| order.iter().position(|it| *it == backend);
            Preference {
                places: (0..backends)
                    .map(|it| place(it).unwrap_or(usize::MAX))
                    .collect(),
                ejected: vec![false; backends],
            }
        }
    }

    const MS: Duration = Duration::from_millis(1);

    fn start() -> (Health, Instant) {
        let now = Instant::now();
        (Health::default(), now)
    }

    /// Applies failures (`-`) and successes (`+`). Returns ejections with their seconds.
    fn ejections(outcomes: &str) -> Vec<(usize, u64)> {
        let (mut health, mut now) = start();
        let mut found = Vec::new();
        for (number, outcome) in (1..).zip(outcomes.chars()) {
            health.begin();
            if outcome == '+' {
                health.succeed();
            } else if let Some(time) = health.fail(now) {
                assert!(health.is_ejected(now) && health.is_ejected(now + time - MS));
                assert!(!health.is_ejected(now + time));
                now += time;
                found.push((number, time.as_secs()));
            }
        }
        found
    }

    #[test]
    fn five_failures_in_a_row_eject_for_a_time_that_grows() {
        assert_eq!(ejections("----+----+----"), []);
        assert_eq!(ejections("+-----"), [(6, 1)]);
        assert_eq!(ejections(&"-".repeat(7)), [(5, 1), (6, 2), (7, 4)]);
        assert_eq!(ejections("-----+-----"), [(5, 1), (11, 2)]);
        let times = ejections(&"-".repeat(13));
        let times: Vec<u64> = times.iter().map(|it| it.1).collect();
        assert_eq!(times, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        let recovered = format!("-----{}-----", "+".repeat(RECOVERED as usize));
        assert_eq!(ejections(&recovered).last().map(|it| it.1), Some(1));
        let not_yet = format!("-----{}-----", "+".repeat(RECOVERED as usize - 1));
        assert_eq!(ejections(&not_yet).last().map(|it| it.1), Some(2));
    }

    #[test]
    fn a_low_rate_of_successes_ejects() {
        assert_eq!(ejections(&"+-".repeat(40)), []);
        assert_eq!(ejections(&"--+".repeat(11)), [(32, 1)]);
    }

    #[test]
    fn a_backend_that_is_ejected_is_not_ejected_again() {
        let (mut health, now) = start();
        let ejected: Vec<_> = (0..9).filter_map(|_| health.fail(now)).collect();
        assert_eq!(ejected, [EJECTED_MIN]);
    }

    #[test]
    fn the_load_follows_a_slow_answer_at_once_and_forgets_it_slowly() {
        let (mut health, now) = start();
        health.hear(MS, true, now);
        health.hear(100 * MS, true, now);
        assert_eq!(health.load(now), 100_001.0);
        health.hear(MS, true, now + MS);
        assert!((95_000.0..100_001.0).contains(&health.load(now + MS)));
        health.hear(MS, true, now + FORGET);
        let later = health.load(now + FORGET);
        assert!((30_000.0..40_000.0).contains(&later), "{later}");
        health.begin();
        assert_eq!(health.load(now + FORGET), 2.0 * later);
        health.end();
        assert_eq!(health.load(now + FORGET), later);
        assert!(health.load(now + 20 * FORGET) < 2.0);
    }

    #[test]
    fn what_fails_fast_is_not_preferred() {
        let (mut failing, now) = start();
        let (mut other, _) = start();
        other.hear(300 * MS, true, now);
        failing.begin();
        failing.fail(now);
        assert!(failing.load(now) > other.load(now));
        let loads = [failing.load(now), other.load(now)];
        for seed in 0..50 {
            let preference = Preference::new(&loads, vec![false; 2], draws(seed));
            let order = preference.of(&[0, 1]);
            assert!(order(1) < order(0));
        }
    }

    #[test]
    fn a_hedge_waits_longer_than_most_answers_do() {
        let (mut health, now) = start();
        assert_eq!(health.hedge_after(true), HEDGE_AFTER_MIN);
        assert_eq!(health.hedge_after(false), HEDGE_AFTER_MAX);
        for wait in 0..100 {
            health.hear((100 + wait) * MS, true, now);
        }
        // Waits of 136 to 199 ms are remembered.
        assert_eq!(health.hedge_after(true), 196 * MS);
        (0..62).for_each(|_| health.hear(MS, true, now));
        assert_eq!(health.hedge_after(true), HEDGE_AFTER_MIN);
        (0..64).for_each(|_| health.hear(5000 * MS, false, now));
        assert_eq!(health.hedge_after(true), HEDGE_AFTER_MIN);
        (0..64).for_each(|_| health.hear(5000 * MS, true, now));
        assert_eq!(health.hedge_after(true), HEDGE_AFTER_MAX);
    }

    #[test]
    fn hedges_are_a_twentieth_of_the_requests() {
        let mut budget = HedgeBudget::new(10);
        let mut hedges = 0;
        for _ in 0..10_000 {
            budget.add();
            hedges += u32::from(budget.take());
        }
        assert!((500..=511).contains(&hedges), "{hedges}");
        (0..10_000).for_each(|_| budget.add());
        assert_eq!((0..100).filter(|_| budget.take()).count(), 10);
        let mut none = HedgeBudget::new(0);
        assert!((0..100).all(|_| {
            none.add();
            !none.take()
        }));
    }

    #[test]
    fn backends_with_a_lower_load_come_first_more_often() {
        let mut draw = draws(7);
        let mut first = [0; 3];
        for _ in 0..300 {
            let preference = Preference::new(&[1.0, 2.0, 2.0], vec![false; 3], &mut draw);
            let order = preference.of(&[0, 1, 2]);
            let best = (0..3).min_by_key(|&backend| order(backend)).unwrap();
            first[best] += 1;
            let mut places: Vec<_> = (0..3).map(order).collect();
            places.sort_unstable();
            assert_eq!(places, [(false, 0), (false, 1), (false, 2)]);
        }
        assert!(first[0] > first[1] && first[0] > first[2], "{first:?}");
        assert!(first[1] > 0 && first[2] > 0, "{first:?}");
    }

    #[test]
    fn at_most_half_of_the_backends_of_a_shard_are_avoided() {
        let avoided = |ejected: &[usize], backends: &[usize]| -> Vec<usize> {
            let flags = (0..4).map(|it| ejected.contains(&it)).collect();
            let preference = Preference::new(&[1.0; 4], flags, draws(7));
            let order = preference.of(backends);
            let mut avoided = backends.to_vec();
            avoided.retain(|&it| order(it).0);
            avoided
        };
        assert_eq!(avoided(&[0], &[0, 1]), [0]);
        assert!(avoided(&[0, 1], &[0, 1]).is_empty());
        assert_eq!(avoided(&[0], &[0, 1, 2]), [0]);
        assert!(avoided(&[0, 2], &[0, 1, 2]).is_empty());
        assert_eq!(avoided(&[0, 2], &[0, 1, 2, 3]), [0, 2]);
        assert!(avoided(&[0], &[0]).is_empty());
    }
}
