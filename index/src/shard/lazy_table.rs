//! A table of zeros whose memory is taken a part at a time.
//!
//! What a shard remembers of its pages grows with its size. Zeroing all of it when a shard is opened took 75 page faults for
//! 9 GB, more than a search of a rare text in three such shards takes for anything else that grows.

use std::sync::OnceLock;

/// Entries of a part: at most a page of the system.
const PART_ENTRIES: usize = 512;

/// Entries that begin with their default value.
pub(super) struct LazyTable<T> {
    parts: Box<[OnceLock<Box<[T]>>]>,
}

impl<T: Default> LazyTable<T> {
    /// A table of at least `entries` entries.
    pub(super) fn new(entries: usize) -> Self {
        let parts = entries.div_ceil(PART_ENTRIES);
        LazyTable {
            parts: (0..parts).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Returns an entry, which must be in the table.
    pub(super) fn get(&self, index: usize) -> &T {
        let part = self.parts[index / PART_ENTRIES]
            .get_or_init(|| (0..PART_ENTRIES).map(|_| T::default()).collect());
        &part[index % PART_ENTRIES]
    }

    /// Returns an entry if its part has been used, and `None` if it has its default value for that reason.
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
