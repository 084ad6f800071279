//! A zeroed table allocated in parts. Per-page state grows with the shard; zeroing it all at open
//! cost more page faults than a search of a rare text.

use std::sync::OnceLock;

/// Entries of a part: at most a page of memory.
const PART_ENTRIES: usize = 512;

pub(super) struct LazyTable<T> {
    parts: Box<[OnceLock<Box<[T]>>]>,
}

impl<T: Default> LazyTable<T> {
    pub(super) fn new(entries: usize) -> Self {
        let parts = entries.div_ceil(PART_ENTRIES);
        LazyTable {
            parts: (0..parts).map(|_| OnceLock::new()).collect(),
        }
    }

    pub(super) fn get(&self, index: usize) -> &T {
        let part = self.parts[index / PART_ENTRIES]
            .get_or_init(|| (0..PART_ENTRIES).map(|_| T::default()).collect());
        &part[index % PART_ENTRIES]
    }

    /// Entry, or `None` if its part is unused and it has its default value.
    #[inline]
    pub(super) fn get_used(&self, index: usize) -> Option<&T> {
        let part = self.parts[index / PART_ENTRIES].get()?;
        Some(&part[index % PART_ENTRIES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn entries_are_zero_until_they_are_set() {
        let table = LazyTable::<AtomicU32>::new(PART_ENTRIES + 1);
        assert!(table.get_used(PART_ENTRIES).is_none());
        table.get(PART_ENTRIES).store(7, Relaxed);
        assert_eq!(table.get_used(PART_ENTRIES).unwrap().load(Relaxed), 7);
        assert_eq!(table.get(PART_ENTRIES).load(Relaxed), 7);
        assert!(table.get_used(0).is_none());
        assert_eq!(table.get(PART_ENTRIES - 1).load(Relaxed), 0);
    }
}
