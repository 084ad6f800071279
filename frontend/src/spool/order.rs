//! The order of a run's matches: one file of pointers after the other.
//!
//! Each part is written by a thread of its own. How many pointers are in which follows from the length
//! of its file, so that whoever wants pointer n passes a few numbers to find its part.

use super::pointers::{PointerReader, len_of};
use super::{Blob, SpoolError};
use crate::order::Pointer;
use std::ops::Range;
use std::path::Path;

/// Parts of an order, at most. Merging is bound by the memory's latency and by the disk: more threads
/// gain little, and other queries want processors too.
pub(crate) const ORDER_PARTS_MAX: usize = 4;

/// The files of an order; those that are not needed do not exist.
#[derive(Debug)]
pub(crate) struct OrderFiles {
    parts: Vec<Blob>,
}

impl OrderFiles {
    /// Nothing yet.
    pub(super) fn new(directory: &Path) -> OrderFiles {
        let part = |number| Blob::new(directory.join(name(number)));
        OrderFiles {
            parts: (0..ORDER_PARTS_MAX).map(part).collect(),
        }
    }

    /// Files that are there, of these lengths; `None` when they are not, or have other lengths than
    /// such files can have.
    pub(super) fn open(directory: &Path, bytes: &[u64]) -> Option<OrderFiles> {
        let part = |number: usize| {
            let path = directory.join(name(number));
            match bytes.get(number) {
                None | Some(0) => Some(Blob::new(path)),
                Some(&bytes) => len_of(bytes).and_then(|_| Blob::open(path, bytes)),
            }
        };
        let parts: Option<_> = (0..ORDER_PARTS_MAX).map(part).collect();
        parts
            .filter(|_| bytes.len() <= ORDER_PARTS_MAX)
            .map(|parts| OrderFiles { parts })
    }

    /// A part, which has its place in the order whenever it is written.
    pub(crate) fn part(&self, number: usize) -> &Blob {
        &self.parts[number]
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &Blob> {
        self.parts.iter()
    }

    /// Bytes of each part.
    pub(crate) fn bytes(&self) -> Vec<u64> {
        self.parts.iter().map(Blob::len).collect()
    }

    /// How many pointers there are.
    pub(crate) fn len(&self) -> u64 {
        self.parts
            .iter()
            .filter_map(|part| len_of(part.len()))
            .sum()
    }

    /// The pointers with these numbers.
    pub(crate) fn read(&self, range: Range<u64>) -> Result<Vec<Pointer>, SpoolError> {
        let count = range.end.saturating_sub(range.start) as usize;
        let mut pointers = Vec::with_capacity(count);
        let mut start = 0;
        for part in &self.parts {
            let len = len_of(part.len()).unwrap_or(0);
            let of = |at: u64| at.clamp(start, start + len) - start;
            let mut reader = PointerReader::new(part, of(range.start)..of(range.end));
            while let block @ [_, ..] = reader.next_block()? {
                pointers.extend_from_slice(block);
            }
            start += len;
        }
        match pointers.len() == count {
            true => Ok(pointers),
            false => Err(self.corrupt()),
        }
    }

    /// The error for what does not fit what it is about.
    pub(super) fn corrupt(&self) -> SpoolError {
        self.parts[0].corrupt(0)
    }
}

fn name(part: usize) -> String {
    format!("order-{part}")
}
