//! Cache entries and their lifetimes. Pure: time and randomness are passed in.
//!
//! ```text
//! built        soft = T/2 + random T/2        T              hard
//!   |  fresh     |  stale: shown, refreshed   |  stale only   |  gone
//!   |            |                            |  if a refresh |
//!   |            |                            |  was tried    |
//! ```
//! **Invariant:** without an attempt to refresh, no entry older than T is shown.

use super::outcome::CacheConfig;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Shortest wait after a failed refresh; at most twice as long.
const RETRY: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Brought<V> {
    pub(super) value: V,
    pub(super) is_negative: bool,
    /// Time since it was built.
    pub(super) age: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    Fresh,
    Negative,
    Stale,
    Expired,
}

#[derive(Debug)]
pub(super) struct Entry<V> {
    pub(super) value: V,
    pub(super) token: u64,
    pub(super) is_negative: bool,
    pub(super) built: Duration,
    pub(super) soft: Duration,
    untried: Duration,
    pub(super) hard: Duration,
    used: AtomicBool,
    tried: AtomicBool,
    retry_ns: AtomicU64,
}

impl<V> Entry<V> {
    /// `None` if its life is zero. T is the `life` of the configuration.
    pub(super) fn new(
        brought: Brought<V>,
        token: u64,
        config: &CacheConfig,
        now: Duration,
        random: u32,
    ) -> Option<Entry<V>> {
        let is_negative = brought.is_negative;
        let (life, hard) = if is_negative {
            (config.negative, Duration::ZERO)
        } else {
            (config.life, config.hard)
        };
        let soft = now + jittered(life, random);
        let aged = |time: Duration| time.saturating_sub(brought.age);
        (!life.is_zero()).then(|| Entry {
            value: brought.value,
            token,
            is_negative,
            built: aged(now),
            soft: aged(soft),
            untried: aged(now + life),
            hard: aged(soft.max(now + hard)),
            used: AtomicBool::new(false),
            tried: AtomicBool::new(false),
            retry_ns: AtomicU64::new(0),
        })
    }

    pub(super) fn freshness(&self, now: Duration) -> Freshness {
        if now < self.soft {
            if self.is_negative {
                Freshness::Negative
            } else {
                Freshness::Fresh
            }
        } else if now < self.hard && (now < self.untried || self.tried.load(Relaxed)) {
            Freshness::Stale
        } else {
            Freshness::Expired
        }
    }

    pub(super) fn mark_used(&self) {
        // No repeated write, so the cache line of a popular entry stays shared.
        if !self.used.load(Relaxed) {
            self.used.store(true, Relaxed);
        }
    }

    pub(super) fn is_used(&self) -> bool {
        self.used.load(Relaxed)
    }

    pub(super) fn may_retry(&self, now: Duration) -> bool {
        now >= self.retry_at()
    }

    pub(super) fn retry_at(&self) -> Duration {
        Duration::from_nanos(self.retry_ns.load(Relaxed))
    }

    pub(super) fn mark_tried(&self) {
        self.tried.store(true, Relaxed);
    }

    pub(super) fn delay_retry(&self, now: Duration, random: u32) {
        let at = now + jittered(2 * RETRY, random);
        let at = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        self.retry_ns.store(at, Relaxed);
    }
}

/// Half of `life` plus a random part of the rest, so entries built together do not expire together.
pub(super) fn jittered(life: Duration, random: u32) -> Duration {
    let half = life / 2;
    half + half.mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);
    const CONFIG: CacheConfig = CacheConfig {
        life: Duration::from_secs(30),
        hard: Duration::from_secs(60),
        negative: Duration::from_secs(4),
        ..CacheConfig::new("test")
    };

    fn brought(is_negative: bool, age: Duration) -> Brought<()> {
        Brought {
            value: (),
            is_negative,
            age,
        }
    }

    fn entry(is_negative: bool, random: u32) -> Entry<()> {
        aged_entry(is_negative, random, Duration::ZERO)
    }

    fn aged_entry(is_negative: bool, random: u32, age: Duration) -> Entry<()> {
        Entry::new(brought(is_negative, age), 1, &CONFIG, 100 * S, random).unwrap()
    }

    #[test]
    fn an_entry_is_fresh_then_stale_then_gone() {
        let entry = entry(false, 0);
        assert_eq!(entry.freshness(114 * S), Freshness::Fresh);
        assert_eq!(entry.freshness(115 * S), Freshness::Stale);
        assert_eq!(entry.freshness(129 * S), Freshness::Stale);
        assert_eq!(entry.freshness(130 * S), Freshness::Expired);
        entry.mark_tried();
        assert_eq!(entry.freshness(159 * S), Freshness::Stale);
        assert_eq!(entry.freshness(160 * S), Freshness::Expired);
    }

    #[test]
    fn a_negative_entry_lives_shortly_and_is_never_stale() {
        let entry = entry(true, u32::MAX);
        assert_eq!(entry.freshness(103 * S), Freshness::Negative);
        entry.mark_tried();
        assert_eq!(entry.freshness(104 * S), Freshness::Expired);
    }

    #[test]
    fn what_was_built_together_does_not_end_together() {
        let mut ends: Vec<_> = (0..16).map(|part| entry(false, part << 28).soft).collect();
        assert_eq!((ends[0], ends.is_sorted()), (115 * S, true));
        assert!(ends[15] > 128 * S && ends[15] <= 130 * S);
        ends.dedup();
        assert_eq!(ends.len(), 16);
    }

    #[test]
    fn the_age_of_an_answer_from_elsewhere_counts() {
        let positive = aged_entry(false, 0, 12 * S);
        assert_eq!(positive.freshness(102 * S), Freshness::Fresh);
        assert_eq!(positive.freshness(103 * S), Freshness::Stale);
        assert_eq!(positive.freshness(118 * S), Freshness::Expired);
        positive.mark_tried();
        assert_eq!(positive.freshness(147 * S), Freshness::Stale);
        assert_eq!(positive.freshness(148 * S), Freshness::Expired);
        let negative = aged_entry(true, u32::MAX, 3 * S);
        assert_eq!(negative.freshness(100 * S), Freshness::Negative);
        assert_eq!(negative.freshness(101 * S), Freshness::Expired);
        let early = Entry::new(brought(false, 31 * S), 1, &CONFIG, S, 0).unwrap();
        assert_eq!(
            early.freshness(S),
            Freshness::Expired,
            "older than the cache"
        );
        assert!(early.hard >= early.built);
    }

    #[test]
    fn a_failed_refresh_waits_a_moment() {
        let entry = entry(false, 0);
        entry.delay_retry(116 * S, 0);
        assert!(!entry.may_retry(116 * S));
        assert!(entry.may_retry(117 * S));
    }

    #[test]
    fn without_a_life_nothing_is_kept() {
        let config = CacheConfig {
            life: Duration::ZERO,
            ..CONFIG
        };
        assert!(Entry::new(brought(false, Duration::ZERO), 1, &config, S, 7).is_none());
    }
}
