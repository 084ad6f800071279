//! The documents with matches, ordered by their best match: how many matches each has, and the positions
//! of the first few.
//!
//! They are counted while matches are ordered, so the best documents come first. Only the first
//! [`DOCUMENTS_MAX`] are listed: a query may match in every file of a distribution. Counting stops at the
//! next document, and totals are then unknown.
//!
//! **Invariant:** the listed documents are the first of all, ordered by their best match.
//!
//! ```text
//! after the packages, in the same file:
//! record of 56 bytes, for each document
//!      0      8  matches
//!      8     40  positions of its first matches in the order
//!     48      4  number of positions, at most 5
//!     52      4  CRC-32C of the 52 bytes above
//! trailer of 16 bytes
//!      0      4  number of records
//!      4      4  1 if all documents are listed, else 0
//!      8      4  zero
//!     12      4  CRC-32C of the 12 bytes above
//! ```

use crate::results::page::PER_DOCUMENT_MAX;
use crate::spool::{Blob, OpenFile, ResultFiles, SpoolError};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Documents that are listed: 3 MiB while they are counted, more than three thousand pages.
pub const DOCUMENTS_MAX: usize = 32 << 10;

/// A document with matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentGroup {
    /// The number of its matches; `None` if not all were counted.
    pub total: Option<u64>,
    /// Positions of its first matches in the order, at most five.
    pub first: Vec<u64>,
}

/// Identifies a document: the hash of its name, and the id of its package. Two documents of one package
/// whose names have the same 64-bit hash count as one.
pub(crate) type DocumentKey = (u64, u32);

#[derive(Clone, Copy, Debug, Default, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
struct DocumentRecord {
    total: u64,
    first: [u64; PER_DOCUMENT_MAX],
    positions: u32,
    checksum: u32,
}

#[derive(Clone, Copy, Debug, Default, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
struct Trailer {
    records: u32,
    is_all: u32,
    zero: u32,
    checksum: u32,
}

const RECORD_BYTES: usize = size_of::<DocumentRecord>();
const TRAILER_BYTES: usize = size_of::<Trailer>();

impl DocumentRecord {
    fn push(&mut self, position: u64) {
        if let Some(first) = self.first.get_mut(self.positions as usize) {
            *first = position;
            self.positions += 1;
        }
    }

    fn positions(&self) -> &[u64] {
        let positions = self.first.get(..self.positions as usize);
        positions.unwrap_or_default()
    }

    fn checksum(&self) -> u32 {
        crc32c::crc32c(&self.as_bytes()[..52])
    }
}

/// Counts matches by document while they are ordered.
#[derive(Debug, Default)]
pub(crate) struct DocumentTally {
    /// Indexes of the records.
    known: FxHashMap<DocumentKey, u32>,
    records: Vec<(DocumentKey, DocumentRecord)>,
    is_full: bool,
}

impl DocumentTally {
    /// Adds the match at a position of the order.
    pub(crate) fn add(&mut self, key: DocumentKey, position: u64) {
        if let Some(record) = self.record(key) {
            record.total += 1;
            record.push(position);
        }
    }

    /// Adds the counts of the next part of the order, which begins at position `start`.
    pub(crate) fn append(&mut self, next: &DocumentTally, start: u64) {
        for (key, counted) in &next.records {
            let Some(record) = self.record(*key) else {
                return;
            };
            record.total += counted.total;
            let positions = counted.positions().iter();
            positions.for_each(|position| record.push(start + position));
        }
        self.is_full |= next.is_full;
    }

    /// Returns the record of a document; `None` once there are too many documents.
    fn record(&mut self, key: DocumentKey) -> Option<&mut DocumentRecord> {
        if self.is_full {
            return None;
        }
        let position = match self.known.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if self.records.len() == DOCUMENTS_MAX => {
                self.is_full = true;
                return None;
            }
            Entry::Vacant(new) => {
                self.records.push((key, DocumentRecord::default()));
                *new.insert(self.records.len() as u32 - 1)
            }
        };
        Some(&mut self.records[position as usize].1)
    }

    /// Writes the records after the packages.
    pub(crate) fn finish(self, to: &ResultFiles) -> Result<(), SpoolError> {
        let mut bytes = Vec::with_capacity(self.records.len() * RECORD_BYTES + TRAILER_BYTES);
        for (_, mut record) in self.records {
            record.checksum = record.checksum();
            bytes.extend_from_slice(record.as_bytes());
        }
        let mut trailer = Trailer {
            records: (bytes.len() / RECORD_BYTES) as u32,
            is_all: u32::from(!self.is_full),
            ..Trailer::default()
        };
        trailer.checksum = crc32c::crc32c(&trailer.as_bytes()[..12]);
        bytes.extend_from_slice(trailer.as_bytes());
        to.append(&to.packages, &bytes)
    }
}

/// Returns the number of documents listed in a file.
pub(crate) fn count(blob: &Blob) -> Result<usize, SpoolError> {
    let trailer = trailer(blob, &mut OpenFile::default())?;
    Ok(trailer.map_or(0, |trailer| trailer.records as usize))
}

/// Reads a range of the documents.
pub(crate) fn read(blob: &Blob, range: Range<usize>) -> Result<Vec<DocumentGroup>, SpoolError> {
    let mut file = OpenFile::default();
    let Some(trailer) = trailer(blob, &mut file)? else {
        return Ok(Vec::new());
    };
    let records = trailer.records as usize * RECORD_BYTES + TRAILER_BYTES;
    let start = blob.len().checked_sub(records as u64);
    let start = start.ok_or_else(|| blob.corrupt(0))?;
    let mut found = vec![DocumentRecord::default(); range.len()];
    let at = start + (range.start * RECORD_BYTES) as u64;
    let bytes = found.as_mut_bytes();
    if blob.read_at(bytes, at, &mut file)? < range.len() * RECORD_BYTES {
        return Err(blob.corrupt(at));
    }
    let grouped = |record: &DocumentRecord| {
        (record.checksum == record.checksum()).then(|| DocumentGroup {
            total: (trailer.is_all == 1).then_some(record.total),
            first: record.positions().to_vec(),
        })
    };
    let grouped: Option<_> = found.iter().map(grouped).collect();
    grouped.ok_or_else(|| blob.corrupt(at))
}

/// Reads the trailer; `None` if the file is empty, because the matches could not be ordered.
fn trailer(blob: &Blob, file: &mut OpenFile) -> Result<Option<Trailer>, SpoolError> {
    if blob.len() == 0 {
        return Ok(None);
    }
    let mut trailer = Trailer::default();
    let at = blob.len().saturating_sub(TRAILER_BYTES as u64);
    let read = blob.read_at(trailer.as_mut_bytes(), at, file)?;
    let checksum = crc32c::crc32c(&trailer.as_bytes()[..12]);
    if read != TRAILER_BYTES || trailer.checksum != checksum {
        return Err(blob.corrupt(at));
    }
    Ok(Some(trailer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(keys: impl IntoIterator<Item = u64>) -> DocumentTally {
        let mut tally = DocumentTally::default();
        for (position, key) in (0..).zip(keys) {
            tally.add((key, 0), position);
        }
        tally
    }

    fn records(tally: &DocumentTally) -> Vec<(u64, u64, Vec<u64>)> {
        let each = |(key, record): &(DocumentKey, DocumentRecord)| {
            (key.0, record.total, record.positions().to_vec())
        };
        tally.records.iter().map(each).collect()
    }

    #[test]
    fn counting_in_parts_gives_the_same_counts() {
        let keys: Vec<u64> = (0..200).map(|n| n * n % 23).collect();
        let whole = tally(keys.iter().copied());
        for cut in [0, 1, 57, 199, 200] {
            let mut parts = tally(keys[..cut].iter().copied());
            parts.append(&tally(keys[cut..].iter().copied()), cut as u64);
            assert_eq!(records(&parts), records(&whole), "cut at {cut}");
        }
        assert!(
            records(&whole)
                .iter()
                .all(|(_, _, positions)| positions.len() <= 5)
        );
    }

    #[test]
    fn counting_stops_after_the_last_listed_document() {
        let most = DOCUMENTS_MAX as u64;
        assert!(!tally(0..most).is_full);
        let full = tally((0..=most).chain(0..9));
        assert!(full.is_full);
        assert_eq!(
            records(&full)[0],
            (0, 1, vec![0]),
            "nothing behind the bound"
        );
        let mut parts = tally(0..most - 1);
        parts.append(&tally(most..most + 5), most - 1);
        assert_eq!((parts.records.len(), parts.is_full), (DOCUMENTS_MAX, true));
    }
}
