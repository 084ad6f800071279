//! Executions by id: running ones, and finished ones until they are evicted.
//!
//! Eviction is in LRU order. Running executions and results that are being read are never evicted. The
//! query of an evicted execution is kept for a while, so that its id can still be resolved by running
//! the query again.

use crate::execution::driver::Execution;
use crate::query::Query;
use crate::spool::Spool;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// Executions in the cache. A finished one takes some kilobytes, however many matches it has.
const EXECUTIONS_MAX: usize = 1024;

/// Bytes of results that are in memory, all together.
const MEMORY_BYTES_MAX: u64 = 16 << 20;

/// Queries of evicted executions, at most 4 KiB each.
const EVICTED_QUERIES_MAX: usize = 1024;

/// The executions of a frontend, by id.
#[derive(Default)]
pub(crate) struct ResultCache {
    entries: HashMap<String, Entry>,
    /// Ids by last use, the oldest first.
    by_use: BTreeMap<u64, String>,
    /// Counts uses.
    uses: u64,
    /// Id, query and generation, the oldest first.
    evicted: VecDeque<(String, Query, String)>,
}

struct Entry {
    execution: Arc<Execution>,
    used: u64,
}

/// Executions that are not in the cache any more. Dropping them removes their files, which must not be
/// done under a lock.
#[must_use]
#[derive(Default)]
pub(crate) struct Evicted(Vec<Arc<Execution>>);

impl Evicted {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn extend(&mut self, mut other: Evicted) {
        self.0.append(&mut other.0);
    }
}

impl Drop for Evicted {
    fn drop(&mut self) {
        self.0.iter().for_each(|execution| execution.spool.forget());
    }
}

impl ResultCache {
    /// The execution of this query over this generation, in any state.
    pub(crate) fn find(
        &mut self,
        id: &str,
        query: &Query,
        generation: &str,
    ) -> Option<Arc<Execution>> {
        // The id is a short hash that anybody can make collide, so it proves nothing.
        self.get(id)
            .filter(|found| found.query == *query && found.generation == generation)
    }

    /// The execution with this id, in any state.
    pub(crate) fn get(&mut self, id: &str) -> Option<Arc<Execution>> {
        let entry = self.entries.get_mut(id)?;
        let id = self.by_use.remove(&entry.used)?;
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(self.uses, id);
        Some(Arc::clone(&entry.execution))
    }

    /// The query and the generation of an evicted execution.
    pub(crate) fn evicted_query(&self, id: &str) -> Option<(Query, String)> {
        let mut latest = self.evicted.iter().rev();
        let (_, query, generation) = latest.find(|(evicted, ..)| evicted == id)?;
        Some((query.clone(), generation.clone()))
    }

    /// Adds an execution, in place of one with the same id.
    pub(crate) fn insert(&mut self, execution: Arc<Execution>) -> Evicted {
        let before = self.remove(&execution.id.clone());
        self.uses += 1;
        self.by_use.insert(self.uses, execution.id.clone());
        let entry = Entry {
            used: self.uses,
            execution,
        };
        self.entries.insert(entry.execution.id.clone(), entry);
        Evicted(before.into_iter().collect())
    }

    /// Evicts this execution.
    pub(crate) fn evict(&mut self, execution: &Arc<Execution>) -> Evicted {
        let is_it = self.entries.get(&execution.id);
        let is_it = is_it.is_some_and(|entry| Arc::ptr_eq(&entry.execution, execution));
        if !is_it {
            return Evicted(Vec::new());
        }
        self.keep_query(execution);
        Evicted(self.remove(&execution.id).into_iter().collect())
    }

    fn remove(&mut self, id: &str) -> Option<Arc<Execution>> {
        let entry = self.entries.remove(id)?;
        self.by_use.remove(&entry.used);
        Some(entry.execution)
    }

    /// Evicts executions until the bounds hold and `bytes` more fit into the spool's budget.
    pub(crate) fn make_room(&mut self, spool: &Spool, bytes: u64) -> Evicted {
        let mut disk = spool.excess(bytes);
        let mut memory = spool.memory_bytes().saturating_sub(MEMORY_BYTES_MAX);
        let mut evicted = Vec::new();
        while disk > 0 || memory > 0 || self.entries.len() > EXECUTIONS_MAX {
            let Some(execution) = self.take_least_recently_used() else {
                break;
            };
            let (on_disk, in_memory) = execution.spool.held_bytes();
            disk = disk.saturating_sub(on_disk);
            memory = memory.saturating_sub(in_memory);
            self.keep_query(&execution);
            evicted.push(execution);
        }
        Evicted(evicted)
    }

    fn take_least_recently_used(&mut self) -> Option<Arc<Execution>> {
        let unused = |id: &&String| self.entries.get(*id).is_some_and(Entry::is_unused);
        let id = self.by_use.values().find(unused)?.clone();
        self.remove(&id)
    }

    fn keep_query(&mut self, execution: &Execution) {
        if self.evicted.len() == EVICTED_QUERIES_MAX {
            self.evicted.pop_front();
        }
        let (id, generation) = (execution.id.clone(), execution.generation.clone());
        self.evicted
            .push_back((id, execution.query.clone(), generation));
    }

    pub(crate) fn executions(&self) -> impl Iterator<Item = &Arc<Execution>> {
        self.entries.values().map(|entry| &entry.execution)
    }
}

impl Entry {
    /// Whether it has finished and only the cache holds it and its result.
    fn is_unused(&self) -> bool {
        Arc::strong_count(&self.execution) == 1
            // One reference is the execution's own, one was made for this look.
            && (self.execution.result()).is_some_and(|answer| Arc::strong_count(&answer) <= 2)
    }
}
