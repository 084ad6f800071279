//! Reads text of work units ahead, so a disk has many reads at once.
//!
//! **Invariant:** at most [`UNITS_AHEAD`] units are read ahead of the last one taken.

use super::slices::Slices;
use index::shard::{Shard, ShardError};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// 2,048 blocks, 8 MiB in up to as many places. Few disks need more reads in flight.
const UNITS_AHEAD: usize = 32;

pub(super) struct ReadAhead {
    next: AtomicUsize,
    is_cold: AtomicBool,
}

impl ReadAhead {
    pub(super) fn starting_at(first: usize) -> ReadAhead {
        ReadAhead {
            next: AtomicUsize::new(first),
            is_cold: AtomicBool::new(false),
        }
    }

    /// True if all text so far seems in memory.
    pub(super) fn is_warm(&self) -> bool {
        !self.is_cold.load(Relaxed)
    }

    /// Called before a worker searches unit `index`.
    pub(super) fn before(
        &self,
        index: usize,
        units: &Slices<'_>,
        shard: &Shard,
    ) -> Result<(), ShardError> {
        let end = units.unit_count().min(index + UNITS_AHEAD);
        let advance = |next| (next < end).then_some(next + 1);
        while let Ok(unit) = self.next.fetch_update(Relaxed, Relaxed, advance) {
            // False if it seems not to be in memory.
            if !shard.read_text_ahead(units.unit_blocks(unit).into_iter())? {
                self.is_cold.store(true, Relaxed);
            }
        }
        Ok(())
    }
}
