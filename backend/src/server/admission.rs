//! Admission: bounds concurrent light and heavy searches separately.
//!
//! Few heavy searches leave processors for light ones. The class is known after planning with a
//! light permit, or before, for patterns costly to compile, which are charged to a budget.

use crate::search::Cancel;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time;

pub(super) struct Admission {
    /// For searches light or not planned yet.
    pub(super) light: Class,
    pub(super) heavy: Class,
    /// Memory for patterns, in units.
    pattern_memory: Arc<Semaphore>,
    pattern_units: u32,
    /// Places on client threads for possibly heavy searches, which hold plans.
    pub(super) here: Arc<Semaphore>,
}

/// A plan has up to 4 MiB of candidates.
const HERE_MAX: usize = 16;

/// Unit of charges for patterns, below any charge worth counting.
const UNIT_BYTES: u64 = 64 << 10;

/// Interval of cancellation checks on client threads.
const CANCEL_CHECK_EVERY: Duration = Duration::from_millis(10);

pub(super) struct Class {
    name: &'static str,
    count: usize,
    permits: Arc<Semaphore>,
}

pub(super) struct Permit {
    class: &'static str,
    _permit: OwnedSemaphorePermit,
}

impl Admission {
    pub(super) fn new(light: usize, heavy: usize, pattern_bytes: u64) -> Self {
        let class = |name, count: usize| {
            let count = count.clamp(1, Semaphore::MAX_PERMITS);
            Class {
                name,
                count,
                permits: Arc::new(Semaphore::new(count)),
            }
        };
        let units = u32::try_from(pattern_bytes / UNIT_BYTES)
            .unwrap_or(u32::MAX)
            .max(1);
        Admission {
            light: class("light", light),
            heavy: class("heavy", heavy),
            pattern_memory: Arc::new(Semaphore::new(units as usize)),
            pattern_units: units,
            here: Arc::new(Semaphore::new(HERE_MAX)),
        }
    }

    /// Waits on a blocking thread for memory, freed with the charge; `None` if cancelled. A search
    /// over the budget takes all of it.
    pub(super) fn charge_patterns(
        &self,
        bytes: u64,
        cancel: &Cancel,
    ) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX);
        let memory = Arc::clone(&self.pattern_memory);
        let waiting = memory.acquire_many_owned(units.min(self.pattern_units));
        until_cancelled(waiting, cancel).map(|charge| charge.expect("never closed"))
    }
}

impl Class {
    pub(super) fn try_permit(&self) -> Option<Permit> {
        let permit = self.permits.clone().try_acquire_owned();
        permit.ok().map(|permit| self.permit(permit))
    }

    /// Share of `workers` for each running search, at least one.
    pub(super) fn share(&self, workers: usize) -> usize {
        let running = self.count - self.permits.available_permits();
        (workers / running.max(1)).max(1)
    }

    pub(super) async fn wait(&self) -> Permit {
        let permit = self.permits.clone().acquire_owned().await;
        self.permit(permit.expect("never closed"))
    }

    fn permit(&self, permit: OwnedSemaphorePermit) -> Permit {
        metrics::gauge!("trawl_backend_searches_running", "class" => self.name).increment(1.0);
        Permit {
            class: self.name,
            _permit: permit,
        }
    }
}

/// For a blocking thread; `None` if cancelled.
pub(super) fn until_cancelled<T>(waiting: impl Future<Output = T>, cancel: &Cancel) -> Option<T> {
    Handle::current().block_on(async {
        let mut waiting = pin!(waiting);
        loop {
            match time::timeout(CANCEL_CHECK_EVERY, waiting.as_mut()).await {
                Ok(ready) => return Some(ready),
                Err(_) if cancel.is_cancelled() => return None,
                Err(_) => {}
            }
        }
    })
}

impl Permit {
    pub(super) fn is_heavy(&self) -> bool {
        self.class == "heavy"
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        metrics::gauge!("trawl_backend_searches_running", "class" => self.class).decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_for_patterns_is_bounded_and_one_search_may_have_all_of_it() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let _within = runtime.enter();
        let memory = Admission::new(1, 1, 4 << 20);
        let running = Cancel::default();
        let all = memory.charge_patterns(u64::MAX, &running).unwrap();
        let cancelled = Cancel::default();
        cancelled.cancel();
        assert!(memory.charge_patterns(1, &cancelled).is_none());
        drop(all);
        let most = memory.charge_patterns(3 << 20, &running).unwrap();
        assert!(memory.charge_patterns(2 << 20, &cancelled).is_none());
        assert!(memory.charge_patterns(1 << 20, &running).is_some());
        drop(most);
    }
}
