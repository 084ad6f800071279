//! Documents by best match: the number of matches of each, and positions of the first few.
//!
//! Counted while matches are ordered. Only the first [`DOCUMENTS_MAX`] are listed; counting stops
//! at the next document, and totals are then unknown.
//!
//! **Invariant:** the listed documents are the first of all by best match.
//!
//! ```text
//! after the packages, in the same file:
//! record of 56 bytes, for each document
//!      0      8  matches
//!      8     40  positions of its first matches in the order
//!     48      4  number of positions, at most 5
//!     52      4  CRC-32C of the 52 bytes above
//! bitmap, if a document is folded (see `folded`)
//!      0   8 n  a bit for each record, the lowest first: the document is folded
//!    8 n      4  CRC-32C of the bytes above
//!  8 n+4      4  zero
//! trailer of 16 bytes
//!      0      4  number of records
//!      4      4  1 if all documents are listed, else 0
//!      8      4  number of documents that are folded
//!     12      4  CRC-32C of the 12 bytes above
//! ```

use crate::page::PER_DOCUMENT_MAX;
use crate::spool::{Blob, OpenFile, ResultFiles, SpoolError};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Listed documents: 3 MiB while counting, over three thousand pages.
pub const DOCUMENTS_MAX: usize = 32 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentGroup {
    /// Number of matches; `None` if not all were counted.
    pub total: Option<u64>,
    /// Positions of its first matches, at most five.
    pub first: Vec<u64>,
}

/// Hash of the document's name, and package id. Colliding names in a package count as one document.
pub type DocumentKey = (u64, u32);

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
    folded: u32,
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

#[derive(Debug, Default)]
pub struct DocumentTally {
    known: FxHashMap<DocumentKey, u32>,
    records: Vec<(DocumentKey, DocumentRecord)>,
    /// Last counted record: most matches of a document follow each other.
    last: usize,
    is_full: bool,
}

impl DocumentTally {
    pub fn add(&mut self, key: DocumentKey, position: u64) {
        if let Some(record) = self.record(key) {
            record.total += 1;
            record.push(position);
        }
    }

    pub fn append(&mut self, next: &DocumentTally, start: u64) {
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

    /// `None` past the maximum.
    fn record(&mut self, key: DocumentKey) -> Option<&mut DocumentRecord> {
        if self.is_full {
            return None;
        }
        if self.records.get(self.last).is_none_or(|it| it.0 != key) {
            self.last = self.index(key)? as usize;
        }
        Some(&mut self.records[self.last].1)
    }

    fn index(&mut self, key: DocumentKey) -> Option<u32> {
        Some(match self.known.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if self.records.len() == DOCUMENTS_MAX => {
                self.is_full = true;
                return None;
            }
            Entry::Vacant(new) => {
                self.records.push((key, DocumentRecord::default()));
                *new.insert(self.records.len() as u32 - 1)
            }
        })
    }

    /// Writes the records after the packages. `is_folded` tests a position of the order.
    pub fn finish(
        self,
        to: &ResultFiles,
        mut is_folded: impl FnMut(u64) -> Result<bool, SpoolError>,
    ) -> Result<(), SpoolError> {
        let mut bytes = Vec::with_capacity(self.records.len() * RECORD_BYTES + TRAILER_BYTES);
        let mut bits = vec![0_u64; self.records.len().div_ceil(64)];
        for (index, (_, mut record)) in self.records.into_iter().enumerate() {
            record.checksum = record.checksum();
            bytes.extend_from_slice(record.as_bytes());
            bits[index / 64] |= u64::from(is_folded(record.first[0])?) << (index % 64);
        }
        let mut trailer = Trailer {
            records: (bytes.len() / RECORD_BYTES) as u32,
            is_all: u32::from(!self.is_full),
            folded: bits.iter().map(|word| word.count_ones()).sum(),
            ..Trailer::default()
        };
        if trailer.folded > 0 {
            bytes.extend_from_slice(bits.as_bytes());
            let checksum = u64::from(crc32c::crc32c(bits.as_bytes()));
            bytes.extend_from_slice(checksum.as_bytes());
        }
        trailer.checksum = crc32c::crc32c(&trailer.as_bytes()[..12]);
        bytes.extend_from_slice(trailer.as_bytes());
        to.append(&to.packages, &bytes)
    }
}

pub(crate) struct DocumentList<'a> {
    blob: &'a Blob,
    file: OpenFile,
    trailer: Trailer,
}

impl<'a> DocumentList<'a> {
    /// Reads the trailer; `None` if the file is empty because ordering failed.
    pub(crate) fn open(blob: &'a Blob) -> Result<Option<DocumentList<'a>>, SpoolError> {
        if blob.is_empty() {
            return Ok(None);
        }
        let (mut file, mut trailer) = (OpenFile::default(), Trailer::default());
        let at = blob.len().saturating_sub(TRAILER_BYTES as u64);
        blob.read_all(trailer.as_mut_bytes(), at, &mut file)?;
        if trailer.checksum != crc32c::crc32c(&trailer.as_bytes()[..12]) {
            return Err(blob.corrupt(at));
        }
        Ok(Some(DocumentList {
            blob,
            file,
            trailer,
        }))
    }

    pub(crate) fn count(&self) -> usize {
        self.trailer.records as usize
    }

    pub(crate) fn count_unfolded(&self) -> usize {
        self.trailer.records.saturating_sub(self.trailer.folded) as usize
    }

    pub(crate) fn read_unfolded(
        &mut self,
        range: Range<usize>,
    ) -> Result<Vec<DocumentGroup>, SpoolError> {
        let bits = self.folded_bits()?;
        let is_folded = |index: usize| {
            bits.get(index / 64)
                .is_some_and(|word| word >> (index % 64) & 1 == 1)
        };
        let unfolded = (0..self.count()).filter(|&index| !is_folded(index));
        let indexes: Vec<usize> = unfolded.skip(range.start).take(range.len()).collect();
        let (Some(&first), Some(&last)) = (indexes.first(), indexes.last()) else {
            return Ok(Vec::new());
        };
        let documents = (first..).zip(self.read(first..last + 1)?);
        let is_wanted = |(index, document)| (!is_folded(index)).then_some(document);
        Ok(documents.filter_map(is_wanted).collect())
    }

    pub(crate) fn read(&mut self, range: Range<usize>) -> Result<Vec<DocumentGroup>, SpoolError> {
        let mut found = vec![DocumentRecord::default(); range.len()];
        let at = self.start()? + (range.start * RECORD_BYTES) as u64;
        let bytes = found.as_mut_bytes();
        self.blob.read_all(bytes, at, &mut self.file)?;
        let is_all = self.trailer.is_all == 1;
        let grouped = |record: &DocumentRecord| {
            (record.checksum == record.checksum()).then(|| DocumentGroup {
                total: is_all.then_some(record.total),
                first: record.positions().to_vec(),
            })
        };
        let grouped: Option<_> = found.iter().map(grouped).collect();
        grouped.ok_or_else(|| self.blob.corrupt(at))
    }

    fn folded_bits(&mut self) -> Result<Vec<u64>, SpoolError> {
        let bytes = self.bitmap_bytes();
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let mut words = vec![0_u64; bytes / 8];
        let at = self.blob.len().checked_sub((bytes + TRAILER_BYTES) as u64);
        let at = at.ok_or_else(|| self.blob.corrupt(0))?;
        self.blob
            .read_all(words.as_mut_bytes(), at, &mut self.file)?;
        let checksum = words.pop();
        if checksum != Some(u64::from(crc32c::crc32c(words.as_bytes()))) {
            return Err(self.blob.corrupt(at));
        }
        Ok(words)
    }

    fn start(&self) -> Result<u64, SpoolError> {
        let listed = self.count() * RECORD_BYTES + self.bitmap_bytes() + TRAILER_BYTES;
        let start = self.blob.len().checked_sub(listed as u64);
        start.ok_or_else(|| self.blob.corrupt(0))
    }

    fn bitmap_bytes(&self) -> usize {
        match self.trailer.folded {
            0 => 0,
            _ => self.count().div_ceil(64) * 8 + 8,
        }
    }
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
