//! Sorted pointers of a stream, wherever they are, as merging sees them: they can be looked up by number,
//! cut at a key, and read from there on.

use crate::execution::collector::SortedRun;
use crate::order::{self, Pointer, TieKey};
use crate::spool::{PointerReader, SpoolError, partition_pointers};
use std::ops::Range;

/// Sorted pointers, in memory or on the disk.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Memory(&'a [Pointer]),
    Disk(&'a SortedRun),
}

impl<'a> Source<'a> {
    /// How many there are.
    pub(crate) fn len(self) -> u64 {
        match self {
            Source::Memory(pointers) => pointers.len() as u64,
            Source::Disk(run) => run.len,
        }
    }

    /// The key by which number `at` ties with others.
    pub(crate) fn key(self, at: u64) -> Result<TieKey, SpoolError> {
        let mut reader = self.read(at..at + 1, 1);
        let pointer = order::Sorted::next(&mut reader)?;
        Ok(pointer.expect("the number is below the length").tie_key())
    }

    /// How many come before all that have this key or a greater one.
    pub(crate) fn before(self, key: TieKey) -> Result<u64, SpoolError> {
        let is_before = |pointer: &Pointer| pointer.tie_key() < key;
        match self {
            Source::Memory(pointers) => Ok(pointers.partition_point(is_before) as u64),
            Source::Disk(run) => partition_pointers(&run.blob, run.len, is_before),
        }
    }

    /// Those with these numbers, so many blocks at a time when they are on the disk.
    pub(crate) fn read(self, range: Range<u64>, blocks_at_once: usize) -> SourceReader<'a> {
        match self {
            Source::Memory(pointers) => {
                let range = range.start as usize..range.end as usize;
                SourceReader::Memory(pointers[range].iter())
            }
            Source::Disk(run) => {
                SourceReader::Disk(PointerReader::new(&run.blob, range).by(blocks_at_once))
            }
        }
    }

    /// All of them.
    pub(crate) fn read_all(self, blocks_at_once: usize) -> SourceReader<'a> {
        self.read(0..self.len(), blocks_at_once)
    }
}

/// Reads a source from one end to the other.
pub(crate) enum SourceReader<'a> {
    Memory(std::slice::Iter<'a, Pointer>),
    Disk(PointerReader<'a>),
}

impl order::Sorted<SpoolError> for SourceReader<'_> {
    fn next(&mut self) -> Result<Option<Pointer>, SpoolError> {
        match self {
            SourceReader::Memory(pointers) => Ok(pointers.next().copied()),
            SourceReader::Disk(reader) => reader.next(),
        }
    }
}
