//! Reads the text of work units ahead of the workers, so that a disk has many reads at once.
//!
//! **Invariant:** at most [`UNITS_AHEAD`] units are read ahead of the last one that a worker has taken.

use super::plan::WorkList;
use index::shard::{Shard, ShardError};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Units that are read ahead: 2,048 blocks, which are 8 MiB of text, in up to as many places. Disks that
/// need more reads in flight to be busy are rare, and memory may be short.
const UNITS_AHEAD: usize = 32;

/// What has been read ahead of a shard's units.
pub(super) struct ReadAhead {
    /// The next unit.
    next: AtomicUsize,
    /// Whether the text of some unit was not in memory.
    is_cold: AtomicBool,
}

impl ReadAhead {
    /// Reads nothing of the units before `first`.
    pub(super) fn starting_at(first: usize) -> ReadAhead {
        ReadAhead {
            next: AtomicUsize::new(first),
            is_cold: AtomicBool::new(false),
        }
    }

    /// Whether the text of all units so far seems to be in memory.
    pub(super) fn is_warm(&self) -> bool {
        !self.is_cold.load(Relaxed)
    }

    /// Has the system read the units behind `index` that nobody has read ahead yet. A worker calls it before it
    /// searches unit `index`.
    pub(super) fn before(
        &self,
        index: usize,
        units: &WorkList<'_>,
        shard: &Shard,
    ) -> Result<(), ShardError> {
        let end = units.len().min(index + UNITS_AHEAD);
        let advance = |next| (next < end).then_some(next + 1);
        while let Ok(unit) = self.next.fetch_update(Relaxed, Relaxed, advance) {
            if !units.get(unit).read_ahead(shard)? {
                self.is_cold.store(true, Relaxed);
            }
        }
        Ok(())
    }
}
