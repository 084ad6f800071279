//! Finds a key's run in a table of ascending keys. A binary search over the file would touch some
//! twenty distant places; the first keys of runs are cached instead, 4 bytes per some kilobytes.
//!
//! **Invariant:** opening a shard reads nothing of its tables.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(super) struct RunStarts {
    /// First key of each run plus one; 0 if unread.
    starts: OnceLock<Box<[AtomicU32]>>,
    entries: u64,
    run_entries: u64,
}

impl RunStarts {
    pub(super) fn new(entries: u64, run_entries: u64) -> RunStarts {
        RunStarts {
            starts: OnceLock::new(),
            entries,
            run_entries,
        }
    }

    /// Entries of the last run that begins at or below `key`, if any.
    pub(super) fn run_of<E>(
        &self,
        key: u32,
        key_of: impl Fn(u64) -> Result<u32, E>,
    ) -> Result<Option<Range<u64>>, E> {
        let starts = self.starts.get_or_init(|| {
            let runs = self.entries.div_ceil(self.run_entries);
            (0..runs).map(|_| AtomicU32::new(0)).collect()
        });
        // Count of runs that begin at or below the key.
        let (mut low, mut high) = (0, starts.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.start(starts, middle, &key_of)? <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low.checked_sub(1).map(|run| {
            let first = run as u64 * self.run_entries;
            first..self.entries.min(first + self.run_entries)
        }))
    }

    fn start<E>(
        &self,
        starts: &[AtomicU32],
        run: usize,
        key_of: impl Fn(u64) -> Result<u32, E>,
    ) -> Result<u32, E> {
        // Relaxed: orders no other memory. Two threads may read the same entry.
        let known = starts[run].load(Relaxed);
        if let Some(start) = known.checked_sub(1) {
            return Ok(start);
        }
        let start = key_of(run as u64 * self.run_entries)?;
        // The highest key wraps to 0 and is reread.
        starts[run].store(start.wrapping_add(1), Relaxed);
        Ok(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::convert::Infallible;

    proptest! {
        #[test]
        fn finds_the_run_of_a_key_and_reads_few_entries(
            mut keys in prop::collection::vec(prop_oneof![0..50_u32, Just(u32::MAX)], 0..60),
            run_entries in 1..8_u64,
            sought in prop::collection::vec(prop_oneof![0..52_u32, Just(u32::MAX)], 1..20),
        ) {
            keys.sort_unstable();
            keys.dedup();
            let runs = RunStarts::new(keys.len() as u64, run_entries);
            let reads = Cell::new(0);
            let key_of = |entry: u64| {
                reads.set(reads.get() + 1);
                Ok::<u32, Infallible>(keys[entry as usize])
            };
            for key in sought {
                let Ok(run) = runs.run_of(key, key_of);
                let behind = keys.partition_point(|it| *it <= key) as u64;
                match run {
                    None => prop_assert_eq!(behind, 0),
                    Some(run) => prop_assert!(run.start < behind && behind <= run.end),
                }
            }
            reads.set(0);
            let Ok(_) = runs.run_of(10, key_of);
            let Ok(_) = runs.run_of(10, key_of);
            let count = keys.len() as u64 / run_entries + 1;
            prop_assert!(reads.get() <= u64::BITS - count.leading_zeros() + 2);
        }
    }
}
