//! Sorted pointers in memory or on disk: by number, by key, or in ranges.

use results::order::{self, Pointer, TieKey};
use results::spool::{Blob, PointerReader, SpoolError, partition_pointers};
use std::ops::Range;

#[derive(Debug)]
pub(crate) struct SortedRun {
    pub(crate) blob: Blob,
    pub(crate) len: u64,
}

#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Memory(&'a [Pointer]),
    Disk(&'a SortedRun),
}

impl<'a> Source<'a> {
    pub(crate) fn len(self) -> u64 {
        match self {
            Source::Memory(pointers) => pointers.len() as u64,
            Source::Disk(run) => run.len,
        }
    }

    pub(crate) fn key(self, at: u64) -> Result<TieKey, SpoolError> {
        let mut reader = self.read(at..at + 1, 1);
        let pointer = order::Sorted::next(&mut reader)?;
        Ok(pointer.expect("the number is below the length").tie_key())
    }

    /// Number of pointers with a smaller key.
    pub(crate) fn before(self, key: TieKey) -> Result<u64, SpoolError> {
        let is_before = |pointer: &Pointer| pointer.tie_key() < key;
        match self {
            Source::Memory(pointers) => Ok(pointers.partition_point(is_before) as u64),
            Source::Disk(run) => partition_pointers(&run.blob, run.len, is_before),
        }
    }

    /// Reads a range; from disk, `blocks_at_once` at a time.
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

    pub(crate) fn read_all(self, blocks_at_once: usize) -> SourceReader<'a> {
        self.read(0..self.len(), blocks_at_once)
    }
}

pub(crate) enum SourceReader<'a> {
    Memory(std::slice::Iter<'a, Pointer>),
    Disk(PointerReader<'a>),
}

impl order::Sorted<SpoolError> for SourceReader<'_> {
    fn next(&mut self) -> Result<Option<Pointer>, SpoolError> {
        match self {
            SourceReader::Memory(pointers) => Ok(pointers.next().copied()),
            SourceReader::Disk(reader) => reader.advance(),
        }
    }
}
