//! Bytes of a table of revisions, version 1. Numbers are little endian.
//!
//! ```text
//!   0   8  magic: "TRAWLREV"
//!   8   4  version: 1
//!  12   4  documents of the shard      16   4  skipped files of the shard
//!  20   4  names                       24   4  sets
//!  28   4  bytes of a set's number: 1, 2 or 4
//!  32  32  id of the shard's file
//!  64  12  for each of 4 sections: bytes 8, CRC-32C 4
//! 112   4  CRC-32C of the 112 bytes before
//! 116      sections, one after the other
//!      NAMES    full names of refs, ascending by short name, then by full name: for each a varint
//!               length, and its bytes
//!      SETS     for each set from number 2 on: a varint number of ranges of names; for each range
//!               varints: names since the end of the last one, names in it
//!      NUMBERS  the number of the set of each document, then of each skipped file. Set 0 is that
//!               of documents in no revision, set 1 that of documents without revisions
//!      OBJECTS  for each document, then for each skipped file: the length of an id (0, 8, 20 or
//!               32), and its bytes
//! ```
//!
//! The file name has the first 8 bytes of its BLAKE3, the manifest the whole hash.

use super::{FIRST_LISTED, ObjectId, RevisionTable, TableEntry, order};
use crate::posting::{decode_varint, encode_varint};
use std::ops::Range;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: [u8; 8] = *b"TRAWLREV";
const VERSION: u32 = 1;

/// Bytes of a ref name: git keeps refs in files.
const NAME_BYTES_MAX: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged at byte {offset} ({what})")]
pub struct TableError {
    pub offset: usize,
    pub what: &'static str,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct TableHeader {
    magic: [u8; 8],
    version: U32,
    documents: U32,
    skipped: U32,
    names: U32,
    sets: U32,
    number_bytes: U32,
    shard: [u8; 32],
    pub(super) sections: [TableSection; 4],
    pub(super) crc: U32,
}

#[derive(Clone, Copy, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct TableSection {
    pub(super) bytes: U64,
    pub(super) crc: U32,
}

pub(super) const HEADER_BYTES: usize = size_of::<TableHeader>();

impl RevisionTable {
    pub fn encode(&self) -> Vec<u8> {
        let number_bytes = match self.sets.len() as u32 + FIRST_LISTED {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        let sections = [
            self.encode_names(),
            self.encode_sets(),
            self.encode_numbers(number_bytes),
            self.encode_objects(),
        ];
        let mut header = TableHeader {
            magic: MAGIC,
            version: VERSION.into(),
            documents: self.documents.into(),
            skipped: (self.entries.len() as u32 - self.documents).into(),
            names: (self.names.len() as u32).into(),
            sets: (self.sets.len() as u32).into(),
            number_bytes: (number_bytes as u32).into(),
            shard: self.shard,
            sections: Default::default(),
            crc: 0.into(),
        };
        for (section, bytes) in header.sections.iter_mut().zip(&sections) {
            section.bytes = (bytes.len() as u64).into();
            section.crc = crc32c::crc32c(bytes).into();
        }
        header.crc = header_crc(&header).into();
        [header.as_bytes(), &sections.concat()].concat()
    }

    fn encode_names(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for name in &self.names {
            encode_varint(name.len() as u64, &mut out);
            out.extend_from_slice(name);
        }
        out
    }

    fn encode_sets(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for set in &self.sets {
            encode_varint(set.len() as u64, &mut out);
            let mut end = 0;
            for range in set {
                encode_varint(u64::from(range.start - end), &mut out);
                encode_varint(range.len() as u64, &mut out);
                end = range.end;
            }
        }
        out
    }

    fn encode_numbers(&self, number_bytes: usize) -> Vec<u8> {
        let numbers = self.entries.iter().map(|entry| entry.set.to_le_bytes());
        let numbers = numbers.flat_map(|bytes| bytes.into_iter().take(number_bytes));
        numbers.collect()
    }

    fn encode_objects(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for TableEntry { object, .. } in &self.entries {
            out.push(object.as_bytes().len() as u8);
            out.extend_from_slice(object.as_bytes());
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<RevisionTable, TableError> {
        let error = |offset, what| TableError { offset, what };
        let (header, _) = TableHeader::ref_from_prefix(bytes)
            .map_err(|_| error(bytes.len(), "the file ends in its header"))?;
        if header.magic != MAGIC {
            return Err(error(0, "not a table of revisions"));
        }
        if header_crc(header) != header.crc.get() {
            return Err(error(0, "checksum of the header"));
        }
        if header.version.get() != VERSION {
            return Err(error(8, "unknown version: update Trawl"));
        }
        let mut table = RevisionTable {
            shard: header.shard,
            documents: header.documents.get(),
            ..RevisionTable::default()
        };
        let mut rest = Sections {
            headers: header.sections.iter(),
            bytes,
            offset: HEADER_BYTES,
        };
        rest.decode("names", |rest| table.decode_names(rest, header.names.get()))?;
        rest.decode("sets", |rest| table.decode_sets(rest, header.sets.get()))?;
        let count = u64::from(header.documents.get()) + u64::from(header.skipped.get());
        rest.decode("numbers of sets", |rest| {
            table.decode_numbers(rest, header.number_bytes.get(), count)
        })?;
        rest.decode("ids of objects", |rest| table.decode_objects(rest))?;
        if rest.offset != bytes.len() {
            return Err(error(rest.offset, "the file has grown"));
        }
        Ok(table)
    }

    fn decode_names(&mut self, rest: &mut &[u8], count: u32) -> Option<()> {
        for _ in 0..count {
            let length = usize::try_from(decode_varint(rest)?).ok()?;
            let name = rest.split_off(..length)?;
            let is_later = self
                .names
                .last()
                .is_none_or(|last| order(last) < order(name));
            if !is_later || !(1..=NAME_BYTES_MAX).contains(&length) {
                return None;
            }
            self.names.push(name.into());
        }
        Some(())
    }

    fn decode_sets(&mut self, rest: &mut &[u8], count: u32) -> Option<()> {
        let names = self.names.len() as u32;
        for _ in 0..count {
            let ranges = decode_varint(rest)?;
            let (mut set, mut end) = (Vec::<Range<u32>>::new(), 0_u32);
            for number in 0..ranges {
                let (gap, length) = (decode_varint(rest)?, decode_varint(rest)?);
                let start = end.checked_add(u32::try_from(gap).ok()?)?;
                end = start.checked_add(u32::try_from(length).ok()?)?;
                let is_apart = number == 0 || gap > 0;
                if length == 0 || !is_apart || end > names {
                    return None;
                }
                set.push(start..end);
            }
            if set.is_empty() {
                return None;
            }
            self.sets.push(set);
        }
        Some(())
    }

    fn decode_numbers(&mut self, rest: &mut &[u8], bytes: u32, count: u64) -> Option<()> {
        let sets = FIRST_LISTED + self.sets.len() as u32;
        let is_good = matches!(bytes, 1 | 2 | 4);
        if !is_good || rest.len() as u64 != count.checked_mul(u64::from(bytes))? {
            return None;
        }
        for number in rest.chunks_exact(bytes as usize) {
            let mut value = [0; 4];
            value[..number.len()].copy_from_slice(number);
            let set = Some(u32::from_le_bytes(value)).filter(|&set| set < sets)?;
            let object = ObjectId::NONE;
            self.entries.push(TableEntry { set, object });
        }
        *rest = &[];
        Some(())
    }

    fn decode_objects(&mut self, rest: &mut &[u8]) -> Option<()> {
        for entry in &mut self.entries {
            let length = *rest.split_off_first()?;
            entry.object = ObjectId::new(rest.split_off(..usize::from(length))?)?;
        }
        Some(())
    }
}

struct Sections<'a> {
    headers: std::slice::Iter<'a, TableSection>,
    bytes: &'a [u8],
    offset: usize,
}

impl Sections<'_> {
    fn decode(
        &mut self,
        what: &'static str,
        decode: impl FnOnce(&mut &[u8]) -> Option<()>,
    ) -> Result<(), TableError> {
        let (offset, error) = (self.offset, |offset, what| TableError { offset, what });
        let header = self.headers.next().expect("a header for each section");
        let length = usize::try_from(header.bytes.get()).ok();
        let end = length.and_then(|length| offset.checked_add(length));
        let part = end.and_then(|end| self.bytes.get(offset..end));
        let mut rest = part.ok_or_else(|| error(self.bytes.len(), "the file is cut"))?;
        if crc32c::crc32c(rest) != header.crc.get() {
            return Err(error(offset, "checksum"));
        }
        self.offset += rest.len();
        let decoded = decode(&mut rest).filter(|()| rest.is_empty());
        decoded.ok_or_else(|| error(self.offset - rest.len(), what))
    }
}

pub(super) fn header_crc(header: &TableHeader) -> u32 {
    crc32c::crc32c(&header.as_bytes()[..HEADER_BYTES - 4])
}
