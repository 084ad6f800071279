//! Looks a trigram up in the dictionary: its entries ascend, 8 bytes each.
//!
//! A binary search over all of them would touch some twenty places of the file, far from each other. The first trigrams of runs of entries are kept in memory once they have
//! been read, 4 bytes for 4 KiB of the dictionary, so that a look-up searches these and one run.
//!
//! **Invariant:** opening a shard reads nothing of its dictionary.

use crate::trigram::Trigram;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use zerocopy::FromBytes;
use zerocopy::little_endian::U64;

/// Entries of a run: 4 KiB.
const RUN_ENTRIES: u64 = 512;

const ENTRY_BYTES: u64 = size_of::<U64>() as u64;

/// Bits of an entry below its trigram.
const TRIGRAM_SHIFT: u32 = 40;

/// The first trigrams of runs of the dictionary.
pub(super) struct RunStarts {
    /// The trigram of the first entry of each run, plus one; 0 if it has not been read.
    starts: Box<[AtomicU32]>,
    /// Entries of the dictionary.
    entries: u64,
}

impl RunStarts {
    /// `bytes` is the length of the dictionary.
    pub(super) fn new(bytes: u64) -> RunStarts {
        let entries = bytes / ENTRY_BYTES;
        let runs = entries.div_ceil(RUN_ENTRIES);
        RunStarts {
            starts: (0..runs).map(|_| AtomicU32::new(0)).collect(),
            entries,
        }
    }

    /// Returns the entry of a trigram. `read` returns bytes of the dictionary.
    pub(super) fn find<'a, E>(
        &self,
        trigram: Trigram,
        read: impl Fn(Range<u64>) -> Result<&'a [u8], E>,
    ) -> Result<Option<u64>, E> {
        let value = trigram.value();
        let entries = |range: Range<u64>| -> Result<&'a [U64], E> {
            let bytes = read(range.start * ENTRY_BYTES..range.end * ENTRY_BYTES)?;
            Ok(<[U64]>::ref_from_bytes(bytes).expect("whole entries"))
        };
        // The runs that begin at the trigram or before it.
        let (mut low, mut high) = (0, self.starts.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.start(middle, &entries)? <= value {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(run) = low.checked_sub(1) else {
            return Ok(None);
        };
        let first = run as u64 * RUN_ENTRIES;
        let run = entries(first..self.entries.min(first + RUN_ENTRIES))?;
        let found = run.binary_search_by_key(&value, trigram_of);
        Ok(found.ok().map(|at| run[at].get()))
    }

    /// Returns the first trigram of a run.
    fn start<'a, E>(
        &self,
        run: usize,
        entries: &impl Fn(Range<u64>) -> Result<&'a [U64], E>,
    ) -> Result<u32, E> {
        // Relaxed: the value orders no other memory. Two threads may read the same entry.
        let known = self.starts[run].load(Relaxed);
        if let Some(start) = known.checked_sub(1) {
            return Ok(start);
        }
        let first = run as u64 * RUN_ENTRIES;
        let start = trigram_of(&entries(first..first + 1)?[0]);
        self.starts[run].store(start + 1, Relaxed);
        Ok(start)
    }
}

fn trigram_of(entry: &U64) -> u32 {
    (entry.get() >> TRIGRAM_SHIFT) as u32
}
