//! The bytes of a shard, version 1. All numbers are little endian; "page" is 4,096 bytes.
//!
//! ```text
//! page 0       header
//!      0    8  magic: "TRAWLSHD"
//!      8    4  version: 1
//!     12    4  block size aimed at, in bytes
//!     16   32  id: BLAKE3 of version, block size, and the sections NAMES to SKIPPED, each behind
//!              its length in 8 bytes
//!     48    4  packages      52  4  documents     56  4  blocks
//!     60    4  codec of the content: 0, raw
//!     64    8  bytes of text      72  8  bytes of the file
//!     80   16  of each of the 9 sections, in the order below: offset, length in bytes
//!    224    4  CRC-32C of the section CHECKSUMS
//!    228 3864  zeros
//!   4092    4  CRC-32C of the 4,092 bytes before
//! page 1...    sections, each beginning at a multiple of 8, with zeros before it
//!    CONTENT      the documents' texts, one after the other, in the order of DOCUMENTS: without a
//!                 byte-order mark, and UTF-16 as UTF-8
//!    POSTINGS     posting lists (see `posting`), in the order of their trigrams, and 8 zeros
//!    DICTIONARY   8 a trigram, ascending: its three bytes from the top bit on (a << 56 | b << 48 |
//!                 c << 40), then 40 bits: the offset of its list in POSTINGS; or, of a list of
//!                 one block, bit 39 and the block
//!    NAMES        every package's directory name, and behind it the paths of its documents
//!    PACKAGES     24 a package, best first: offset in NAMES 8, length 4, first document 4,
//!                 popularity (`inst`) f32, (`rdep`) f32
//!    DOCUMENTS    56 a document: offset of its path in NAMES 8, length 4, first block 4, lines 4,
//!                 static rank f32, BLAKE3 of its text 32
//!    BLOCKS       12 a block: offset in CONTENT 8, number of its first line, from 1, 4; and one
//!                 entry more, where the last block ends: offset, 0
//!    SKIPPED      what was left out: varints package, length of path; path; varint length of
//!                 reason; reason; and so on
//!    CHECKSUMS    CRC-32C of every page from page 1 on; the last page ends where CHECKSUMS begins
//! ```
//!
//! A document's blocks go up to the next document's first one; an empty document has none.
//!
//! **Invariant:** nothing in a shard is changed after it has been written; a reader knows every
//! byte by a checksum before it believes it: the header's at open, any other page's at first touch.
//!
//! Worked example: a package `p_1` of two documents and a binary file, its popularity unknown. A test
//! builds this shard and compares it with what stands here; an index of every released version is in
//! `testdata/`. (The dictionary's first entry, read
//! backwards: 20 61 3b, which is `" a;"`, bit 39, block 0.)
//!
#![doc = include_str!("format/example.md")]

use std::ops::Range;
use zerocopy::little_endian::{F32, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// What a shard begins with.
pub(crate) const MAGIC: [u8; 8] = *b"TRAWLSHD";
/// The version this module describes.
pub const VERSION: u32 = 1;
/// Bytes under one checksum.
pub(crate) const PAGE_BYTES: usize = 4096;
/// The content's codec: its bytes as they are.
pub(crate) const CODEC_RAW: u32 = 0;

/// Bytes of a package's name or a document's path, at most. Systems bound a path at 4 KiB; a frame,
/// which holds one of each, has room for these.
pub(crate) const NAME_BYTES_MAX: u32 = 64 << 10;

/// The parts of a shard, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The documents' texts.
    Content,
    /// Posting lists.
    Postings,
    /// Trigrams and where their lists are.
    Dictionary,
    /// Names of packages and paths of documents.
    Names,
    /// Packages.
    Packages,
    /// Documents.
    Documents,
    /// Blocks.
    Blocks,
    /// What was left out, and why.
    Skipped,
    /// A checksum for every page of the others.
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

/// Where a section is.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct Extent {
    pub(crate) offset: U64,
    pub(crate) bytes: U64,
}

/// Bytes between the header's last field and its checksum.
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
    /// Returns where a section is in the file, in bytes.
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
    fn entries_have_the_sizes_of_the_description() {
        assert_eq!(size_of::<Header>(), PAGE_BYTES);
        assert_eq!(size_of::<PackageRecord>(), 24);
        assert_eq!(size_of::<DocumentRecord>(), 56);
        assert_eq!(size_of::<BlockRecord>(), 12);
    }
}
