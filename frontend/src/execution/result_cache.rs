//! Executions by identity, evicted in LRU order.
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

pub(crate) struct ResultCache {
    executions: CLruCache<String, Arc<Execution>>,
    spool: Arc<Spool>,
    removals: Arc<Removals>,
}

impl ResultCache {
    /// Without a capacity, since it must not evict running executions.
    pub(crate) fn new(spool: Arc<Spool>, removals: Arc<Removals>) -> ResultCache {
        ResultCache {
            executions: CLruCache::new(NonZeroUsize::MAX),
            spool,
            removals,
        }
    }

    pub(crate) fn find(
        &mut self,
        query: &Query,
        scope: &Scope,
        generation: &str,
    ) -> Option<Arc<Execution>> {
        let is_same = |found: &&Arc<Execution>| {
            found.query == *query && found.scope == scope.hash() && found.generation == generation
        };
        // Identities are short hashes that can be made to collide.
        let identity = query.identity(scope, generation);
        self.executions.get(&identity).filter(is_same).cloned()
    }

    pub(crate) fn insert(&mut self, execution: Arc<Execution>) {
        let replaced = self.executions.put(execution.identity.clone(), execution);
        self.removals.begin(replaced.into_iter().collect());
    }

    pub(crate) fn forget(&mut self, id: &str) {
        let forgotten = self.executions.pop(id);
        self.removals.begin(forgotten.into_iter().collect());
    }

    /// Evicts a finished execution if abandoned; otherwise makes room for its result.
    pub(crate) fn finish(&mut self, execution: Arc<Execution>) {
        // Another execution may have taken its id.
        let is_known = |known: &Arc<Execution>| Arc::ptr_eq(known, &execution);
        if execution.is_abandoned()
            && self
                .executions
                .peek(&execution.identity)
                .is_some_and(is_known)
        {
            self.forget(&execution.identity);
        }
        // From here on it can be evicted.
        drop(execution);
        let evicted = self.evict_until_it_fits(0);
        self.removals.begin(evicted);
    }

    /// Evicts until the bounds hold and `bytes` more fit into the spool.
    /// [`Removals::finish`] removes the files.
    pub(crate) fn make_room(&mut self, bytes: u64) {
        let evicted = self.evict_until_it_fits(bytes);
        self.removals.add(evicted);
    }

    pub(crate) fn executions(&self) -> impl Iterator<Item = &Arc<Execution>> {
        self.executions.iter().map(|(_, execution)| execution)
    }

    fn evict_until_it_fits(&mut self, bytes: u64) -> Vec<Arc<Execution>> {
        let mut evicted = Vec::new();
        let mut disk = self.spool.excess(bytes);
        let mut memory = self.spool.memory_bytes().saturating_sub(MEMORY_BYTES_MAX);
        while disk > 0 || memory > 0 || self.executions.len() > EXECUTIONS_MAX {
            let mut by_use = self.executions.iter().rev();
            let Some((id, _)) = by_use.find(|(_, execution)| is_unused(execution)) else {
                break;
            };
            let id = id.clone();
            let execution = self.executions.pop(&id).expect("it was just found");
            let (on_disk, in_memory) = execution.spool.held_bytes();
            disk = disk.saturating_sub(on_disk);
            memory = memory.saturating_sub(in_memory);
            evicted.push(execution);
        }
        evicted
    }
}

/// True if finished, and only the cache holds it and its result.
fn is_unused(execution: &Arc<Execution>) -> bool {
    Arc::strong_count(execution) == 1
        // One reference is the execution's own, one is for this check.
        && execution.result().is_some_and(|result| Arc::strong_count(&result) <= 2)
}

/// Removes files of evicted executions: in the background, since gigabytes take a while, or at once
/// when the spool needs the bytes. Dropping executions removes files, never under a lock.
pub(crate) struct Removals {
    waiting: Mutex<Vec<Arc<Execution>>>,
    removing: Mutex<()>,
    runtime: Handle,
}

impl Removals {
    pub(crate) fn new(runtime: Handle) -> Removals {
        Removals {
            waiting: Mutex::default(),
            removing: Mutex::default(),
            runtime,
        }
    }

    /// Called under the cache's lock, so that existing files are always known to the cache or to
    /// this.
    fn add(&self, evicted: Vec<Arc<Execution>>) {
        evicted
            .iter()
            .for_each(|execution| execution.spool.forget());
        lock(&self.waiting).extend(evicted);
    }

    /// Most executions have none and are dropped here.
    fn begin(self: &Arc<Self>, evicted: Vec<Arc<Execution>>) {
        if evicted.iter().any(|it| it.spool.held_bytes().0 > 0) {
            self.add(evicted);
            let removals = Arc::clone(self);
            self.runtime.spawn_blocking(move || removals.finish());
        }
    }

    /// Waits until all files are removed. Returns true if this call removed any.
    pub(crate) fn finish(&self) -> bool {
        let _removing = lock(&self.removing);
        let waiting = mem::take(&mut *lock(&self.waiting));
        !waiting.is_empty()
    }
}
