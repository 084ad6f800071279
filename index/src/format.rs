//! Bytes of a shard, versions 2 and 3. Numbers are little endian; "page" is 4,096 bytes. Version 3
//! adds lists of gaps (see [`posting`](crate::posting)), which older programs cannot read; a shard
//! without any is written in version 2.
//!
//! A *text* is stored once; a *document* is a package, a path and a text. Texts are ordered by
//! their best document: by package, then by path rank. Documents are numbered by text, so those of
//! a text are a range.
//!
//! ```text
//! page 0       header
//!      0    8  magic: "TRAWLSHD"
//!      8    4  version: 2, or 3 if POSTINGS has a list of gaps
//!     12    4  target size of a block, in bytes
//!      16   32  id: BLAKE3 of the number 2 in 4 bytes, block size, and the sections NAMES to
//!               SKIPPED, each after its length in 8 bytes; of DECODED, if it is there; of the
//!               rules at 100, if they are not 0; of LANGUAGES, if it is there; of 1 in 4 bytes
//!               for a history
//!     48    4  packages      52  4  texts       56  4  documents
//!     60    4  entries of SHARED                64  4  blocks
//!     68    4  codec of the content: 0, raw; 1, zstd
//!     72    8  bytes of the texts               80  8  bytes of the documents: each text as often
//!              as it has documents
//!     88    8  bytes of the file
//!     96    4  CRC-32C of the section CHECKSUMS
//!     100    4  version of the lexers and parsers (`language::symbols::VERSION`) that found SYMBOLS
//!               and the words that blocks define. Others than the reader's are not used: symbols
//!               are found again from the texts
//!     104   16  for each of 16 sections: offset, length in bytes. The first fifteen are
//!               those below up to SYMBOLS, in this order, the last one is CHECKSUMS. The others are free:
//!               a reader skips those that it does not know
//!    360    4  1 if the documents are those of a history, else 0
//!    364 3728  zeros
//!   4092    4  CRC-32C of the 4,092 bytes before
//! page 1...    sections, each beginning at a multiple of 8, padded with zeros
//!    CONTENT      the texts, in the order of TEXTS; without byte-order marks, and UTF-16 converted
//!                 to UTF-8. Codec zstd: a dictionary of zstd, or nothing, then each block as a
//!                 frame of zstd that uses it; a block that would not be shorter, or has more than
//!                 1 MiB, is as it is
//!    POSTINGS     posting lists (see `posting`), in the order of their trigrams, and 8 zeros. A
//!                 trigram whose first byte is an upper-case letter is in no folded text: its list
//!                 has the blocks with a line that defines a word, by a hash of the word and how
//!                 much the line looks like it
//!    DICTIONARY   8 per trigram, ascending: its three bytes from the top bit on (a << 56 |
//!                 b << 48 | c << 40), then 40 bits: the offset of its list in POSTINGS; or, for a
//!                 list of one block, bit 39 and the block
//!    NAMES        for each package the name of its directory, then the paths of its documents
//!    PACKAGES     40 per package, best first: offset in NAMES 8, length 4, first text 4, first
//!                 entry in SHARED 4, documents 4, bytes of their texts 8, popularity (`inst`) f32,
//!                 (`rdep`) f32
//!    TEXTS        44 per text: first block 4, lines 4, first document 4, BLAKE3 32
//!    DOCUMENTS    24 per document, by text, then in the order of packages and of path ranks:
//!                 offset of its path in NAMES 8, length 4, package 4, text 4, static rank f32
//!    SHARED       4 per document whose text is not in the range of its own package: the document;
//!                 by package, ascending
//!    BLOCKS       12 per block: offset in the texts 8, number of its first line, from 1, 4; and
//!                 one more entry for the end of the last block: offset, 0
//!    SKIPPED      for each skipped file: varints package, length of path; path; varint length of
//!                 reason; reason
//!    DECODED      8 per document whose file was decoded: the document, ascending, 4; its encoding
//!                 4: 1, UTF-16 with the low byte first, or 2, with the high byte first. Absent if
//!                 there is none, and in shards of older programs, which did not note it
//!    PATHS        which documents may have a text in their path: the number of trigrams, 4; zeros,
//!                 4; then as in DICTIONARY 8 per trigram, and as in POSTINGS the lists, none of
//!                 gaps, and 8 zeros. A list has the groups of 64 documents in which a path has the
//!                 trigram. Absent in shards of older programs, and without documents
//!    FRAMES       codec zstd: for each block its offset in CONTENT 8, the first of which ends the
//!                 dictionary; and one more, the end of the last block. A block that takes as many
//!                 bytes there as in the texts is as it is, any other one is a frame. Codec raw:
//!                 absent
//!    LANGUAGES    8 per document in a language other than that of its path: the document, ascending,
//!                 4; its name 4: bits 0 to 30 its offset here, bit 31 if the repository sets it
//!                 (noted also if path and text name different languages). Then the names, in order
//!                 of their first document: length 1, and UTF-8, or nothing for no language. Absent
//!                 if there is none, and in shards of older programs
//!    SYMBOLS      offset in this section 8, for each text, and the end of the last one; then for each
//!                 text its symbols (see `symbols`), or of a history its facts (see `change`). Absent in shards of older programs
//!    CHECKSUMS    CRC-32C of every page from page 1 on; the last page ends where CHECKSUMS begins
//! ```
//!
//! Ranges end at the first one of the next entry: blocks and documents of a text, texts and SHARED
//! entries of a package. A package's texts are those with their best document in it. An empty text
//! has no block; every text has a document.
//!
//! The id ignores codec and posting lists: shards of the same documents have the same answers and
//! id.
//!
//! **Invariant:** a shard never changes once written. A reader verifies a checksum before it uses a
//! byte: the header's at open, others on first read. CHECKSUMS itself needs no prior check: a wrong
//! entry only rejects its page.
//!
//! Worked example: packages `p_1` and `q_1`, of unknown popularity. The first has two documents and
//! a binary file; the only document of the second is a copy. A test compares this shard with the
//! text below; `testdata/` has an index of every released version. (First dictionary entry,
//! backwards: 20 61 3b, which is `" a;"`, then bit 39, then block 0.)
//!

#![deny(clippy::disallowed_methods)]
#![doc = include_str!("format/example_2.md")]

pub(crate) mod version_1;

use std::ops::Range;
use zerocopy::little_endian::{F32, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub(crate) const MAGIC: [u8; 8] = *b"TRAWLSHD";
pub const VERSION: u32 = 3;
/// Version without them; part of every shard's id.
pub(crate) const VERSION_2: u32 = 2;
pub(crate) const PAGE_BYTES: usize = 4096;
pub(crate) const CODEC_RAW: u32 = 0;
pub(crate) const CODEC_ZSTD: u32 = 1;

/// Bytes of a directory name or path. Operating systems limit a path to 4 KiB; a frame has room for
/// one of each.
pub(crate) const NAME_BYTES_MAX: u32 = 64 << 10;

/// Sections by their number in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Content,
    Postings,
    Dictionary,
    Names,
    Packages,
    /// Texts; none in version 1, with one text per document.
    Texts,
    Documents,
    /// Documents with a text in the range of another package; none in version 1.
    Shared,
    Blocks,
    Skipped,
    Decoded,
    /// Trigrams of paths; absent in old shards.
    Paths,
    Frames,
    Languages,
    /// Definitions and classes of texts; absent in old shards.
    Symbols,
    Checksums = SECTIONS_MAX as isize - 1,
}

impl Section {
    pub const ALL: [Section; 16] = [
        Section::Content,
        Section::Postings,
        Section::Dictionary,
        Section::Names,
        Section::Packages,
        Section::Texts,
        Section::Documents,
        Section::Shared,
        Section::Blocks,
        Section::Skipped,
        Section::Decoded,
        Section::Paths,
        Section::Frames,
        Section::Languages,
        Section::Symbols,
        Section::Checksums,
    ];
}

pub(crate) const SECTIONS_MAX: usize = 16;

#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct Extent {
    pub(crate) offset: U64,
    pub(crate) bytes: U64,
}

impl Extent {
    /// `None` beyond `file_bytes`.
    pub(crate) fn range(self, file_bytes: u64) -> Option<Range<u64>> {
        let end = self.offset.get().checked_add(self.bytes.get())?;
        (end <= file_bytes).then_some(self.offset.get()..end)
    }
}

/// Bytes between the last header field and the checksum.
const RESERVED_BYTES: usize = PAGE_BYTES - 364 - 4;

/// Page 0.
#[derive(Clone, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 8],
    pub(crate) version: U32,
    pub(crate) block_bytes: U32,
    pub(crate) id: [u8; 32],
    pub(crate) packages: U32,
    pub(crate) texts: U32,
    pub(crate) documents: U32,
    pub(crate) shared: U32,
    pub(crate) blocks: U32,
    pub(crate) codec: U32,
    pub(crate) content_bytes: U64,
    pub(crate) text_bytes: U64,
    pub(crate) file_bytes: U64,
    pub(crate) checksums_crc: U32,
    pub(crate) symbols_version: U32,
    pub(crate) sections: [Extent; SECTIONS_MAX],
    pub(crate) is_history: U32,
    pub(crate) reserved: [u8; RESERVED_BYTES],
    pub(crate) crc: U32,
}

pub(crate) fn header_checksum(page: &[u8]) -> u32 {
    crc32c::crc32c(&page[..PAGE_BYTES - 4])
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct PackageRecord {
    pub(crate) name_offset: U64,
    pub(crate) name_bytes: U32,
    pub(crate) first_text: U32,
    pub(crate) first_shared: U32,
    pub(crate) documents: U32,
    pub(crate) text_bytes: U64,
    pub(crate) inst: F32,
    pub(crate) rdep: F32,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct TextRecord {
    pub(crate) first_block: U32,
    pub(crate) lines: U32,
    pub(crate) first_document: U32,
    pub(crate) hash: [u8; 32],
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct DocumentRecord {
    pub(crate) path_offset: U64,
    pub(crate) path_bytes: U32,
    pub(crate) package: U32,
    pub(crate) text: U32,
    pub(crate) static_rank: F32,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct BlockRecord {
    pub(crate) offset: U64,
    pub(crate) first_line: U32,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct DecodedRecord {
    pub(crate) document: U32,
    pub(crate) encoding: U32,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct LanguageRecord {
    pub(crate) document: U32,
    pub(crate) name: U32,
}

/// Marks a language set by `.gitattributes`.
pub(crate) const GIVEN: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TextEncoding {
    /// UTF-16, low byte first.
    Utf16Le = 1,
    /// UTF-16, high byte first.
    Utf16Be = 2,
}

impl TextEncoding {
    /// Name as in `Content-Type`.
    pub fn name(self) -> &'static str {
        match self {
            TextEncoding::Utf16Le => "utf-16le",
            TextEncoding::Utf16Be => "utf-16be",
        }
    }

    pub(crate) fn of(number: u32) -> Option<TextEncoding> {
        match number {
            1 => Some(TextEncoding::Utf16Le),
            2 => Some(TextEncoding::Utf16Be),
            _ => None,
        }
    }
}

pub(crate) const PATH_GROUP_DOCUMENTS: u32 = 64;

/// Marks a block in the low 40 bits of a dictionary entry.
pub(crate) const SINGLE: u64 = 1 << 39;

/// Low bits of a dictionary entry: offset in POSTINGS, or `SINGLE` and a block.
pub(crate) const PAYLOAD: u64 = (1 << 40) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_documented_sizes() {
        assert_eq!(size_of::<Header>(), PAGE_BYTES);
        assert_eq!(size_of::<PackageRecord>(), 40);
        assert_eq!(size_of::<TextRecord>(), 44);
        assert_eq!(size_of::<DocumentRecord>(), 24);
        assert_eq!(size_of::<BlockRecord>(), 12);
    }
}
