//! Cache settings, results of builds, and errors.

use std::hash::Hash;
use std::time::Duration;

/// Everything that changes an answer, as a whole or as a hash of at least 128 bits.
pub trait CacheKey: Hash + Eq + Clone + Send + Sync + 'static {}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> CacheKey for K {}

pub trait CacheValue: Clone + Send + Sync + 'static {}

impl<V: Clone + Send + Sync + 'static> CacheValue for V {}

pub trait CacheFailure: Clone + Send + 'static {}

impl<E: Clone + Send + 'static> CacheFailure for E {}

#[derive(Clone, Copy, Debug)]
pub struct CacheConfig {
    pub name: &'static str,
    /// Longest life without a rebuild. Answers become stale at a random time in its second half.
    /// Zero: nothing is kept, but concurrent callers share an answer.
    pub life: Duration,
    /// Largest age while rebuilds fail. Zero: no stale answers and no background rebuilds.
    pub hard: Duration,
    /// Longest life of a negative answer; at least half of it.
    pub negative: Duration,
    pub bytes_max: u64,
    pub waiters_max: usize,
    pub waiters_per_key_max: usize,
    /// Concurrent builds with refreshes; callers of others are refused.
    pub builds_max: usize,
    /// Time after which a build is cancelled and handed over.
    pub build_max: Duration,
    /// Answers that [`Cache::get_and_keep`](super::Cache::get_and_keep) keeps fresh,
    /// each with a sleeping task.
    pub keepers_max: usize,
    /// Nothing is kept or shared.
    pub off: bool,
}

impl CacheConfig {
    /// Defaults: 30 s, 16 MiB, 1,000 waiters per answer, 10,000 waiters and builds.
    pub const fn new(name: &'static str) -> CacheConfig {
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

#[derive(Clone, Debug)]
pub enum Built<V, E> {
    Value(V),
    /// An answer to keep shortly, such as that something does not exist. Replaces an earlier one.
    Negative(V),
    /// An answer built elsewhere; its age shortens its life.
    Hint {
        value: V,
        is_negative: bool,
        /// Time since its build.
        age: Duration,
    },
    /// A failure, given to waiters and never kept; an earlier answer stays.
    Transient(E),
}

/// Reason that there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CacheError<E> {
    #[error("{0}")]
    Failed(E),
    /// Too many waiters or builds.
    #[error("too many requests wait for answers that are expensive to make; try again shortly")]
    Busy { retry_after: Duration },
    /// The build was late, or its builders were lost.
    #[error("the answer was not built in time; try again shortly")]
    Late { retry_after: Duration },
}

impl<V, E> Built<V, E> {
    pub fn into_result(self) -> Result<V, CacheError<E>> {
        match self {
            Built::Value(value) | Built::Negative(value) | Built::Hint { value, .. } => Ok(value),
            Built::Transient(error) => Err(CacheError::Failed(error)),
        }
    }
}

/// Wait of 1 to 3 s, so refused callers do not return together.
pub(super) fn retry_after() -> Duration {
    Duration::from_secs(1 + u64::from(random() % 3))
}

pub(super) fn random() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX)
}
