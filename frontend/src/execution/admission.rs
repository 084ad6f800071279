//! Admission: how many executions may run, over the whole frontend.
//!
//! Only the backends know what a query costs, after they have planned it. So every query begins in a
//! light place, with a request that allows no heavy search, unless a slot for heavy queries is free.
//! If a backend then finds the query heavy, it waits for a slot, and the request is sent again.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Executions that have not ended, whatever they cost; more are refused.
const ACTIVE_MAX: usize = 256;

/// Executions without a slot, until their backends know the cost. Each takes a thread for each backend
/// for that time, which is short.
const LIGHT_MAX: usize = 16;

/// The bounds on executions.
pub(crate) struct Admission {
    active: Arc<Semaphore>,
    light: Arc<Semaphore>,
    heavy: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

/// A place, given back when it is dropped.
pub(crate) struct Permit {
    pub(crate) is_heavy: bool,
    _permit: OwnedSemaphorePermit,
}

impl Admission {
    /// Slots for heavy queries, and how many queries wait for one.
    pub(crate) fn new(running_max: usize, queued_max: usize) -> Admission {
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits));
        Admission {
            active: semaphore(ACTIVE_MAX),
            light: semaphore(LIGHT_MAX),
            heavy: semaphore(running_max.max(1)),
            queue: semaphore(queued_max.min(Semaphore::MAX_PERMITS)),
        }
    }

    /// Counts one more execution until the permit is dropped; `None` if there are too many.
    pub(crate) fn activate(&self) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.active).try_acquire_owned().ok();
        if permit.is_none() {
            shed();
        }
        permit
    }

    /// Takes a slot for heavy queries if one is free, otherwise waits for a light place.
    pub(crate) async fn any(&self) -> Permit {
        if let Ok(slot) = Arc::clone(&self.heavy).try_acquire_owned() {
            return Permit::new(true, slot);
        }
        Permit::new(false, acquire(&self.light).await)
    }

    /// Waits in the queue for a slot for heavy queries; `None` if the queue is full.
    pub(crate) async fn heavy(&self) -> Option<Permit> {
        let Ok(place) = Arc::clone(&self.queue).try_acquire_owned() else {
            shed();
            return None;
        };
        let _queued = Queued::new(place);
        Some(Permit::new(true, acquire(&self.heavy).await))
    }
}

impl Permit {
    fn new(is_heavy: bool, permit: OwnedSemaphorePermit) -> Permit {
        Permit {
            is_heavy,
            _permit: permit,
        }
    }
}

/// A place in the queue, counted by a gauge.
struct Queued(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit);

impl Queued {
    fn new(place: OwnedSemaphorePermit) -> Queued {
        metrics::gauge!("trawl_frontend_queries_queued").increment(1.0);
        Queued(place)
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        metrics::gauge!("trawl_frontend_queries_queued").decrement(1.0);
    }
}

async fn acquire(semaphore: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let permit = Arc::clone(semaphore).acquire_owned().await;
    permit.expect("no semaphore is ever closed")
}

fn shed() {
    metrics::counter!("trawl_frontend_queries_shed_total").increment(1);
}
