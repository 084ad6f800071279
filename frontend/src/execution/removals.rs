//! Removes files of evicted executions: in the background, since gigabytes take a while, or at once
//! when the spool needs the bytes.

use super::result_cache::Evicted;
use cache::lock;
use std::mem;
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;

#[derive(Default)]
pub(crate) struct Removals {
    waiting: Mutex<Vec<Evicted>>,
    removing: Mutex<()>,
}

impl Removals {
    /// Adds to what [`finish`](Self::finish) removes. Called under the cache's lock, so that
    /// existing files are always known to the cache or to this.
    pub(crate) fn add(&self, evicted: Evicted) {
        if !evicted.is_empty() {
            lock(&self.waiting).push(evicted);
        }
    }

    /// Removes files in the background. Most executions have none and are dropped here.
    pub(crate) fn begin(self: &Arc<Self>, evicted: Evicted, runtime: &Handle) {
        if !evicted.has_files() {
            return;
        }
        self.add(evicted);
        let removals = Arc::clone(self);
        runtime.spawn_blocking(move || removals.finish());
    }

    /// Waits until all files are removed. Returns true if this call removed any.
    pub(crate) fn finish(&self) -> bool {
        let _removing = lock(&self.removing);
        let waiting = mem::take(&mut *lock(&self.waiting));
        !waiting.is_empty()
    }
}
