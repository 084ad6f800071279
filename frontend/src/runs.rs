//! The runs that are remembered, by id: running ones, and finished ones while there is room.
//!
//! What is forgotten first is what was used least recently, and never a run that is under way or
//! that somebody reads.

use crate::live::{Live, State};
use crate::query::Query;
use crate::spool::Spool;
use std::collections::HashMap;
use std::sync::Arc;

/// Runs that are remembered. A finished one without matches costs a few kilobytes.
const REMEMBERED_MAX: usize = 256;

/// Matches of all finished runs together: 512 MiB of pointers.
const MATCHES_HELD_MAX: usize = 16 << 20;

/// The runs of a frontend.
#[derive(Default)]
pub(crate) struct Runs {
    entries: HashMap<String, Entry>,
    /// Counts uses, to tell which was the last.
    uses: u64,
}

struct Entry {
    live: Arc<Live>,
    used: u64,
}

/// Runs that were forgotten. Dropping them removes their files, which is not to be done under a
/// lock.
#[must_use]
pub(crate) struct Forgotten(#[expect(dead_code, reason = "held for its drop")] Vec<Arc<Live>>);

impl Runs {
    /// The run that a new client of `query` can share.
    pub(crate) fn find(&mut self, id: &str, query: &Query, generation: &str) -> Option<Arc<Live>> {
        // The id is a short hash that anybody can make collide, so it proves nothing.
        self.get(id).filter(|live| {
            live.query == *query && live.generation == generation && live.can_be_shared()
        })
    }

    /// The run with this id, whatever its state.
    pub(crate) fn get(&mut self, id: &str) -> Option<Arc<Live>> {
        let entry = self.entries.get_mut(id)?;
        self.uses += 1;
        entry.used = self.uses;
        Some(Arc::clone(&entry.live))
    }

    /// Remembers a run; one of the same id makes way.
    pub(crate) fn insert(&mut self, live: Arc<Live>) -> Forgotten {
        self.uses += 1;
        let entry = Entry {
            live,
            used: self.uses,
        };
        let before = self.entries.insert(entry.live.id.clone(), entry);
        Forgotten(before.into_iter().map(|entry| entry.live).collect())
    }

    /// Forgets runs until the bounds hold, and `bytes` more fit the spool's budget.
    pub(crate) fn make_room(&mut self, spool: &Spool, bytes: u64) -> Forgotten {
        let mut excess = spool.excess(bytes);
        let mut matches: usize = self.entries.values().map(Entry::matches).sum();
        let mut forgotten = Vec::new();
        while excess > 0 || matches > MATCHES_HELD_MAX || self.entries.len() > REMEMBERED_MAX {
            let Some(entry) = self.take_least_used() else {
                break;
            };
            excess = excess.saturating_sub(entry.live.spool.bytes());
            matches -= entry.matches();
            forgotten.push(entry.live);
        }
        Forgotten(forgotten)
    }

    fn take_least_used(&mut self) -> Option<Entry> {
        let unused = self.entries.iter().filter(|(_, entry)| entry.is_unused());
        let (id, _) = unused.min_by_key(|(_, entry)| entry.used)?;
        let id = id.clone();
        self.entries.remove(&id)
    }

    pub(crate) fn lives(&self) -> impl Iterator<Item = &Arc<Live>> {
        self.entries.values().map(|entry| &entry.live)
    }
}

impl Entry {
    /// Whether it has finished and nobody but the registry holds it or its answer.
    fn is_unused(&self) -> bool {
        Arc::strong_count(&self.live) == 1
            && match self.live.state() {
                State::Running => false,
                // One is the run's own, one this copy of the state.
                State::Finished(answer) => Arc::strong_count(&answer) <= 2,
                State::Broken(_) => true,
            }
    }

    fn matches(&self) -> usize {
        match self.live.state() {
            State::Finished(answer) => answer.len(),
            _ => 0,
        }
    }
}
