//! Builds a table of revisions.

use super::{CURRENT, FIRST_LISTED, ObjectId, RevisionTable, SUPERSEDED, TableEntry, order};
use crate::posting::joined;
use std::collections::HashMap;

/// Builds the table of a shard, independent of the order in which sets are made.
#[derive(Default)]
pub struct TableBuilder {
    shard: [u8; 32],
    names: HashMap<Box<[u8]>, u32>,
    /// Numbers of the names of each set, by first appearance.
    sets: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
    documents: u32,
    entries: Vec<TableEntry>,
}

impl TableBuilder {
    /// Begins the table of the shard file `shard`.
    pub fn new(shard: [u8; 32], documents: u32) -> TableBuilder {
        TableBuilder {
            shard,
            documents,
            ..TableBuilder::default()
        }
    }

    /// Set of these full ref names, for this builder only; [`SUPERSEDED`] if empty.
    pub fn set<'a>(&mut self, names: impl IntoIterator<Item = &'a [u8]>) -> u32 {
        let names = names.into_iter().map(|name| self.name(name));
        let mut names: Vec<u32> = names.collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return SUPERSEDED;
        }
        let next = FIRST_LISTED + self.sets.len() as u32;
        let number = *self.numbers.entry(names.clone()).or_insert(next);
        if number == next {
            self.sets.push(names);
        }
        number
    }

    fn name(&mut self, name: &[u8]) -> u32 {
        if let Some(&known) = self.names.get(name) {
            return known;
        }
        let number = self.names.len() as u32;
        self.names.insert(name.into(), number);
        number
    }

    /// Adds the next document in shard order, or after all of them the next skipped file. `set` is
    /// [`SUPERSEDED`], [`CURRENT`] or from [`set`](Self::set).
    pub fn entry(&mut self, set: u32, object: ObjectId) {
        self.entries.push(TableEntry { set, object });
    }

    /// Table without unused sets and names.
    ///
    /// # Panics
    /// On an unknown set.
    pub fn finish(self) -> RevisionTable {
        let mut entries = self.entries;
        // Numbered by first use.
        let (mut renumbered, mut used) = (HashMap::new(), Vec::new());
        for entry in &mut entries {
            if entry.set == SUPERSEDED || entry.set == CURRENT {
                continue;
            }
            let old = (entry.set - FIRST_LISTED) as usize;
            entry.set = *renumbered.entry(old).or_insert_with(|| {
                used.push(&self.sets[old]);
                FIRST_LISTED + used.len() as u32 - 1
            });
        }
        let mut known = vec![&[][..]; self.names.len()];
        for (name, &number) in &self.names {
            known[number as usize] = &name[..];
        }
        let mut kept: Vec<u32> = used.iter().copied().flatten().copied().collect();
        kept.sort_unstable();
        kept.dedup();
        kept.sort_by_key(|&number| order(known[number as usize]));
        let places: HashMap<u32, u32> = kept.iter().copied().zip(0..).collect();
        let places_of = |set: &[u32]| {
            let mut places: Vec<u32> = set.iter().map(|number| places[number]).collect();
            places.sort_unstable();
            joined(places)
        };
        RevisionTable {
            shard: self.shard,
            sets: used.iter().map(|set| places_of(set)).collect(),
            names: kept
                .iter()
                .map(|&number| known[number as usize].into())
                .collect(),
            entries,
            documents: self.documents,
        }
    }
}
