//! Header of a shard of any version: counts and section ranges.
//!
//! In version 1 text n belongs to document n, and an entry of DOCUMENTS describes both.
//! **Invariant:** sections are inside the file, in order, as long as the counts say.

use super::error::ShardError;
use super::pages::CHECKSUM_BYTES;
use crate::codec::{ContentCodec, ENCODED_BLOCK_BYTES_MAX};
use crate::format::version_1::{self, DocumentOne, HeaderOne, PackageOne};
use crate::format::{
    self, BlockRecord, DocumentRecord, Extent, Header, MAGIC, PAGE_BYTES, PackageRecord,
    SECTIONS_MAX, Section, TextRecord, VERSION, VERSION_2,
};
use std::ops::Range;
use std::path::Path;
use zerocopy::FromBytes;
use zerocopy::little_endian::U64;

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) version: u32,
    pub(super) block_bytes: u32,
    pub(super) id: [u8; 32],
    pub(super) packages: u32,
    pub(super) texts: u32,
    pub(super) documents: u32,
    /// Entries of SHARED.
    pub(super) shared: u32,
    pub(super) blocks: u32,
    pub(super) codec: ContentCodec,
    pub(super) content_bytes: u64,
    /// Bytes of the documents: each text counts once per document.
    pub(super) text_bytes: u64,
    pub(super) file_bytes: u64,
    pub(super) checksums_crc: u32,
    /// Rules of defined words; 0 if not listed.
    pub(super) definition_rules: u32,
    sections: [Range<u64>; SECTIONS_MAX],
}

impl Layout {
    /// Reads and checks the header of a whole file.
    pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Layout, ShardError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(ShardError::NotAShard {
                path: path.to_owned(),
            });
        }
        let corrupt = |offset, what| ShardError::corrupt(path, offset, what);
        let file_bytes = bytes.len() as u64;
        let cut = || corrupt(file_bytes, "the file ends in its header");
        let (page, _) = bytes.split_at_checked(PAGE_BYTES).ok_or_else(cut)?;
        let (header, _) = Header::ref_from_prefix(page).map_err(|_| cut())?;
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
        let (layout, codec) = match version {
            VERSION | VERSION_2 => (Layout::of(header), header.codec.get()),
            version_1::VERSION => {
                let (header, _) = HeaderOne::ref_from_prefix(page).map_err(|_| cut())?;
                (Layout::of_version_1(header), header.codec.get())
            }
            _ => return Err(corrupt(8, "unknown version or codec")),
        };
        let codec = match codec {
            format::CODEC_RAW => ContentCodec::Raw,
            format::CODEC_ZSTD if version > version_1::VERSION => ContentCodec::Zstd,
            _ => return Err(corrupt(8, "unknown version or codec")),
        };
        let layout = layout.map(|layout| Layout { codec, ..layout });
        let layout = layout.ok_or_else(|| corrupt(80, "position of a section"))?;
        if layout.file_bytes != file_bytes {
            return Err(corrupt(file_bytes, "the file is cut or has grown"));
        }
        layout.check(path)?;
        Ok(layout)
    }

    /// `None` if a section ends beyond the file.
    fn of(header: &Header) -> Option<Layout> {
        let file_bytes = header.file_bytes.get();
        let mut sections = <[Range<u64>; SECTIONS_MAX]>::default();
        for (section, extent) in sections.iter_mut().zip(header.sections) {
            *section = extent.range(file_bytes)?;
        }
        Some(Layout {
            version: header.version.get(),
            block_bytes: header.block_bytes.get(),
            id: header.id,
            packages: header.packages.get(),
            texts: header.texts.get(),
            documents: header.documents.get(),
            shared: header.shared.get(),
            blocks: header.blocks.get(),
            codec: ContentCodec::Raw,
            content_bytes: header.content_bytes.get(),
            text_bytes: header.text_bytes.get(),
            file_bytes,
            checksums_crc: header.checksums_crc.get(),
            definition_rules: header.definition_rules.get(),
            sections,
        })
    }

    fn of_version_1(header: &HeaderOne) -> Option<Layout> {
        let file_bytes = header.file_bytes.get();
        let mut sections = <[Range<u64>; SECTIONS_MAX]>::default();
        for (section, extent) in version_1::SECTIONS.into_iter().zip(header.sections) {
            let extent: Extent = extent;
            sections[section as usize] = extent.range(file_bytes)?;
        }
        Some(Layout {
            version: header.version.get(),
            block_bytes: header.block_bytes.get(),
            id: header.id,
            packages: header.packages.get(),
            texts: header.documents.get(),
            documents: header.documents.get(),
            shared: 0,
            blocks: header.blocks.get(),
            codec: ContentCodec::Raw,
            content_bytes: header.text_bytes.get(),
            text_bytes: header.text_bytes.get(),
            file_bytes,
            checksums_crc: header.checksums_crc.get(),
            definition_rules: 0,
            sections,
        })
    }

    pub(super) fn extent(&self, section: Section) -> Range<u64> {
        self.sections[section as usize].clone()
    }

    pub(super) fn is_version_1(&self) -> bool {
        self.version == version_1::VERSION
    }

    /// Checks order and lengths of the sections.
    fn check(&self, path: &Path) -> Result<(), ShardError> {
        let mut end = PAGE_BYTES as u64;
        for section in &self.sections {
            let is_absent = *section == (0..0);
            if !is_absent && section.start < end {
                return Err(ShardError::corrupt(path, 80, "position of a section"));
            }
            end = end.max(section.end);
        }
        // Ends the checksummed pages.
        if self.extent(Section::Checksums).start < PAGE_BYTES as u64 {
            return Err(ShardError::corrupt(path, 80, "position of a section"));
        }
        if self.documents < self.texts {
            return Err(ShardError::corrupt(path, 48, "number of documents"));
        }
        // Longer blocks are stored raw.
        let encoded_max = u64::from(self.blocks) * ENCODED_BLOCK_BYTES_MAX as u64;
        if self.content_bytes > encoded_max.saturating_add(self.file_bytes) {
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
        let table = |entries: u32, bytes: usize| u64::from(entries) * bytes as u64;
        let (package, text, document) = if self.is_version_1() {
            (size_of::<PackageOne>(), 0, size_of::<DocumentOne>())
        } else {
            let document = size_of::<DocumentRecord>();
            (
                size_of::<PackageRecord>(),
                size_of::<TextRecord>(),
                document,
            )
        };
        let block = size_of::<BlockRecord>() as u64;
        let dictionary = self.extent(Section::Dictionary);
        let pages = self.extent(Section::Checksums).start;
        let pages = pages.div_ceil(PAGE_BYTES as u64) - 1;
        let content = self.extent(Section::Content);
        let (content, frames) = match self.codec {
            ContentCodec::Raw => (self.content_bytes, 0),
            ContentCodec::Zstd => (
                content.end - content.start,
                (u64::from(self.blocks) + 1) * size_of::<U64>() as u64,
            ),
        };
        [
            (Section::Content, content),
            (Section::Frames, frames),
            (Section::Packages, table(self.packages, package)),
            (Section::Texts, table(self.texts, text)),
            (Section::Documents, table(self.documents, document)),
            (Section::Shared, table(self.shared, size_of::<u32>())),
            (Section::Blocks, (u64::from(self.blocks) + 1) * block),
            (
                Section::Dictionary,
                (dictionary.end - dictionary.start) / 8 * 8,
            ),
            (Section::Checksums, pages * CHECKSUM_BYTES as u64),
        ]
    }
}
