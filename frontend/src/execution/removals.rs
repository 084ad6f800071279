//! Removes the files of evicted executions: on another thread, since gigabytes take a while, or at once when the spool
//! needs their bytes.

use super::result_cache::Evicted;
use crate::lock::lock;
use std::mem;
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;

/// Evicted executions whose files are not removed yet.
#[derive(Default)]
pub(crate) struct Removals {
    waiting: Mutex<Vec<Evicted>>,
    /// Held while files are removed.
    removing: Mutex<()>,
}

impl Removals {
    /// Remembers what [`finish`](Self::finish) removes. Whoever holds the cache's lock meanwhile leaves no moment in which
    /// neither the cache nor this knows of files that exist.
    pub(crate) fn add(&self, evicted: Evicted) {
        if !evicted.is_empty() {
            lock(&self.waiting).push(evicted);
        }
    }

    /// Removes the files of `evicted` on another thread. Most executions have none, and are dropped here.
    pub(crate) fn begin(self: &Arc<Self>, evicted: Evicted, runtime: &Handle) {
        if !evicted.has_files() {
            return;
        }
        self.add(evicted);
        let removals = Arc::clone(self);
        runtime.spawn_blocking(move || removals.finish());
    }

    /// Returns when all files are removed, and whether this call removed any.
    pub(crate) fn finish(&self) -> bool {
        let _removing = lock(&self.removing);
        let waiting = mem::take(&mut *lock(&self.waiting));
        !waiting.is_empty()
    }
}
