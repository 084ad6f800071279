//! Bytes of a shard of version 1, read but no longer written: each document has its own text.
//! Numbers are little endian; "page" is 4,096 bytes.
//!
//! ```text
//! page 0       header
//!      0    8  magic: "TRAWLSHD"
//!      8    4  version: 1
//!     12    4  target size of a block, in bytes
//!     16   32  id: BLAKE3 of version, block size, and the sections NAMES to SKIPPED, each after
//!              its length in 8 bytes
//!     48    4  packages      52  4  documents     56  4  blocks
//!     60    4  codec of the content: 0, raw
//!     64    8  bytes of text      72  8  bytes of the file
//!     80   16  for each of the 9 sections, in the order below: offset, length in bytes
//!    224    4  CRC-32C of the section CHECKSUMS
//!    228 3864  zeros
//!   4092    4  CRC-32C of the 4,092 bytes before
//! page 1...    sections, each beginning at a multiple of 8, padded with zeros
//!    CONTENT      the texts of the documents, in the order of DOCUMENTS; without byte-order marks,
//!                 and UTF-16 converted to UTF-8
//!    POSTINGS     posting lists (see [`posting`](crate::posting)), in the order of their trigrams,
//!                 and 8 zeros
//!    DICTIONARY   8 per trigram, ascending: its three bytes from the top bit on (a << 56 |
//!                 b << 48 | c << 40), then 40 bits: the offset of its list in POSTINGS; or, for a
//!                 list of one block, bit 39 and the block
//!    NAMES        for each package the name of its directory, then the paths of its documents
//!    PACKAGES     24 per package, best first: offset in NAMES 8, length 4, first document 4,
//!                 popularity (`inst`) f32, (`rdep`) f32
//!    DOCUMENTS    56 per document: offset of its path in NAMES 8, length 4, first block 4, lines
//!                 4, static rank f32, BLAKE3 of its text 32
//!    BLOCKS       12 per block: offset in CONTENT 8, number of its first line, from 1, 4; and one
//!                 more entry for the end of the last block: offset, 0
//!    SKIPPED      for each skipped file: varints package, length of path; path; varint length of
//!                 reason; reason
//!    CHECKSUMS    CRC-32C of every page from page 1 on; the last page ends where CHECKSUMS begins
//! ```
//!
//! The blocks of a document end at the next document's first one; an empty document has none.
//!
//! Worked example: a package `p_1` of two documents and a binary file, of unknown popularity. A
//! test reads this shard from the text below.
//!
#![doc = include_str!("example_1.md")]

use super::{PAGE_BYTES, Section};
use zerocopy::little_endian::{F32, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub(crate) const VERSION: u32 = 1;

pub(crate) const SECTIONS: [Section; 9] = [
    Section::Content,
    Section::Postings,
    Section::Dictionary,
    Section::Names,
    Section::Packages,
    Section::Documents,
    Section::Blocks,
    Section::Skipped,
    Section::Checksums,
];

#[derive(Clone, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct HeaderOne {
    pub(crate) magic: [u8; 8],
    pub(crate) version: U32,
    pub(crate) block_bytes: U32,
    pub(crate) id: [u8; 32],
    pub(crate) packages: U32,
    pub(crate) documents: U32,
    pub(crate) blocks: U32,
    pub(crate) codec: U32,
    pub(crate) text_bytes: U64,
    pub(crate) file_bytes: U64,
    pub(crate) sections: [super::Extent; 9],
    pub(crate) checksums_crc: U32,
    pub(crate) reserved: [u8; PAGE_BYTES - 228 - 4],
    pub(crate) crc: U32,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct PackageOne {
    pub(crate) name_offset: U64,
    pub(crate) name_bytes: U32,
    pub(crate) first_document: U32,
    pub(crate) inst: F32,
    pub(crate) rdep: F32,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct DocumentOne {
    pub(crate) path_offset: U64,
    pub(crate) path_bytes: U32,
    pub(crate) first_block: U32,
    pub(crate) lines: U32,
    pub(crate) static_rank: F32,
    pub(crate) hash: [u8; 32],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_version_1_have_the_documented_sizes() {
        assert_eq!(size_of::<HeaderOne>(), PAGE_BYTES);
        assert_eq!(size_of::<PackageOne>(), 24);
        assert_eq!(size_of::<DocumentOne>(), 56);
    }
}
