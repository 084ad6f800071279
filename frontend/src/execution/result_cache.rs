//! The runs that are remembered, by id: running ones, and finished ones while there is room.
//!
//! What is forgotten first is what was used least recently, and never a run that is under way or
//! that somebody reads. Of what was forgotten the query is remembered for a while, so that its id
//! still leads to the same answer, found anew.

use crate::execution::driver::Execution;
use crate::query::Query;
use crate::spool::Spool;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// Runs that are remembered. A finished one costs some kilobytes, whatever its matches.
const REMEMBERED_MAX: usize = 1024;

/// Bytes of finished runs that are in memory, all of them together.
const MEMORY_BYTES_MAX: u64 = 16 << 20;

/// Queries of forgotten runs, of at most 4 KiB each.
const FORGOTTEN_MAX: usize = 1024;

/// The runs of a frontend.
#[derive(Default)]
pub(crate) struct ResultCache {
    entries: HashMap<String, Entry>,
    /// Ids by their last use, the oldest first.
    by_use: BTreeMap<u64, String>,
    /// Counts uses, to tell which was the last.
    uses: u64,
    /// Id, query and generation, the oldest first.
    forgotten: VecDeque<(String, Query, String)>,
}

struct Entry {
    execution: Arc<Execution>,
    used: u64,
}

/// Runs that were forgotten. Dropping them removes their files, which is not to be done under a
/// lock.
#[must_use]
#[derive(Default)]
pub(crate) struct Forgotten(Vec<Arc<Execution>>);

impl Forgotten {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn extend(&mut self, mut other: Forgotten) {
        self.0.append(&mut other.0);
    }
}

impl Drop for Forgotten {
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

    /// The run with this id, whatever its state.
    pub(crate) fn get(&mut self, id: &str) -> Option<Arc<Execution>> {
        let entry = self.entries.get_mut(id)?;
        let id = self.by_use.remove(&entry.used)?;
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(self.uses, id);
        Some(Arc::clone(&entry.execution))
    }

    /// The query and the generation of a forgotten run.
    pub(crate) fn forgotten(&self, id: &str) -> Option<(Query, String)> {
        let mut latest = self.forgotten.iter().rev();
        let (_, query, generation) = latest.find(|(forgotten, ..)| forgotten == id)?;
        Some((query.clone(), generation.clone()))
    }

    /// Remembers a run; one of the same id makes way.
    pub(crate) fn insert(&mut self, execution: Arc<Execution>) -> Forgotten {
        let before = self.remove(&execution.id.clone());
        self.uses += 1;
        self.by_use.insert(self.uses, execution.id.clone());
        let entry = Entry {
            used: self.uses,
            execution,
        };
        self.entries.insert(entry.execution.id.clone(), entry);
        Forgotten(before.into_iter().collect())
    }

    /// Forgets this run, of which only the query is remembered.
    pub(crate) fn forget(&mut self, execution: &Arc<Execution>) -> Forgotten {
        let is_it = self.entries.get(&execution.id);
        let is_it = is_it.is_some_and(|entry| Arc::ptr_eq(&entry.execution, execution));
        if !is_it {
            return Forgotten(Vec::new());
        }
        self.note(execution);
        Forgotten(self.remove(&execution.id).into_iter().collect())
    }

    fn remove(&mut self, id: &str) -> Option<Arc<Execution>> {
        let entry = self.entries.remove(id)?;
        self.by_use.remove(&entry.used);
        Some(entry.execution)
    }

    /// Forgets runs until the bounds hold, and `bytes` more fit the spool's budget.
    pub(crate) fn make_room(&mut self, spool: &Spool, bytes: u64) -> Forgotten {
        let mut disk = spool.excess(bytes);
        let mut memory = spool.memory_bytes().saturating_sub(MEMORY_BYTES_MAX);
        let mut forgotten = Vec::new();
        while disk > 0 || memory > 0 || self.entries.len() > REMEMBERED_MAX {
            let Some(execution) = self.take_least_used() else {
                break;
            };
            let (on_disk, in_memory) = execution.spool.held_bytes();
            disk = disk.saturating_sub(on_disk);
            memory = memory.saturating_sub(in_memory);
            self.note(&execution);
            forgotten.push(execution);
        }
        Forgotten(forgotten)
    }

    fn take_least_used(&mut self) -> Option<Arc<Execution>> {
        let unused = |id: &&String| self.entries.get(*id).is_some_and(Entry::is_unused);
        let id = self.by_use.values().find(unused)?.clone();
        self.remove(&id)
    }

    fn note(&mut self, execution: &Execution) {
        if self.forgotten.len() == FORGOTTEN_MAX {
            self.forgotten.pop_front();
        }
        let (id, generation) = (execution.id.clone(), execution.generation.clone());
        self.forgotten
            .push_back((id, execution.query.clone(), generation));
    }

    pub(crate) fn executions(&self) -> impl Iterator<Item = &Arc<Execution>> {
        self.entries.values().map(|entry| &entry.execution)
    }
}

impl Entry {
    /// Whether it has finished and nobody but the registry holds it or its answer.
    fn is_unused(&self) -> bool {
        Arc::strong_count(&self.execution) == 1
            // One reference is the execution's own, one was made for this look.
            && (self.execution.result()).is_some_and(|answer| Arc::strong_count(&answer) <= 2)
    }
}
