//! Total order of a result's matches: files of pointers, one after the other.
//!
//! A thread writes each part. Lengths of parts locate pointer n.

use super::blob::Blob;
use super::error::SpoolError;
use super::pointers::{PointerReader, len_of};
use crate::order::Pointer;
use std::ops::Range;
use std::path::Path;

/// Parts of an order. Memory latency and disk bound merging: more threads gain little, and other
/// queries need processors.
pub const ORDER_PARTS_MAX: usize = 4;

/// Parts of an order; unused ones have no file.
#[derive(Debug)]
pub struct OrderFiles {
    parts: Vec<Blob>,
}

impl OrderFiles {
    pub(super) fn new(directory: &Path) -> OrderFiles {
        let part = |number| Blob::new(directory.join(name(number)));
        OrderFiles {
            parts: (0..ORDER_PARTS_MAX).map(part).collect(),
        }
    }

    /// Opens files of these lengths; `None` if one is missing or a length is impossible.
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

    /// File of a part.
    pub fn part(&self, number: usize) -> &Blob {
        &self.parts[number]
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &Blob> {
        self.parts.iter()
    }

    /// Lengths of the parts.
    pub fn bytes(&self) -> Vec<u64> {
        self.parts.iter().map(Blob::len).collect()
    }

    pub(crate) fn len(&self) -> u64 {
        self.parts
            .iter()
            .filter_map(|part| len_of(part.len()))
            .sum()
    }

    /// Reads a range of the order.
    pub fn read(&self, range: Range<u64>) -> Result<Vec<Pointer>, SpoolError> {
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
        if pointers.len() < count {
            return Err(self.corrupt());
        }
        Ok(pointers)
    }

    pub(super) fn corrupt(&self) -> SpoolError {
        self.parts[0].corrupt(0)
    }
}

fn name(part: usize) -> String {
    format!("order-{part}")
}
