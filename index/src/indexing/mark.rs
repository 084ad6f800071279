//! Marks: entries of the table of revisions for documents of new and changed shards.

use crate::revisions::{CURRENT, ObjectId, RevisionTable, SUPERSEDED, TableBuilder, TableEntry};
use crate::writer::NO_TAG;
use std::collections::HashMap;
use std::sync::Arc;

pub(super) type NameList = Arc<Vec<Vec<u8>>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum InRevisions {
    Superseded,
    #[default]
    Current,
    Named(NameList),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) revisions: InRevisions,
    pub(super) object: ObjectId,
}

/// By tag.
#[derive(Default)]
pub(super) struct ShardMarks(Vec<Mark>);

impl ShardMarks {
    pub(super) fn tag(&mut self, mark: Mark) -> u32 {
        if mark == Mark::default() {
            return NO_TAG;
        }
        self.0.push(mark);
        (self.0.len() - 1) as u32
    }

    /// Table of the finished shard, by the tags of its documents and skipped files; `None` if it
    /// would be trivial.
    pub(super) fn table(
        &self,
        shard: [u8; 32],
        documents: u32,
        tags: &[u32],
    ) -> Option<RevisionTable> {
        if self.0.is_empty() {
            return None;
        }
        let plain = Mark::default();
        let mut table = MarkedTable::new(shard, documents);
        for tag in tags {
            table.entry(self.0.get(*tag as usize).unwrap_or(&plain));
        }
        Some(table.builder.finish())
    }
}

/// New marks of an older shard, by number of the entry.
pub(super) type ChangedMarks = HashMap<u32, Mark>;

pub(super) fn changed_table(old: &RevisionTable, marks: &ChangedMarks) -> RevisionTable {
    let mut table = MarkedTable::new(old.shard, old.documents);
    let mut sets = OldSets::default();
    for (number, entry) in (0..).zip(&old.entries) {
        match marks.get(&number) {
            Some(mark) => table.entry(mark),
            None => table.entry(&sets.mark(old, *entry)),
        }
    }
    table.builder.finish()
}

pub(super) fn plain_table(shard: [u8; 32], documents: u32, skipped: usize) -> RevisionTable {
    let current = TableEntry {
        set: CURRENT,
        object: ObjectId::NONE,
    };
    RevisionTable {
        shard,
        documents,
        entries: vec![current; documents as usize + skipped],
        ..RevisionTable::default()
    }
}

/// Name lists of an older table, created once each.
#[derive(Default)]
pub(super) struct OldSets(HashMap<u32, InRevisions>);

impl OldSets {
    pub(super) fn mark(&mut self, table: &RevisionTable, entry: TableEntry) -> Mark {
        let revisions = match entry.set {
            SUPERSEDED => InRevisions::Superseded,
            CURRENT => InRevisions::Current,
            set => (self.0.entry(set))
                .or_insert_with(|| {
                    let mut names: Vec<Vec<u8>> = table.names(set).map(<[u8]>::to_vec).collect();
                    names.sort_unstable();
                    InRevisions::Named(Arc::new(names))
                })
                .clone(),
        };
        Mark {
            revisions,
            object: entry.object,
        }
    }
}

/// Table in progress; finds sets by the address of their list.
struct MarkedTable {
    builder: TableBuilder,
    /// Kept alive, so that addresses are not reused.
    known: HashMap<*const Vec<Vec<u8>>, (u32, NameList)>,
}

impl MarkedTable {
    fn new(shard: [u8; 32], documents: u32) -> MarkedTable {
        MarkedTable {
            builder: TableBuilder::new(shard, documents),
            known: HashMap::new(),
        }
    }

    fn entry(&mut self, mark: &Mark) {
        let set = self.set(&mark.revisions);
        self.builder.entry(set, mark.object);
    }

    fn set(&mut self, revisions: &InRevisions) -> u32 {
        let names = match revisions {
            InRevisions::Superseded => return SUPERSEDED,
            InRevisions::Current => return CURRENT,
            InRevisions::Named(names) => names,
        };
        let address = Arc::as_ptr(names);
        if let Some((known, _)) = self.known.get(&address) {
            return *known;
        }
        let number = self.builder.set(names.iter().map(Vec::as_slice));
        self.known.insert(address, (number, Arc::clone(names)));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(names: &[&str], object: u8) -> Mark {
        let names = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        Mark {
            revisions: InRevisions::Named(Arc::new(names)),
            object: ObjectId::new(&[object; 20]).expect("20 bytes"),
        }
    }

    #[test]
    fn a_table_has_the_marks_in_the_order_of_the_shard() {
        let mut marks = ShardMarks::default();
        let first = marks.tag(mark(&["refs/heads/a"], 1));
        let second = marks.tag(mark(&["refs/heads/a", "refs/heads/b"], 2));
        let third = marks.tag(mark(&["refs/heads/b"], 3));
        let tags = [second, NO_TAG, first, third];
        let table = marks.table([7; 32], 3, &tags).expect("there are marks");
        let objects: Vec<Option<&u8>> = (table.entries.iter())
            .map(|entry| entry.object.as_bytes().first())
            .collect();
        assert_eq!(objects, [Some(&2), None, Some(&1), Some(&3)]);
        let names: Vec<&[u8]> = table.names(table.entries[0].set).collect();
        assert_eq!(names, [b"refs/heads/a", b"refs/heads/b"]);
        let mut plain = ShardMarks::default();
        assert_eq!(plain.tag(Mark::default()), NO_TAG);
        assert_eq!(plain.table([7; 32], 0, &[]), None);
    }

    #[test]
    fn changed_marks_take_the_place_of_old_ones() {
        let mut changed = ChangedMarks::default();
        changed.insert(1, mark(&["refs/heads/a"], 1));
        changed.insert(
            3,
            Mark {
                revisions: InRevisions::Superseded,
                ..Mark::default()
            },
        );
        let table = changed_table(&plain_table([7; 32], 3, 1), &changed);
        let mut old = OldSets::default();
        let sets: Vec<InRevisions> = (table.entries.iter())
            .map(|entry| old.mark(&table, *entry).revisions)
            .collect();
        let named = mark(&["refs/heads/a"], 1).revisions;
        let (current, superseded) = (InRevisions::Current, InRevisions::Superseded);
        assert_eq!(sets, [current.clone(), named, current, superseded]);
    }
}
