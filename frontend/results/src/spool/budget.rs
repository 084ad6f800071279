//! Budget and settings of a spool.

use super::error::SpoolError;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// Called before every write to disk; its error replaces the write. For tests.
pub type BeforeWrite = Arc<dyn Fn() -> io::Result<()> + Send + Sync>;

/// Settings of a spool.
#[derive(Clone)]
pub struct SpoolConfig {
    /// Bytes of all results on disk.
    pub disk_bytes_max: u64,
    /// Bytes of a result in memory.
    pub result_memory_max: u64,
    /// Finished results survive a restart.
    pub durable: bool,
    /// Called before every write.
    pub before_write: Option<BeforeWrite>,
}

/// Pauses after repeated evictions for one reservation, since other results may take the bytes, and
/// results stay in use for a moment after their answer.
const EVICTION_PAUSES_MS: [u64; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128];

pub(super) struct Budget {
    pub(super) config: SpoolConfig,
    pub(super) disk_bytes: AtomicU64,
    pub(super) memory_bytes: AtomicU64,
    pub(super) evict: OnceLock<Box<dyn Fn(u64) + Send + Sync>>,
}

impl Budget {
    pub(super) fn new(config: SpoolConfig) -> Budget {
        Budget {
            config,
            disk_bytes: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            evict: OnceLock::new(),
        }
    }

    /// Reserves bytes on disk. Evicts older results as needed, repeatedly. Blocks for a quarter of
    /// a second before it fails.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        let Some(evict) = self.evict.get() else {
            return self.try_reserve(bytes);
        };
        for pause in EVICTION_PAUSES_MS.map(Duration::from_millis) {
            if let Ok(()) = self.try_reserve(bytes) {
                return Ok(());
            }
            evict(bytes);
            if !pause.is_zero() {
                thread::sleep(pause);
            }
        }
        self.try_reserve(bytes)
    }

    fn try_reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        let bytes_max = self.config.disk_bytes_max;
        let add = |used: u64| used.checked_add(bytes).filter(|used| *used <= bytes_max);
        let reserved = self.disk_bytes.fetch_update(Relaxed, Relaxed, add);
        reserved.map_or(Err(SpoolError::Full { bytes_max }), |_| Ok(()))
    }

    pub(super) fn check_write(&self) -> io::Result<()> {
        let check = self.config.before_write.as_ref();
        check.map_or(Ok(()), |check| check())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    const BYTES_MAX: u64 = 10;

    /// A full budget. `freed` lists the bytes that each eviction leaves in use.
    fn full(freed: Vec<u64>) -> Arc<Budget> {
        let budget = Arc::new(Budget::new(SpoolConfig {
            disk_bytes_max: BYTES_MAX,
            result_memory_max: 0,
            durable: false,
            before_write: None,
        }));
        budget.disk_bytes.store(BYTES_MAX, Relaxed);
        let (weak, freed) = (Arc::downgrade(&budget), Mutex::new(freed.into_iter()));
        let evict = move |_| {
            let left = freed.lock().unwrap().next().unwrap_or(BYTES_MAX);
            weak.upgrade().unwrap().disk_bytes.store(left, Relaxed);
        };
        assert!(budget.evict.set(Box::new(evict)).is_ok());
        budget
    }

    #[test]
    fn results_are_evicted_again_if_another_result_takes_their_bytes() {
        let budget = full(vec![BYTES_MAX, BYTES_MAX, 6]);
        assert!(budget.reserve(3).is_ok());
        assert_eq!(budget.disk_bytes.load(Relaxed), 9);
        assert!(full(Vec::new()).reserve(1).is_err());
    }

    #[test]
    fn a_reservation_waits_for_results_that_are_in_use_for_a_moment() {
        let mut in_use = vec![BYTES_MAX; EVICTION_PAUSES_MS.len() - 1];
        in_use.push(0);
        assert!(full(in_use).reserve(3).is_ok());
    }
}
