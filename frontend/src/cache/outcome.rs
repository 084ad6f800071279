//! The settings of a cache, what builders bring to it, and why a caller gets no answer.

use std::hash::Hash;
use std::time::Duration;

/// What an answer is kept for: everything that changes it, as a whole value or a hash of 128 bits or more.
pub trait CacheKey: Hash + Eq + Clone + Send + Sync + 'static {}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> CacheKey for K {}

/// An answer.
pub trait CacheValue: Clone + Send + Sync + 'static {}

impl<V: Clone + Send + Sync + 'static> CacheValue for V {}

/// Why a build failed.
pub trait CacheFailure: Clone + Send + 'static {}

impl<E: Clone + Send + 'static> CacheFailure for E {}

/// The settings of a cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheConfig {
    /// Its name in metrics.
    pub name: &'static str,
    /// The longest time that an answer lives without being built again. It becomes stale after half of it and a
    /// random part of the other half. Zero: nothing is kept, and callers at the same time still share an
    /// answer.
    pub life: Duration,
    /// How old an answer may become if building it again fails. Zero: an answer ends when it would become
    /// stale, and is never built again in the background.
    pub hard: Duration,
    /// The longest time that a negative answer lives; at least half as long.
    pub negative: Duration,
    /// Bytes of all answers.
    pub bytes_max: u64,
    /// Callers that wait at once, for all answers.
    pub waiters_max: usize,
    /// Callers that wait for one answer.
    pub waiters_per_key_max: usize,
    /// Answers that are built at once, refreshes included; callers of further ones are turned away.
    pub builds_max: usize,
    /// How long a build may take before it is cancelled and handed over.
    pub build_max: Duration,
    /// Answers that [`Cache::get_and_keep`](super::Cache::get_and_keep) builds again before anybody asks, at
    /// once. Each has a task that sleeps.
    pub keepers_max: usize,
    /// Whether nothing is kept nor shared.
    pub off: bool,
}

impl CacheConfig {
    /// The default settings: 30 s, 16 MiB, 1,000 waiters for an answer, 10,000 in all, and as many
    /// builds.
    pub fn new(name: &'static str) -> CacheConfig {
        CacheConfig {
            name,
            life: Duration::from_secs(30),
            hard: Duration::from_secs(60),
            negative: Duration::from_secs(5),
            bytes_max: 16 << 20,
            waiters_max: 10_000,
            waiters_per_key_max: 1_000,
            builds_max: 10_000,
            build_max: Duration::from_secs(10),
            keepers_max: 10_000,
            off: false,
        }
    }
}

/// What a builder brings.
#[derive(Clone, Debug)]
pub enum Built<V, E> {
    /// An answer that is kept.
    Value(V),
    /// An answer that is kept shortly, such as that something does not exist. It replaces what was kept.
    Negative(V),
    /// An answer that somebody else built some time ago. Its age counts: it lives that much shorter.
    Hint {
        /// The answer.
        value: V,
        /// Whether it is negative.
        is_negative: bool,
        /// How long ago it was built.
        age: Duration,
    },
    /// A failure. It is given to those who wait, and never kept; what was kept stays.
    Transient(E),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CacheError<E> {
    /// The build failed.
    #[error("{0}")]
    Failed(E),
    /// Too many callers wait, or too many answers are being built.
    #[error("too many requests wait for answers that are expensive to make; try again shortly")]
    Busy {
        /// When to try again.
        retry_after: Duration,
    },
    /// The answer was not built in time, or its builders were lost.
    #[error("the answer was not built in time; try again shortly")]
    Late {
        /// When to try again.
        retry_after: Duration,
    },
}

impl<V, E> Built<V, E> {
    /// The answer, or the failure.
    pub fn into_result(self) -> Result<V, CacheError<E>> {
        match self {
            Built::Value(value) | Built::Negative(value) | Built::Hint { value, .. } => Ok(value),
            Built::Transient(error) => Err(CacheError::Failed(error)),
        }
    }
}

/// Returns when to try again: 1 to 3 s, so that those who were turned away together do not come back together.
pub(super) fn retry_after() -> Duration {
    Duration::from_secs(1 + u64::from(random() % 3))
}

/// Returns a random number. Without randomness, everything just lives as long as possible.
pub(super) fn random() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX)
}
