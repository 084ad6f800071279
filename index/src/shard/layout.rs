//! Header of a shard of any version: counts and section ranges.
//!
//! In version 1 text n belongs to document n, and an entry of DOCUMENTS describes both.
//! **Invariant:** sections are inside the file, in order, as long as the counts say.

use super::error::{Result, ShardError};
use super::pages::CHECKSUM_BYTES;
use crate::codec::{ContentCodec, ENCODED_BLOCK_BYTES_MAX};
use crate::format::version_1::{self, DocumentOne, HeaderOne, PackageOne};
use crate::format::{
    self, BlockRecord, DocumentRecord, Extent, Header, MAGIC, PAGE_BYTES, PackageRecord, Section,
    TextRecord, VERSION, VERSION_2,
};
use std::ops::Range;
use std::path::Path;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros};

impl Header {
    pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Header> {
        if !bytes.starts_with(&MAGIC) {
            return Err(ShardError::NotAShard(path.to_owned()));
        }
        let corrupt = |offset, what| ShardError::corrupt(path, offset, what);
        let file_bytes = bytes.len() as u64;
        let cut = || corrupt(file_bytes, "the file ends in its header");
        let (page, _) = bytes.split_at_checked(PAGE_BYTES).ok_or_else(cut)?;
        let (mut header, _) = Header::read_from_prefix(page).map_err(|_| cut())?;
        // A later version may change everything after its number.
        let version = header.version.get();
        if version > VERSION {
            return Err(ShardError::Newer {
                path: path.to_owned(),
                version,
            });
        }
        if format::header_checksum(page) != header.crc.get() {
            return Err(corrupt(0, "checksum of the header"));
        }
        if version == version_1::VERSION {
            let (old, _) = HeaderOne::ref_from_prefix(page).map_err(|_| cut())?;
            header = old.upgraded();
        }
        let is_known = match header.codec.get() {
            format::CODEC_RAW => (version_1::VERSION..=VERSION).contains(&version),
            format::CODEC_ZSTD => (VERSION_2..=VERSION).contains(&version),
            _ => false,
        };
        if !is_known {
            return Err(corrupt(8, "unknown version or codec"));
        }
        let is_inside = |extent: &Extent| extent.range(header.file_bytes.get()).is_some();
        if !header.sections.iter().all(is_inside) {
            return Err(corrupt(80, "position of a section"));
        }
        if header.file_bytes.get() != file_bytes {
            return Err(corrupt(file_bytes, "the file is cut or has grown"));
        }
        header.check(path)?;
        Ok(header)
    }

    pub(super) fn extent(&self, section: Section) -> Range<u64> {
        let Extent { offset, bytes } = self.sections[section as usize];
        offset.get()..offset.get() + bytes.get()
    }

    pub(super) fn content_codec(&self) -> ContentCodec {
        match self.codec.get() {
            format::CODEC_ZSTD => ContentCodec::Zstd,
            _ => ContentCodec::Raw,
        }
    }

    pub(super) fn is_version_1(&self) -> bool {
        self.version.get() == version_1::VERSION
    }

    fn check(&self, path: &Path) -> Result<()> {
        let mut end = PAGE_BYTES as u64;
        for Extent { offset, bytes } in &self.sections {
            let (start, bytes) = (offset.get(), bytes.get());
            let is_absent = start == 0 && bytes == 0;
            if !is_absent && start < end {
                return Err(ShardError::corrupt(path, 80, "position of a section"));
            }
            end = end.max(start + bytes);
        }
        // Ends the checksummed pages.
        if self.extent(Section::Checksums).start < PAGE_BYTES as u64 {
            return Err(ShardError::corrupt(path, 80, "position of a section"));
        }
        if self.documents.get() < self.texts.get() {
            return Err(ShardError::corrupt(path, 48, "number of documents"));
        }
        // Longer blocks are stored raw.
        let encoded_max = u64::from(self.blocks.get()) * ENCODED_BLOCK_BYTES_MAX as u64;
        if self.content_bytes.get() > encoded_max.saturating_add(self.file_bytes.get()) {
            return Err(ShardError::corrupt(path, 72, "bytes of the texts"));
        }
        for (section, bytes) in self.section_lengths() {
            let Range { start, end } = self.extent(section);
            if end - start != bytes {
                return Err(ShardError::corrupt(path, start, "length"));
            }
        }
        Ok(())
    }

    fn section_lengths(&self) -> [(Section, u64); 9] {
        let table = |entries: U32, bytes: usize| u64::from(entries.get()) * bytes as u64;
        let (package, text, document) = if self.is_version_1() {
            (size_of::<PackageOne>(), 0, size_of::<DocumentOne>())
        } else {
            let (text, document) = (size_of::<TextRecord>(), size_of::<DocumentRecord>());
            (size_of::<PackageRecord>(), text, document)
        };
        let blocks_and_end = u64::from(self.blocks.get()) + 1;
        let blocks = blocks_and_end * size_of::<BlockRecord>() as u64;
        let dictionary = self.extent(Section::Dictionary);
        let dictionary = (dictionary.end - dictionary.start) / 8 * 8;
        let pages = self.extent(Section::Checksums).start;
        let pages = pages.div_ceil(PAGE_BYTES as u64) - 1;
        let content = self.extent(Section::Content);
        let (content, frames) = match self.content_codec() {
            ContentCodec::Raw => (self.content_bytes.get(), 0),
            ContentCodec::Zstd => {
                let frames = blocks_and_end * size_of::<U64>() as u64;
                (content.end - content.start, frames)
            }
        };
        [
            (Section::Content, content),
            (Section::Frames, frames),
            (Section::Packages, table(self.packages, package)),
            (Section::Texts, table(self.texts, text)),
            (Section::Documents, table(self.documents, document)),
            (Section::Shared, table(self.shared, size_of::<u32>())),
            (Section::Blocks, blocks),
            (Section::Dictionary, dictionary),
            (Section::Checksums, pages * CHECKSUM_BYTES as u64),
        ]
    }
}

impl HeaderOne {
    fn upgraded(&self) -> Header {
        let mut header = Header::new_zeroed();
        header.version = self.version;
        header.block_bytes = self.block_bytes;
        header.id = self.id;
        header.packages = self.packages;
        header.texts = self.documents;
        header.documents = self.documents;
        header.blocks = self.blocks;
        header.codec = self.codec;
        header.content_bytes = self.text_bytes;
        header.text_bytes = self.text_bytes;
        header.file_bytes = self.file_bytes;
        header.checksums_crc = self.checksums_crc;
        for (section, extent) in version_1::SECTIONS.into_iter().zip(self.sections) {
            header.sections[section as usize] = extent;
        }
        header
    }
}
