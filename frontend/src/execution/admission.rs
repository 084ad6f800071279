//! Admission: bounds the executions of the whole frontend.
//!
//! Only backends know a query's cost, after planning. So it begins in a light place, with a request
//! that forbids heavy search, unless a heavy slot is free. If found heavy, it waits for a slot, and
//! the request is sent again. Slots are shared by [`fair_slots`](super::fair_slots).

use super::fair_slots::{FairSlots, Slot};
use std::sync::Arc;

/// Unfinished executions of any cost; more are refused.
const ACTIVE_MAX: usize = 256;

/// Share of one client: half, so that a second client is always served.
const ACTIVE_BY_CLIENT_MAX: usize = ACTIVE_MAX / 2;

/// Executions without a slot, until backends report the cost. Each briefly takes a thread per
/// backend.
const LIGHT_MAX: usize = 16;

pub(crate) struct Admission {
    active: Arc<FairSlots>,
    light: Arc<FairSlots>,
    heavy: Arc<FairSlots>,
}

/// Released on drop.
pub(crate) struct Permit {
    pub(crate) is_heavy: bool,
    _slot: Slot,
}

impl Admission {
    pub(crate) fn new(running_max: usize, queued_max: usize) -> Admission {
        Admission {
            active: FairSlots::shared(ACTIVE_MAX, ACTIVE_BY_CLIENT_MAX, 0),
            // Waiters are bounded by active executions.
            light: FairSlots::new(LIGHT_MAX, ACTIVE_MAX),
            heavy: FairSlots::new(running_max.max(1), queued_max),
        }
    }

    /// Counts an execution until the slot is dropped; `None` at the bound.
    pub(crate) fn activate(&self, client: u64) -> Option<Slot> {
        counted(self.active.try_take(client))
    }

    /// Takes a heavy slot if the query `may_be_heavy`, or else a light place.
    pub(crate) fn try_any(&self, client: u64, may_be_heavy: bool) -> Option<Permit> {
        let heavy = may_be_heavy.then(|| self.heavy.try_take(client)).flatten();
        let heavy = heavy.map(|slot| Permit::new(true, slot));
        heavy.or_else(|| Some(Permit::new(false, self.light.try_take(client)?)))
    }

    /// Like [`try_any`](Self::try_any), but waits for a light place.
    pub(crate) async fn any(&self, client: u64, may_be_heavy: bool) -> Permit {
        if let Some(permit) = self.try_any(client, may_be_heavy) {
            return permit;
        }
        let slot = self.light.take(client).await;
        Permit::new(false, slot.expect("all that are active may wait"))
    }

    /// `None` if the queue is full.
    pub(crate) async fn heavy(&self, client: u64) -> Option<Permit> {
        let _queued = Queued::new();
        let slot = counted(self.heavy.take(client).await);
        slot.map(|slot| Permit::new(true, slot))
    }
}

impl Permit {
    fn new(is_heavy: bool, slot: Slot) -> Permit {
        Permit {
            is_heavy,
            _slot: slot,
        }
    }
}

struct Queued;

impl Queued {
    fn new() -> Queued {
        metrics::gauge!("trawl_frontend_queries_queued").increment(1.0);
        Queued
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        metrics::gauge!("trawl_frontend_queries_queued").decrement(1.0);
    }
}

fn counted(slot: Option<Slot>) -> Option<Slot> {
    if slot.is_none() {
        metrics::counter!("trawl_frontend_queries_shed_total").increment(1);
    }
    slot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_cannot_use_up_all_executions() {
        let admission = Admission::new(4, 32);
        let all: Vec<_> = (0..ACTIVE_MAX).map(|_| admission.activate(1)).collect();
        let granted = all.iter().flatten().count();
        assert_eq!(granted, ACTIVE_BY_CLIENT_MAX);
        assert!(admission.activate(2).is_some());
        drop(all);
        let again: Vec<_> = (0..ACTIVE_MAX).map(|_| admission.activate(1)).collect();
        assert_eq!(again.iter().flatten().count(), ACTIVE_BY_CLIENT_MAX);
    }
}
