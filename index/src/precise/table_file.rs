//! Bytes of a file of precise places, version 1. Numbers are little endian.
//!
//! ```text
//!   0   8  magic: "TRAWLPRE"
//!   8   4  version: 1
//!  12  20  numbers of the entries of the next five tables, 4 each
//!  32      SOURCES      BLAKE3 of a SCIP file 32, package 8; ascending by package
//!          DOCUMENTS    BLAKE3 of a text 32, package 8, path 8, first occurrence 4; ascending
//!          OCCURRENCES  line from 1, column and length in bytes, symbol: 4 each; the highest bit
//!                       of a symbol marks a definition. By document, line and column
//!          SYMBOLS      name 8, documentation 8, first place 4; ascending by name
//!          PLACES       number of an occurrence 4, by symbol
//!          STRINGS      to the end. A string is its offset here 4, and its length 4
//! ```

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: [u8; 8] = *b"TRAWLPRE";
const VERSION: u32 = 1;

pub(super) const DEFINITION: u32 = 1 << 31;

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
        #[repr(C)]
        pub(super) struct $name {
            $(pub(super) $field: $type,)*
        }
    )*};
}

records! {
    Header { magic: [u8; 8], version: U32, counts: [U32; 5] }
    StringAt { offset: U32, bytes: U32 }
    Source { hash: [u8; 32], package: StringAt }
    Document { hash: [u8; 32], package: StringAt, path: StringAt, occurrences: U32 }
    Occurrence { line: U32, column: U32, bytes: U32, symbol: U32 }
    Symbol { name: StringAt, documentation: StringAt, places: U32 }
}

#[derive(Clone, Copy)]
pub(super) struct TableFile<'p> {
    pub(super) sources: &'p [Source],
    pub(super) documents: &'p [Document],
    pub(super) occurrences: &'p [Occurrence],
    pub(super) symbols: &'p [Symbol],
    pub(super) places: &'p [U32],
    pub(super) strings: &'p [u8],
}

impl<'p> TableFile<'p> {
    pub(super) fn read(bytes: &'p [u8]) -> Option<TableFile<'p>> {
        let (header, rest) = Header::ref_from_prefix(bytes).ok()?;
        if header.magic != MAGIC || header.version.get() != VERSION {
            return None;
        }
        let [sources, documents, occurrences, symbols, places] = header.counts;
        let (sources, rest) = table(rest, sources)?;
        let (documents, rest) = table(rest, documents)?;
        let (occurrences, rest) = table(rest, occurrences)?;
        let (symbols, rest) = table(rest, symbols)?;
        let (places, strings) = table(rest, places)?;
        Some(TableFile {
            sources,
            documents,
            occurrences,
            symbols,
            places,
            strings,
        })
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let count = |entries: usize| U32::new(entries as u32);
        let header = Header {
            magic: MAGIC,
            version: VERSION.into(),
            counts: [
                count(self.sources.len()),
                count(self.documents.len()),
                count(self.occurrences.len()),
                count(self.symbols.len()),
                count(self.places.len()),
            ],
        };
        let tables = [
            header.as_bytes(),
            self.sources.as_bytes(),
            self.documents.as_bytes(),
            self.occurrences.as_bytes(),
            self.symbols.as_bytes(),
            self.places.as_bytes(),
            self.strings,
        ];
        tables.concat()
    }

    pub(super) fn string(&self, at: StringAt) -> &'p [u8] {
        let start = at.offset.get() as usize;
        let end = start.saturating_add(at.bytes.get() as usize);
        self.strings.get(start..end).unwrap_or_default()
    }
}

fn table<T: FromBytes + KnownLayout + Immutable + Unaligned>(
    bytes: &[u8],
    count: U32,
) -> Option<(&[T], &[u8])> {
    <[T]>::ref_from_prefix_with_elems(bytes, count.get() as usize).ok()
}
