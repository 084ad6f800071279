//! *Table of revisions*: a file beside a shard.
//!
//! A shard never changes; its current documents do. The table gives each document a *set*:
//! superseded, current (of a directory), or ref names; and its git object id, so that updates need
//! not read it. [`TableBuilder`] makes a table, `table_file` encodes it, [`Revisions`] joins it
//! with records.
//! **Invariant:** invalid bytes are an error with an offset, never a wrong set.

mod live;
mod table_file;

pub use live::{COMMIT_DIGITS_MIN, DocumentRevisions, RevisionRef, Revisions};
pub use table_file::TableError;

pub use schema::name::revision_name as short_name;

use crate::posting::joined;
use std::collections::HashMap;
use std::ops::Range;

/// In no revision.
pub const SUPERSEDED: u32 = 0;

pub const CURRENT: u32 = 1;

/// First set with names.
const FIRST_LISTED: u32 = 2;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevisionTable {
    pub(crate) shard: [u8; 32],
    /// Full ref names by [`order`].
    pub(crate) names: Vec<Box<[u8]>>,
    /// From [`FIRST_LISTED`] on: ascending ranges of `names`.
    pub(crate) sets: Vec<Vec<Range<u32>>>,
    /// Documents, then skipped files.
    pub(crate) entries: Vec<TableEntry>,
    pub(crate) documents: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableEntry {
    pub set: u32,
    /// Object it was read from.
    pub object: ObjectId,
}

/// Git object id, file stamp, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    bytes: [u8; 32],
    length: u8,
}

impl ObjectId {
    pub const NONE: ObjectId = ObjectId {
        bytes: [0; 32],
        length: 0,
    };

    /// From 20 or 32 bytes of git, 8 of a stamp, or none.
    pub fn new(id: &[u8]) -> Option<ObjectId> {
        if !matches!(id.len(), 0 | 8 | 20 | 32) {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..id.len()].copy_from_slice(id);
        let length = id.len() as u8;
        Some(ObjectId { bytes, length })
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl RevisionTable {
    pub fn names(&self, set: u32) -> impl Iterator<Item = &[u8]> {
        let indices = ranges(&self.sets, set).iter().cloned().flatten();
        indices.map(|index| &*self.names[index as usize])
    }
}

fn ranges(sets: &[Vec<Range<u32>>], set: u32) -> &[Range<u32>] {
    let listed = set.checked_sub(FIRST_LISTED);
    listed.map_or(&[], |index| &sets[index as usize])
}

pub fn is_branch(full: &[u8]) -> bool {
    full.starts_with(b"refs/heads/") || full.starts_with(b"refs/remotes/")
}

/// By short name, then full.
fn order(full: &[u8]) -> (&[u8], &[u8]) {
    (short_name(full), full)
}

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
        let names = kept.iter().map(|&number| known[number as usize].into());
        RevisionTable {
            shard: self.shard,
            sets: used.iter().map(|set| places_of(set)).collect(),
            names: names.collect(),
            entries,
            documents: self.documents,
        }
    }
}

#[cfg(test)]
mod tests;
