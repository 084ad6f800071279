//! The bytes of a shard, version 1. All numbers are little endian; "page" is 4,096 bytes.
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
//!    POSTINGS     posting lists (see `posting`), in the order of their trigrams, and 8 zeros
//!    DICTIONARY   8 per trigram, ascending: its three bytes from the top bit on (a << 56 | b << 48 |
//!                 c << 40), then 40 bits: the offset of its list in POSTINGS; or, for a list of
//!                 one block, bit 39 and the block
//!    NAMES        for each package the name of its directory, then the paths of its documents
//!    PACKAGES     24 per package, best first: offset in NAMES 8, length 4, first document 4,
//!                 popularity (`inst`) f32, (`rdep`) f32
//!    DOCUMENTS    56 per document: offset of its path in NAMES 8, length 4, first block 4, lines 4,
//!                 static rank f32, BLAKE3 of its text 32
//!    BLOCKS       12 per block: offset in CONTENT 8, number of its first line, from 1, 4; and one
//!                 more entry for the end of the last block: offset, 0
//!    SKIPPED      for each skipped file: varints package, length of path; path; varint length of
//!                 reason; reason
//!    CHECKSUMS    CRC-32C of every page from page 1 on; the last page ends where CHECKSUMS begins
//! ```
//!
//! A document's blocks go up to the next document's first one; an empty document has none.
//!
//! **Invariant:** a shard never changes after it has been written. A reader verifies a checksum
//! before it uses a byte: the header's at open, any other page's when it is first read.
//!
//! Worked example: a package `p_1` of two documents and a binary file, its popularity unknown. A test
//! builds this shard and compares it with the text below. `testdata/` has an index of every released
//! version of the format. (The dictionary's first entry, read backwards: 20 61 3b, which is `" a;"`,
//! then bit 39, then block 0.)
//!
#![doc = include_str!("format/example.md")]

use std::ops::Range;
use zerocopy::little_endian::{F32, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The first bytes of a shard.
pub(crate) const MAGIC: [u8; 8] = *b"TRAWLSHD";
/// The version that this module describes.
pub const VERSION: u32 = 1;
/// Bytes that one checksum covers.
pub(crate) const PAGE_BYTES: usize = 4096;
/// The codec of the content: raw bytes.
pub(crate) const CODEC_RAW: u32 = 0;

/// Bytes of a package's name or a document's path, at most. Operating systems limit a path to 4 KiB;
/// a frame holds one of each and has room for these.
pub(crate) const NAME_BYTES_MAX: u32 = 64 << 10;

/// The sections of a shard, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The documents' texts.
    Content,
    /// Posting lists.
    Postings,
    /// Trigrams, and the offsets of their lists.
    Dictionary,
    /// Names of packages and paths of documents.
    Names,
    /// Packages.
    Packages,
    /// Documents.
    Documents,
    /// Blocks.
    Blocks,
    /// Files that were left out, and why.
    Skipped,
    /// A checksum for every page of the other sections.
    Checksums,
}

impl Section {
    /// All sections, in their order.
    pub const ALL: [Section; 9] = [
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
}

/// Offset and length of a section.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct Extent {
    pub(crate) offset: U64,
    pub(crate) bytes: U64,
}

/// Bytes between the last field of the header and its checksum.
const RESERVED_BYTES: usize = PAGE_BYTES - 228 - 4;

/// Page 0.
#[derive(Clone, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct Header {
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
    pub(crate) sections: [Extent; 9],
    pub(crate) checksums_crc: U32,
    pub(crate) reserved: [u8; RESERVED_BYTES],
    pub(crate) crc: U32,
}

impl Header {
    /// Returns the range of a section in the file, in bytes.
    pub(crate) fn extent(&self, section: Section) -> Range<u64> {
        let extent = self.sections[section as usize];
        extent.offset.get()..extent.offset.get() + extent.bytes.get()
    }

    /// Computes the checksum that belongs into `crc`.
    pub(crate) fn checksum(&self) -> u32 {
        crc32c::crc32c(&self.as_bytes()[..PAGE_BYTES - 4])
    }
}

/// An entry of PACKAGES.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct PackageRecord {
    pub(crate) name_offset: U64,
    pub(crate) name_bytes: U32,
    pub(crate) first_document: U32,
    pub(crate) inst: F32,
    pub(crate) rdep: F32,
}

/// An entry of DOCUMENTS.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct DocumentRecord {
    pub(crate) path_offset: U64,
    pub(crate) path_bytes: U32,
    pub(crate) first_block: U32,
    pub(crate) lines: U32,
    pub(crate) static_rank: F32,
    pub(crate) hash: [u8; 32],
}

/// An entry of BLOCKS.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct BlockRecord {
    pub(crate) offset: U64,
    pub(crate) first_line: U32,
}

/// Set in the low 40 bits of a dictionary entry when they hold a block.
pub(crate) const SINGLE: u64 = 1 << 39;

/// The low bits of a dictionary entry: an offset in POSTINGS, or `SINGLE` and a block.
pub(crate) const PAYLOAD: u64 = (1 << 40) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_documented_sizes() {
        assert_eq!(size_of::<Header>(), PAGE_BYTES);
        assert_eq!(size_of::<PackageRecord>(), 24);
        assert_eq!(size_of::<DocumentRecord>(), 56);
        assert_eq!(size_of::<BlockRecord>(), 12);
    }
}
