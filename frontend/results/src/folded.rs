//! Bitmap of the matches of the order that are of folded documents.
//!
//! ```text
//! record of 528 bytes, for every 4,096 matches of the order
//!      0      8  number of matches before them that are not folded
//!      8    512  a bit for each match, the lowest first: it is folded
//!    520      4  CRC-32C of the 520 bytes above
//!    524      4  zero
//! ```
//!
//! The n-th match that is not folded is found by binary search. Empty if no match is folded.

use crate::spool::{Blob, OpenFile, ResultFiles, SpoolError};
use std::ops::Range;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

pub const MATCHES_A_RECORD: usize = 4096;

const WORDS: usize = MATCHES_A_RECORD / 64;

const RECORD_BYTES: u64 = size_of::<Record>() as u64;

#[derive(Clone, Copy, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
struct Record {
    before: u64,
    folded: [u64; WORDS],
    checksum: u32,
    zero: u32,
}

impl Record {
    fn checksum(&self) -> u32 {
        crc32c::crc32c(&self.as_bytes()[..520])
    }
}

pub struct FoldedWriter<'a> {
    spool: &'a ResultFiles,
    /// Number of unfolded matches so far.
    pub unfolded: u64,
}

impl<'a> FoldedWriter<'a> {
    pub fn new(spool: &'a ResultFiles) -> FoldedWriter<'a> {
        FoldedWriter { spool, unfolded: 0 }
    }

    /// Adds bits of the next `len` matches; only the last call may end within a record.
    pub fn push(&mut self, bits: &[u64], len: usize) -> Result<(), SpoolError> {
        let mut bytes = Vec::new();
        let starts = (0..len).step_by(MATCHES_A_RECORD);
        for (start, words) in starts.zip(bits.chunks(WORDS)) {
            let mut record = Record::new_zeroed();
            record.before = self.unfolded;
            record.folded[..words.len()].copy_from_slice(words);
            record.checksum = record.checksum();
            bytes.extend_from_slice(record.as_bytes());
            let folded: u32 = words.iter().map(|word| word.count_ones()).sum();
            let matches = MATCHES_A_RECORD.min(len - start) as u64;
            self.unfolded += matches - u64::from(folded);
        }
        self.spool.append(&self.spool.folded, &bytes)
    }
}

/// Positions in the order of the unfolded matches with these numbers.
/// `matches` is the order's length.
pub fn positions(blob: &Blob, matches: u64, range: Range<u64>) -> Result<Vec<u64>, SpoolError> {
    if blob.is_empty() {
        return Ok(range.collect());
    }
    let mut reader = FoldedFlags::new(blob);
    let mut at = reader.record_of(range.start)?;
    let mut found = Vec::with_capacity((range.end - range.start) as usize);
    let mut number = None;
    while (found.len() as u64) < range.end - range.start {
        let record = reader.read(at)?;
        let mut next = *number.get_or_insert(record.before);
        let first = at * MATCHES_A_RECORD as u64;
        let end = matches.min(first + MATCHES_A_RECORD as u64);
        for position in first..end {
            let bit = (position - first) as usize;
            if record.folded[bit / 64] >> (bit % 64) & 1 == 0 {
                if range.contains(&next) {
                    found.push(position);
                }
                next += 1;
            }
        }
        number = Some(next);
        at += 1;
    }
    Ok(found)
}

/// Reads the folded bits of matches at ascending positions.
pub struct FoldedFlags<'a> {
    blob: &'a Blob,
    file: OpenFile,
    last: Option<(u64, Record)>,
}

impl<'a> FoldedFlags<'a> {
    /// Reads this file.
    pub fn new(blob: &'a Blob) -> FoldedFlags<'a> {
        FoldedFlags {
            blob,
            file: OpenFile::default(),
            last: None,
        }
    }

    pub fn get(&mut self, position: u64) -> Result<bool, SpoolError> {
        if self.blob.is_empty() {
            return Ok(false);
        }
        let number = position / MATCHES_A_RECORD as u64;
        if self.last.as_ref().is_none_or(|(known, _)| *known != number) {
            self.last = Some((number, self.read(number)?));
        }
        let (_, record) = self.last.as_ref().expect("it was read");
        let bit = (position % MATCHES_A_RECORD as u64) as usize;
        Ok(record.folded[bit / 64] >> (bit % 64) & 1 == 1)
    }

    /// Last record that begins at or before an unfolded match.
    fn record_of(&mut self, number: u64) -> Result<u64, SpoolError> {
        let mut records = 0..self.blob.len() / RECORD_BYTES;
        while records.end - records.start > 1 {
            let middle = records.start + (records.end - records.start) / 2;
            if self.read(middle)?.before <= number {
                records.start = middle;
            } else {
                records.end = middle;
            }
        }
        Ok(records.start)
    }

    fn read(&mut self, at: u64) -> Result<Record, SpoolError> {
        let mut record = Record::new_zeroed();
        let offset = at * RECORD_BYTES;
        let bytes = record.as_mut_bytes();
        self.blob.read_all(bytes, offset, &mut self.file)?;
        if record.checksum != record.checksum() {
            return Err(self.blob.corrupt(offset));
        }
        Ok(record)
    }
}
