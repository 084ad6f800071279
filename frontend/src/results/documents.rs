//! The documents with matches, in the order of their best one: how many matches each has, and where in
//! the order its first few are.
//!
//! They are counted while matches are put in order, so the best documents come first, and only so many
//! are kept: a query may match in every file of a distribution. When there are more, counting stops
//! where the order has led to that many, and what was counted of each is no sum.
//! **Invariant:** the documents that are listed are the first of all, in the order of their best match.
//!
//! ```text
//! behind the packages, in the same file:
//! record of 56 bytes, for each document
//!      0      8  matches
//!      8     40  the places of its first matches in the order
//!     48      4  how many places there are, at most 5
//!     52      4  CRC-32C of the 52 bytes above
//! trailer of 16 bytes
//!      0      4  how many records there are
//!      4      4  1 when that is all, else 0
//!      8      4  zero
//!     12      4  CRC-32C of the 12 bytes above
//! ```

use crate::results::page::PER_DOCUMENT_MAX;
use crate::spool::{Blob, OpenFile, ResultFiles, SpoolError};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Documents that are listed: 3 MiB while they are counted, and nobody turns three thousand pages.
pub const DOCUMENTS_MAX: usize = 32 << 10;

/// A document with matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentGroup {
    /// How many matches it has; none when not all matches were counted.
    pub total: Option<u64>,
    /// Where in the order its first matches are, at most five.
    pub first: Vec<u64>,
}

/// What a document is known by: the hash of its name, and its package's id. Two documents of one
/// package are one here when their names have the same hash of 64 bits.
pub(crate) type DocumentKey = (u64, u32);

#[derive(Clone, Copy, Debug, Default, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
struct DocumentRecord {
    total: u64,
    first: [u64; PER_DOCUMENT_MAX],
    places: u32,
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
    fn push(&mut self, place: u64) {
        if let Some(first) = self.first.get_mut(self.places as usize) {
            *first = place;
            self.places += 1;
        }
    }

    fn places(&self) -> &[u64] {
        let places = self.first.get(..self.places as usize);
        places.unwrap_or_default()
    }

    fn checksum(&self) -> u32 {
        crc32c::crc32c(&self.as_bytes()[..52])
    }
}

/// Counts matches by document while they are put in order.
#[derive(Debug, Default)]
pub(crate) struct DocumentTally {
    /// Their places among the records.
    known: FxHashMap<DocumentKey, u32>,
    records: Vec<(DocumentKey, DocumentRecord)>,
    is_full: bool,
}

impl DocumentTally {
    /// Takes the match that is number `place` in the order.
    pub(crate) fn add(&mut self, key: DocumentKey, place: u64) {
        if let Some(record) = self.record(key) {
            record.total += 1;
            record.push(place);
        }
    }

    /// Takes what was counted of the matches that come next, of which the first is number `start`.
    pub(crate) fn append(&mut self, next: &DocumentTally, start: u64) {
        for (key, counted) in &next.records {
            let Some(record) = self.record(*key) else {
                return;
            };
            record.total += counted.total;
            let places = counted.places().iter();
            places.for_each(|place| record.push(start + place));
        }
        self.is_full |= next.is_full;
    }

    /// The record of a document; none from where there was one too many.
    fn record(&mut self, key: DocumentKey) -> Option<&mut DocumentRecord> {
        if self.is_full {
            return None;
        }
        let place = match self.known.entry(key) {
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
        Some(&mut self.records[place as usize].1)
    }

    /// Writes the records behind the packages.
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

/// How many documents are listed in a file.
pub(crate) fn count(blob: &Blob) -> Result<usize, SpoolError> {
    let trailer = trailer(blob, &mut OpenFile::default())?;
    Ok(trailer.map_or(0, |trailer| trailer.records as usize))
}

/// The documents with these numbers.
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
            first: record.places().to_vec(),
        })
    };
    let grouped: Option<_> = found.iter().map(grouped).collect();
    grouped.ok_or_else(|| blob.corrupt(at))
}

/// What is at the end of the file; nothing when the matches could not be put in order.
fn trailer(blob: &Blob, file: &mut OpenFile) -> Result<Option<Trailer>, SpoolError> {
    if blob.len() == 0 {
        return Ok(None);
    }
    let mut trailer = Trailer::default();
    let at = blob.len().saturating_sub(TRAILER_BYTES as u64);
    let read = blob.read_at(trailer.as_mut_bytes(), at, file)?;
    let checksum = crc32c::crc32c(&trailer.as_bytes()[..12]);
    match read == TRAILER_BYTES && trailer.checksum == checksum {
        true => Ok(Some(trailer)),
        false => Err(blob.corrupt(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(keys: impl IntoIterator<Item = u64>) -> DocumentTally {
        let mut tally = DocumentTally::default();
        for (place, key) in (0..).zip(keys) {
            tally.add((key, 0), place);
        }
        tally
    }

    fn records(tally: &DocumentTally) -> Vec<(u64, u64, Vec<u64>)> {
        let each = |(key, record): &(DocumentKey, DocumentRecord)| {
            (key.0, record.total, record.places().to_vec())
        };
        tally.records.iter().map(each).collect()
    }

    #[test]
    fn parts_are_counted_as_the_whole_is() {
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
                .all(|(_, _, places)| places.len() <= 5)
        );
    }

    #[test]
    fn what_is_beyond_the_bound_is_not_counted() {
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
