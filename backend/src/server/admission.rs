//! Whose turn it is: how many searches run at once, light and heavy ones apart.
//!
//! Heavy searches are few, so that however many of them come, the light ones find processors. What a
//! search is shows when it has been planned, which is done in a light one's turn.

use super::Options;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits of both classes.
pub(super) struct Admission {
    light: Class,
    heavy: Class,
}

struct Class {
    name: &'static str,
    permits: Arc<Semaphore>,
}

/// The right to search, until it is dropped.
pub(super) struct Permit {
    name: &'static str,
    _permit: OwnedSemaphorePermit,
}

impl Admission {
    pub(super) fn new(options: Options) -> Self {
        let class = |name, count: usize| Class {
            name,
            permits: Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))),
        };
        Admission {
            light: class("light", options.searches),
            heavy: class("heavy", options.heavy_searches),
        }
    }

    /// Waits for the turn of a search of which nothing is known.
    pub(super) async fn light(&self) -> Permit {
        self.light.wait().await
    }

    /// Waits for the turn of a heavy search.
    pub(super) async fn heavy(&self) -> Permit {
        self.heavy.wait().await
    }

    /// The turn of a heavy search, if nobody waits for it.
    pub(super) fn heavy_now(&self) -> Option<Permit> {
        let permit = self.heavy.permits.clone().try_acquire_owned().ok()?;
        Some(self.heavy.turn(permit))
    }
}

impl Class {
    async fn wait(&self) -> Permit {
        let permit = self.permits.clone().acquire_owned().await;
        self.turn(permit.expect("never closed"))
    }

    fn turn(&self, permit: OwnedSemaphorePermit) -> Permit {
        metrics::gauge!("trawl_backend_searches_running", "class" => self.name).increment(1.0);
        Permit {
            name: self.name,
            _permit: permit,
        }
    }
}

impl Permit {
    /// Whether it is a heavy search's.
    pub(super) fn is_heavy(&self) -> bool {
        self.name == "heavy"
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        metrics::gauge!("trawl_backend_searches_running", "class" => self.name).decrement(1.0);
    }
}
