//! Executions by id: running ones, and finished ones until they are evicted.
//!
//! Eviction is in LRU order. Running executions and results that are being read are never evicted.

use crate::execution::driver::Execution;
use crate::query::Query;
use crate::scope::Scope;
use crate::spool::Spool;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Executions in the cache. A finished one takes some kilobytes, however many matches it has.
const EXECUTIONS_MAX: usize = 1024;

/// Bytes of results that are in memory, all together.
const MEMORY_BYTES_MAX: u64 = 16 << 20;

/// The executions of a frontend, by id.
#[derive(Default)]
pub(crate) struct ResultCache {
    /// The last use of each execution, by id.
    used: HashMap<String, u64>,
    /// Executions by their last use, the oldest first.
    by_use: BTreeMap<u64, Arc<Execution>>,
    /// Counts uses.
    uses: u64,
}

/// Executions that are not in the cache any more. Dropping them removes their files, if they have any, which must not
/// be done under a lock.
#[must_use]
#[derive(Default)]
pub(crate) struct Evicted(Vec<Arc<Execution>>);

impl Evicted {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether dropping them removes files.
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
    /// The execution of this query over this generation for those who see the same, in any state.
    pub(crate) fn find(
        &mut self,
        id: &str,
        query: &Query,
        scope: &Scope,
        generation: &str,
    ) -> Option<Arc<Execution>> {
        // The id is a short hash that anybody can make collide, so it proves nothing.
        self.get(id).filter(|found| {
            found.query == *query && found.scope == scope.hash() && found.generation == generation
        })
    }

    /// The execution with this id, in any state.
    fn get(&mut self, id: &str) -> Option<Arc<Execution>> {
        let execution = self.remove(id)?;
        self.push(Arc::clone(&execution));
        Some(execution)
    }

    /// Adds an execution, in place of one with the same id.
    pub(crate) fn insert(&mut self, execution: Arc<Execution>) -> Evicted {
        let replaced = self.remove(&execution.id);
        self.push(execution);
        Evicted(replaced.into_iter().collect())
    }

    /// Removes an execution whose result nobody will ask for again.
    pub(crate) fn forget(&mut self, id: &str) -> Evicted {
        Evicted(self.remove(id).into_iter().collect())
    }

    /// Evicts an execution that finished if it was abandoned, and makes room for its result otherwise.
    pub(crate) fn finish(&mut self, execution: Arc<Execution>, spool: &Spool) -> Evicted {
        let mut abandoned = None;
        if execution.is_abandoned() {
            let used = self.used.get(&execution.id).copied();
            // Another one may have taken its id.
            abandoned = used.filter(|used| Arc::ptr_eq(&self.by_use[used], &execution));
        }
        // From here on it can be evicted.
        drop(execution);
        let mut evicted = Evicted::default();
        evicted.0.extend(abandoned.map(|used| self.evict(used)));
        self.evict_until_it_fits(spool, 0, &mut evicted);
        evicted
    }

    /// Evicts executions until the bounds hold and `bytes` more fit into the spool's budget.
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

    /// Removes the execution that was used last at `used`.
    fn evict(&mut self, used: u64) -> Arc<Execution> {
        let execution = self.by_use.remove(&used).expect("it was just found");
        self.used.remove(&execution.id);
        execution
    }
}

/// Whether an execution has finished and only the cache holds it and its result.
fn is_unused(execution: &Arc<Execution>) -> bool {
    Arc::strong_count(execution) == 1
        // One reference is the execution's own, one was made for this look.
        && execution.result().is_some_and(|result| Arc::strong_count(&result) <= 2)
}
