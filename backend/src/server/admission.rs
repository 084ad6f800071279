//! Admission: how many searches run at once, light and heavy ones separately.
//!
//! Few heavy searches run at once, so that light ones find free processors however many heavy ones
//! there are. The class of a search is known when it has been planned, which is done with a light
//! permit.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Admits searches.
pub(super) struct Admission {
    /// For searches that are light or not planned yet.
    pub(super) light: Class,
    pub(super) heavy: Class,
}

/// The searches of a class.
pub(super) struct Class {
    name: &'static str,
    permits: Arc<Semaphore>,
}

/// Allows one search to run until it is dropped.
pub(super) struct Permit {
    class: &'static str,
    _permit: OwnedSemaphorePermit,
}

impl Admission {
    pub(super) fn new(light: usize, heavy: usize) -> Self {
        let class = |name, count: usize| Class {
            name,
            permits: Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))),
        };
        Admission {
            light: class("light", light),
            heavy: class("heavy", heavy),
        }
    }
}

impl Class {
    /// Returns a permit, if one is free.
    pub(super) fn try_permit(&self) -> Option<Permit> {
        let permit = self.permits.clone().try_acquire_owned();
        permit.ok().map(|permit| self.permit(permit))
    }

    /// Waits for a permit.
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
