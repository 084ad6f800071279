//! Executions by id, evicted in LRU order.
//!
//! Running executions and results in use are never evicted.

use crate::execution::driver::Execution;
use cache::lock;
use clru::CLruCache;
use query::{Query, Scope};
use results::spool::Spool;
use std::mem;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;

/// Bound on executions. A finished one takes some kilobytes, however many matches it has.
const EXECUTIONS_MAX: usize = 1024;

const MEMORY_BYTES_MAX: u64 = 16 << 20;

pub(crate) struct ResultCache(CLruCache<String, Arc<Execution>>);

/// Evicted executions. Dropping them removes files, which must not happen under a lock.
#[must_use]
#[derive(Default)]
pub(crate) struct Evicted(Vec<Arc<Execution>>);

impl Evicted {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has_files(&self) -> bool {
        let mut executions = self.0.iter();
        executions.any(|execution| execution.spool.held_bytes().0 > 0)
    }
}

impl Drop for Evicted {
    fn drop(&mut self) {
        self.0.iter().for_each(|execution| execution.spool.forget());
    }
}

impl Default for ResultCache {
    /// Without a capacity, since it must not evict running executions.
    fn default() -> ResultCache {
        ResultCache(CLruCache::new(NonZeroUsize::MAX))
    }
}

impl ResultCache {
    /// Execution of this query, generation and scope, in any state.
    pub(crate) fn find(
        &mut self,
        query: &Query,
        scope: &Scope,
        generation: &str,
    ) -> Option<Arc<Execution>> {
        let is_same = |found: &&Arc<Execution>| {
            found.query == *query && found.scope == scope.hash() && found.generation == generation
        };
        // Ids are short hashes that can be made to collide.
        let id = query.identity(scope, generation);
        self.0.get(&id).filter(is_same).cloned()
    }

    pub(crate) fn insert(&mut self, execution: Arc<Execution>) -> Evicted {
        let replaced = self.0.put(execution.id.clone(), execution);
        Evicted(replaced.into_iter().collect())
    }

    pub(crate) fn forget(&mut self, id: &str) -> Evicted {
        Evicted(self.0.pop(id).into_iter().collect())
    }

    /// Evicts a finished execution if abandoned; otherwise makes room for its result.
    pub(crate) fn finish(&mut self, execution: Arc<Execution>, spool: &Spool) -> Evicted {
        // Another execution may have taken its id.
        let is_known = |known: &Arc<Execution>| Arc::ptr_eq(known, &execution);
        let mut evicted = Evicted::default();
        if execution.is_abandoned() && self.0.peek(&execution.id).is_some_and(is_known) {
            evicted = self.forget(&execution.id);
        }
        // From here on it can be evicted.
        drop(execution);
        self.evict_until_it_fits(spool, 0, &mut evicted);
        evicted
    }

    /// Evicts until the bounds hold and `bytes` more fit into the spool.
    pub(crate) fn make_room(&mut self, spool: &Spool, bytes: u64) -> Evicted {
        let mut evicted = Evicted::default();
        self.evict_until_it_fits(spool, bytes, &mut evicted);
        evicted
    }

    pub(crate) fn executions(&self) -> impl Iterator<Item = &Arc<Execution>> {
        self.0.iter().map(|(_, execution)| execution)
    }

    fn evict_until_it_fits(&mut self, spool: &Spool, bytes: u64, evicted: &mut Evicted) {
        let mut disk = spool.excess(bytes);
        let mut memory = spool.memory_bytes().saturating_sub(MEMORY_BYTES_MAX);
        while disk > 0 || memory > 0 || self.0.len() > EXECUTIONS_MAX {
            let mut by_use = self.0.iter().rev();
            let Some((id, _)) = by_use.find(|(_, execution)| is_unused(execution)) else {
                break;
            };
            let id = id.clone();
            let execution = self.0.pop(&id).expect("it was just found");
            let (on_disk, in_memory) = execution.spool.held_bytes();
            disk = disk.saturating_sub(on_disk);
            memory = memory.saturating_sub(in_memory);
            evicted.0.push(execution);
        }
    }
}

/// True if finished, and only the cache holds it and its result.
fn is_unused(execution: &Arc<Execution>) -> bool {
    Arc::strong_count(execution) == 1
        // One reference is the execution's own, one is for this check.
        && execution.result().is_some_and(|result| Arc::strong_count(&result) <= 2)
}

/// Removes files of evicted executions: in the background, since gigabytes take a while, or at once
/// when the spool needs the bytes.
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
