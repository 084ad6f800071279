//! Executions by id, evicted in LRU order.
//!
//! Running executions and results in use are never evicted.

use crate::execution::driver::Execution;
use query::{Query, Scope};
use results::spool::Spool;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Bound on executions. A finished one takes some kilobytes, however many matches it has.
const EXECUTIONS_MAX: usize = 1024;

const MEMORY_BYTES_MAX: u64 = 16 << 20;

#[derive(Default)]
pub(crate) struct ResultCache {
    used: HashMap<String, u64>,
    by_use: BTreeMap<u64, Arc<Execution>>,
    uses: u64,
}

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

impl ResultCache {
    /// Execution of this query, generation and scope, in any state.
    pub(crate) fn find(
        &mut self,
        id: &str,
        query: &Query,
        scope: &Scope,
        generation: &str,
    ) -> Option<Arc<Execution>> {
        // Ids are short hashes that can be made to collide.
        self.get(id).filter(|found| {
            found.query == *query && found.scope == scope.hash() && found.generation == generation
        })
    }

    fn get(&mut self, id: &str) -> Option<Arc<Execution>> {
        let execution = self.remove(id)?;
        self.push(Arc::clone(&execution));
        Some(execution)
    }

    pub(crate) fn insert(&mut self, execution: Arc<Execution>) -> Evicted {
        let replaced = self.remove(&execution.id);
        self.push(execution);
        Evicted(replaced.into_iter().collect())
    }

    pub(crate) fn forget(&mut self, id: &str) -> Evicted {
        Evicted(self.remove(id).into_iter().collect())
    }

    /// Evicts a finished execution if abandoned; otherwise makes room for its result.
    pub(crate) fn finish(&mut self, execution: Arc<Execution>, spool: &Spool) -> Evicted {
        let mut abandoned = None;
        if execution.is_abandoned() {
            let used = self.used.get(&execution.id).copied();
            // Another execution may have taken its id.
            abandoned = used.filter(|used| Arc::ptr_eq(&self.by_use[used], &execution));
        }
        // From here on it can be evicted.
        drop(execution);
        let mut evicted = Evicted::default();
        evicted.0.extend(abandoned.map(|used| self.evict(used)));
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
        self.by_use.values()
    }

    fn evict_until_it_fits(&mut self, spool: &Spool, bytes: u64, evicted: &mut Evicted) {
        let mut disk = spool.excess(bytes);
        let mut memory = spool.memory_bytes().saturating_sub(MEMORY_BYTES_MAX);
        while disk > 0 || memory > 0 || self.used.len() > EXECUTIONS_MAX {
            let mut by_use = self.by_use.iter();
            let Some((&used, _)) = by_use.find(|(_, execution)| is_unused(execution)) else {
                break;
            };
            let execution = self.evict(used);
            let (on_disk, in_memory) = execution.spool.held_bytes();
            disk = disk.saturating_sub(on_disk);
            memory = memory.saturating_sub(in_memory);
            evicted.0.push(execution);
        }
    }

    fn push(&mut self, execution: Arc<Execution>) {
        self.uses += 1;
        self.used.insert(execution.id.clone(), self.uses);
        self.by_use.insert(self.uses, execution);
    }

    fn remove(&mut self, id: &str) -> Option<Arc<Execution>> {
        let used = self.used.remove(id)?;
        self.by_use.remove(&used)
    }

    fn evict(&mut self, used: u64) -> Arc<Execution> {
        let execution = self.by_use.remove(&used).expect("it was just found");
        self.used.remove(&execution.id);
        execution
    }
}

/// True if finished, and only the cache holds it and its result.
fn is_unused(execution: &Arc<Execution>) -> bool {
    Arc::strong_count(execution) == 1
        // One reference is the execution's own, one is for this check.
        && execution.result().is_some_and(|result| Arc::strong_count(&result) <= 2)
}
