//! Admission: how many searches run at once, light and heavy ones separately.
//!
//! Few heavy searches run at once, so that light ones find free processors however many heavy ones
//! there are. The class of a search is known when it has been planned, which is done with a light
//! permit.

use crate::search::Cancel;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time;

/// Admits searches.
pub(super) struct Admission {
    /// For searches that are light or not planned yet.
    pub(super) light: Class,
    pub(super) heavy: Class,
    /// Places for searches on threads of their clients that may be heavy: each may have a plan while it waits.
    here: Arc<Semaphore>,
}

/// Searches on threads of their clients that may be heavy, at most. A plan has up to 4 MiB of candidates.
const HERE_MAX: usize = 16;

/// How often a search that waits on the thread of its client looks whether it was cancelled.
const CANCEL_CHECK_EVERY: Duration = Duration::from_millis(10);

/// The searches of a class.
pub(super) struct Class {
    name: &'static str,
    /// Permits in all, taken or free.
    count: usize,
    permits: Arc<Semaphore>,
}

/// Allows one search to run until it is dropped.
pub(super) struct Permit {
    class: &'static str,
    _permit: OwnedSemaphorePermit,
}

impl Admission {
    pub(super) fn new(light: usize, heavy: usize) -> Self {
        let class = |name, count: usize| {
            let count = count.clamp(1, Semaphore::MAX_PERMITS);
            Class {
                name,
                count,
                permits: Arc::new(Semaphore::new(count)),
            }
        };
        Admission {
            light: class("light", light),
            heavy: class("heavy", heavy),
            here: Arc::new(Semaphore::new(HERE_MAX)),
        }
    }

    /// Returns a place for a search on the thread of its client that may be heavy, if one is free.
    pub(super) fn try_place_here(&self) -> Option<OwnedSemaphorePermit> {
        self.here.clone().try_acquire_owned().ok()
    }
}

impl Class {
    /// Returns a permit, if one is free.
    pub(super) fn try_permit(&self) -> Option<Permit> {
        let permit = self.permits.clone().try_acquire_owned();
        permit.ok().map(|permit| self.permit(permit))
    }

    /// Returns how many of `workers` each of the searches that run now may have: at least one.
    pub(super) fn share(&self, workers: usize) -> usize {
        let running = self.count - self.permits.available_permits();
        (workers / running.max(1)).max(1)
    }

    /// Waits for a permit.
    pub(super) async fn wait(&self) -> Permit {
        let permit = self.permits.clone().acquire_owned().await;
        self.permit(permit.expect("never closed"))
    }

    /// Waits for a permit on a thread that may block, within a runtime; `None` if the search was cancelled.
    pub(super) fn wait_here(&self, cancel: &Cancel) -> Option<Permit> {
        Handle::current().block_on(async {
            let mut permit = pin!(self.wait());
            loop {
                match time::timeout(CANCEL_CHECK_EVERY, permit.as_mut()).await {
                    Ok(permit) => return Some(permit),
                    Err(_) if cancel.is_cancelled() => return None,
                    Err(_) => {}
                }
            }
        })
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
