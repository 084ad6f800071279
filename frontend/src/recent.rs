//! Times of the last hour's queries, and the slowest ones.
//!
//! Counted by minute in buckets that grow by a quarter, so percentiles are at most that much too
//! high. Query texts are not kept. **Invariant:** memory does not depend on the number of queries.

use cache::lock;
use results::SearchResult;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const MINUTES: usize = 60;

/// Buckets: the first ends at 100 µs, each is a quarter longer, the last begins beyond a minute.
const BUCKETS: usize = 64;
const FIRST_US: f64 = 100.0;
const GROWTH: f64 = 1.25;

const SLOWEST_MAX: usize = 10;

#[derive(Debug)]
pub(crate) struct RecentQueries {
    started: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    minutes: Vec<Minute>,
    slowest: Vec<SlowQuery>,
}

#[derive(Clone, Debug)]
struct Minute {
    number: u64,
    counts: [u32; BUCKETS],
}

impl Minute {
    fn new(number: u64) -> Minute {
        let counts = [0; BUCKETS];
        Minute { number, counts }
    }
}

/// Summary of the last hour.
#[derive(Clone, Debug, Default)]
pub struct QueryTimes {
    /// Completed queries; cached answers do not count.
    pub count: u64,
    /// Median time.
    pub p50: Duration,
    /// 90th percentile.
    pub p90: Duration,
    /// 99th percentile.
    pub p99: Duration,
    pub slowest: Vec<SlowQuery>,
}

#[derive(Clone, Debug)]
pub struct SlowQuery {
    pub ended: Instant,
    /// From start to complete result.
    pub took: Duration,
    /// Blocks that the index could not rule out.
    pub candidates: u64,
    /// All blocks of the searched shards.
    pub blocks: u64,
    pub verified_bytes: u64,
    pub found: u64,
    /// All backends answered.
    pub is_complete: bool,
}

impl Default for RecentQueries {
    fn default() -> Self {
        RecentQueries {
            started: Instant::now(),
            state: Mutex::new(State {
                minutes: vec![Minute::new(0); MINUTES],
                slowest: Vec::new(),
            }),
        }
    }
}

impl RecentQueries {
    pub(crate) fn record(&self, answer: &SearchResult) {
        let explain = answer.explain();
        self.add(SlowQuery {
            ended: Instant::now(),
            took: answer.outcome.timings.total(),
            candidates: explain.sum.candidates,
            blocks: explain.sum.blocks,
            verified_bytes: explain.sum.verified_bytes,
            found: answer.found(),
            is_complete: answer.is_complete(),
        });
    }

    fn add(&self, query: SlowQuery) {
        let now = self.minute(query.ended);
        let mut state = lock(&self.state);
        let minute = &mut state.minutes[(now % MINUTES as u64) as usize];
        if minute.number != now {
            *minute = Minute::new(now);
        }
        let count = &mut minute.counts[bucket(query.took)];
        *count = count.saturating_add(1);
        let (oldest, slowest) = (oldest(now), &mut state.slowest);
        slowest.retain(|other| self.minute(other.ended) >= oldest);
        let at = slowest.partition_point(|other| other.took >= query.took);
        slowest.insert(at, query);
        slowest.truncate(SLOWEST_MAX);
    }

    pub(crate) fn times(&self, now: Instant) -> QueryTimes {
        let oldest = oldest(self.minute(now));
        let state = lock(&self.state);
        let mut counts = [0_u64; BUCKETS];
        let minutes = state.minutes.iter();
        for minute in minutes.filter(|minute| minute.number >= oldest) {
            for (sum, count) in counts.iter_mut().zip(minute.counts) {
                *sum += u64::from(count);
            }
        }
        let recent = state.slowest.iter();
        let recent = recent.filter(|query| self.minute(query.ended) >= oldest);
        QueryTimes {
            count: counts.iter().sum(),
            p50: percentile(&counts, 50),
            p90: percentile(&counts, 90),
            p99: percentile(&counts, 99),
            slowest: recent.cloned().collect(),
        }
    }

    fn minute(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.started).as_secs() / 60
    }
}

fn oldest(now: u64) -> u64 {
    now.saturating_sub(MINUTES as u64 - 1)
}

fn bucket(took: Duration) -> usize {
    let steps = (took.as_secs_f64() * 1e6 / FIRST_US).log(GROWTH).ceil();
    (steps.max(0.0) as usize).min(BUCKETS - 1)
}

/// End of its bucket; 0 without counts.
fn percentile(counts: &[u64; BUCKETS], percent: u64) -> Duration {
    let wanted = (counts.iter().sum::<u64>() * percent).div_ceil(100);
    let mut seen = 0;
    let reaches = |count: &u64| {
        seen += count;
        wanted > 0 && seen >= wanted
    };
    let at = counts.iter().position(reaches);
    at.map_or(Duration::ZERO, |at| {
        Duration::from_secs_f64(FIRST_US * GROWTH.powi(at as i32) / 1e6)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(ended: Instant, ms: u64) -> SlowQuery {
        SlowQuery {
            ended,
            took: Duration::from_millis(ms),
            candidates: 1,
            blocks: 2,
            verified_bytes: 3,
            found: 4,
            is_complete: true,
        }
    }

    #[test]
    fn percentiles_are_at_most_a_quarter_too_high() {
        let recent = RecentQueries::default();
        let now = recent.started;
        assert_eq!(recent.times(now).p99, Duration::ZERO);
        (1..=100).for_each(|ms| recent.add(query(now, ms)));
        let times = recent.times(now);
        for (shown, ms) in [(times.p50, 50.0), (times.p90, 90.0), (times.p99, 99.0)] {
            let shown = shown.as_secs_f64() * 1000.0;
            assert!(shown >= ms && shown <= ms * GROWTH, "{shown} for {ms}");
        }
        assert_eq!(times.count, 100);
        let slowest: Vec<_> = times.slowest.iter().map(|it| it.took.as_millis()).collect();
        assert_eq!(slowest, (91..=100).rev().collect::<Vec<_>>());
    }

    #[test]
    fn queries_are_forgotten_after_an_hour() {
        let recent = RecentQueries::default();
        let at = |minute: u64| recent.started + Duration::from_secs(60 * minute);
        recent.add(query(at(0), 500));
        recent.add(query(at(30), 5));
        assert_eq!(recent.times(at(59)).count, 2);
        let later = recent.times(at(60));
        assert_eq!((later.count, later.slowest.len()), (1, 1));
        recent.add(query(at(90), 1));
        assert_eq!(recent.times(at(90)).count, 1);
        assert_eq!(recent.times(at(1000)).count, 0);
    }

    #[test]
    fn very_long_and_very_short_queries_are_counted() {
        let recent = RecentQueries::default();
        recent.add(query(recent.started, 0));
        recent.add(query(recent.started, 10_000_000));
        assert_eq!(recent.times(recent.started).count, 2);
    }
}
