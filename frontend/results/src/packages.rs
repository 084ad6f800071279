//! Packages by best match: match counts, and positions of the first few.
//!
//! ```text
//! record of 112 bytes, for each package
//!      0      8  offset of its name, after the records
//!      8      4  bytes of the name
//!     12      4  number of positions, at most 10
//!     16      8  matches
//!     24     80  positions of its first matches in the order
//!    104      4  CRC-32C of the 104 bytes above and of the name
//!    108      4  zero
//! names, in the order of the records
//! ```
//!
//! A page by package is a slice of the records.

use crate::order::StringPool;
use crate::page::PER_PACKAGE_MAX;
use crate::spool::{Blob, OpenFile, ResultFiles, SpoolError};
use std::ops::Range;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageGroup {
    pub name: Vec<u8>,
    pub total: u64,
    /// Positions of its first matches, at most ten.
    pub first: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
struct PackageRecord {
    name: u64,
    name_bytes: u32,
    positions: u32,
    total: u64,
    first: [u64; PER_PACKAGE_MAX],
    checksum: u32,
    zero: u32,
}

const RECORD_BYTES: usize = size_of::<PackageRecord>();

impl PackageRecord {
    fn push(&mut self, position: u64) {
        if let Some(first) = self.first.get_mut(self.positions as usize) {
            *first = position;
            self.positions += 1;
        }
    }

    fn checksum(&self, name: &[u8]) -> u32 {
        crc32c::crc32c_append(crc32c::crc32c(&self.as_bytes()[..104]), name)
    }
}

#[derive(Debug)]
pub struct PackageTally {
    /// Record index plus 1 by package id; 0: none.
    positions: Vec<u32>,
    records: Vec<(u32, PackageRecord)>,
}

impl PackageTally {
    pub fn new(packages: usize) -> PackageTally {
        PackageTally {
            positions: vec![0; packages],
            records: Vec::new(),
        }
    }

    pub fn add(&mut self, package: u32, position: u64) {
        let record = self.record(package);
        record.total += 1;
        record.push(position);
    }

    pub fn append(&mut self, next: &PackageTally, start: u64) {
        for (package, counted) in &next.records {
            let record = self.record(*package);
            record.total += counted.total;
            let first = &counted.first[..counted.positions as usize];
            for position in first {
                record.push(start + position);
            }
        }
    }

    fn record(&mut self, package: u32) -> &mut PackageRecord {
        let position = &mut self.positions[package as usize];
        if *position == 0 {
            self.records.push((package, PackageRecord::default()));
            *position = self.records.len() as u32;
        }
        &mut self.records[*position as usize - 1].1
    }

    /// Writes the records. Returns their number.
    pub fn finish(mut self, names: &StringPool, to: &ResultFiles) -> Result<u32, SpoolError> {
        let mut bytes = Vec::with_capacity(self.records.len() * RECORD_BYTES);
        let mut all_names = Vec::new();
        for (package, record) in &mut self.records {
            let name = names.name(*package);
            record.name = all_names.len() as u64;
            record.name_bytes = name.len() as u32;
            record.checksum = record.checksum(name);
            all_names.extend_from_slice(name);
            bytes.extend_from_slice(record.as_bytes());
        }
        bytes.append(&mut all_names);
        to.append(&to.packages, &bytes)?;
        Ok(self.records.len() as u32)
    }
}

pub fn read(blob: &Blob, count: u32, range: Range<usize>) -> Result<Vec<PackageGroup>, SpoolError> {
    let start = (range.start * RECORD_BYTES) as u64;
    let mut records = vec![PackageRecord::default(); range.len()];
    let mut file = OpenFile::default();
    blob.read_all(records.as_mut_bytes(), start, &mut file)?;
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Ok(Vec::new());
    };
    let names_start = first.name;
    let names_end = last.name.saturating_add(last.name_bytes.into());
    if names_end > blob.len() || names_start > names_end {
        return Err(blob.corrupt(start));
    }
    let mut names = vec![0; (names_end - names_start) as usize];
    let base = u64::from(count) * RECORD_BYTES as u64;
    blob.read_all(&mut names, base + names_start, &mut file)?;
    let package = |record: &PackageRecord| {
        let at = usize::try_from(record.name.checked_sub(names_start)?).ok()?;
        let name = names.get(at..)?.get(..record.name_bytes as usize)?;
        let is_whole = record.checksum == record.checksum(name);
        is_whole.then(|| PackageGroup {
            name: name.to_vec(),
            total: record.total,
            first: record.first[..record.positions as usize].to_vec(),
        })
    };
    let packages: Option<_> = records.iter().map(package).collect();
    packages.ok_or_else(|| blob.corrupt(start))
}
