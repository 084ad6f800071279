//! A shard, read: documents, packages, blocks and candidates, from bytes.
//!
//! The format is described in [`format`](crate::format). Opening looks at the header and the table
//! of checksums; every other page is checked when it is first looked at, so that a search pays for
//! what it reads. Of its packages some may be dead ([`Shard::with_dead`]): ids and counts of ids
//! know them, candidates, [`Shard::find`] and [`Shard::skipped`] do not.
//! **Invariant:** foreign bytes give an [`Error`] that names file and offset, never a panic and
//! never a wrong answer; no checksum is computed twice.
//!
//! A file may also lose its bytes while it is open, when it is cut or its disk fails: zeros are read
//! then. So what borrows from a shard ([`Shard::text`], names, entries) may be believed only after
//! [`Shard::intact`] has been asked, once for a unit of work, before anything of it leaves. What owns
//! all that it holds (an opened shard, [`Shard::candidates`], [`Shard::skipped`]) has been.

mod bytes;
mod candidates;
mod documents;
mod inside;
mod live;
mod pages;
mod ranges;

pub use candidates::Candidates;
pub use documents::DocumentCandidates;
pub use live::Counts;

use crate::document::{Class, Popularity};
use crate::file::{self, Bytes};
use crate::format::{
    self, BlockEntry, DocumentEntry, Header, MAGIC, NAME_BYTES_MAX, PAGE_BYTES, PackageEntry,
    Section, VERSION,
};
use crate::mapping::Damage;
use crate::trigram::Trigram;
use live::Live;
use pages::{CHECKSUM_BYTES, Pages};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerocopy::FromBytes;
use zerocopy::little_endian::U64;

/// A document of a shard: dense, in the order of static rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

/// A package of a shard: dense, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageId(pub u32);

/// A block of a shard: dense, in the order of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// Why a shard cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// The file system's reason.
    #[error("{}: cannot be read", path.display())]
    Io {
        /// The shard.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Not a shard at all.
    #[error("{}: not a shard of a Trawl index: remove it and build the index again with \
             `trawl index`",
            path.display())]
    NotAShard {
        /// The file.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error("{}: a shard of format {version}; this version of Trawl reads format {VERSION}: \
             update it, or build the index again", path.display())]
    Newer {
        /// The shard.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Damaged.
    #[error("{}: damaged at byte {offset} ({what}): remove it and build the index again with \
             `trawl index`",
            path.display())]
    Corrupt {
        /// The shard.
        path: PathBuf,
        /// Where, in bytes from the file's start.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// Somebody has written to the file after it was opened.
    #[error("{}: was changed while it was in use: remove it and build the index again with \
             `trawl index`",
            path.display())]
    Changed {
        /// The shard.
        path: PathBuf,
    },
}

/// A document, as the shard has it.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// Its id.
    pub id: DocId,
    /// Its path within its package.
    pub path: &'a [u8],
    /// Its blocks.
    pub blocks: Range<u32>,
    /// Its lines.
    pub lines: u32,
    /// What of its rank does not depend on the query.
    pub static_rank: f32,
    /// BLAKE3 of its text.
    pub hash: &'a [u8; 32],
}

/// A package, as the shard has it.
#[derive(Clone, Debug)]
pub struct Package<'a> {
    /// Its id.
    pub id: PackageId,
    /// The name of its directory, version included.
    pub directory: &'a [u8],
    /// Its documents.
    pub documents: Range<u32>,
    /// Share of installations, 0 when unknown.
    pub inst: f32,
    /// Share of reverse dependencies, 0 when unknown.
    pub rdep: f32,
}

/// A file that was left out of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its package.
    pub package: PackageId,
    /// Its path within the package.
    pub path: Vec<u8>,
    /// Why.
    pub reason: String,
}

/// An open shard.
pub struct Shard {
    path: PathBuf,
    bytes: Arc<Bytes>,
    header: Header,
    pages: Arc<Pages>,
    live: Live,
}

impl Shard {
    /// Opens the file at `path`.
    pub fn open(path: &Path) -> Result<Shard, ShardError> {
        let bytes = file::map(path).map_err(|source| ShardError::Io {
            path: path.to_owned(),
            source,
        })?;
        Shard::from_bytes(path, bytes)
    }

    /// A shard of `bytes`; `path` is for messages.
    pub fn from_bytes(path: &Path, bytes: Bytes) -> Result<Shard, ShardError> {
        let header = read_header(path, &bytes)?;
        let checksums = extent(&header, Section::Checksums);
        let table = &bytes[checksums.start as usize..checksums.end as usize];
        if crc32c::crc32c(table) != header.checksums_crc.get() {
            return Err(corrupt(path, checksums.start, "checksum of the checksums"));
        }
        let pages = Arc::new(Pages::new(table.len() / CHECKSUM_BYTES));
        let shard = Shard {
            path: path.to_owned(),
            live: Live::whole(header.id, counts(&header)),
            bytes: Arc::new(bytes),
            header,
            pages,
        };
        shard.check_tables()?;
        shard.intact()?;
        Ok(shard)
    }

    /// Whether the file still is what was opened: if so, all that has been read of it so far is
    /// true. Once it is not, it never is again, and the shard must be opened anew. It costs a system
    /// call, some tenths of a microsecond.
    pub fn intact(&self) -> Result<(), ShardError> {
        match self.bytes.damage() {
            None => Ok(()),
            Some(Damage::Lost { offset }) => Err(corrupt(
                &self.path,
                offset,
                "the file was cut or its disk failed while it was in use",
            )),
            Some(Damage::Written) => Err(ShardError::Changed {
                path: self.path.clone(),
            }),
        }
    }

    /// Whether damage is known of: it is not [`intact`](Self::intact), or a page had another checksum
    /// than it should. The file may be another one by now, so it is worth opening it anew.
    pub fn is_damaged(&self) -> bool {
        self.pages.has_failed() || self.intact().is_err()
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A hash of what of it counts: the file's, or, when packages are dead, BLAKE3 of the file's
    /// and of their numbers.
    pub fn id(&self) -> [u8; 32] {
        self.live.id
    }

    /// A hash of what is in the file, dead or not.
    pub fn file_id(&self) -> [u8; 32] {
        self.header.id
    }

    /// How many packages, dead or not.
    pub fn package_count(&self) -> u32 {
        self.header.packages.get()
    }

    /// How many documents, dead or not.
    pub fn document_count(&self) -> u32 {
        self.header.documents.get()
    }

    /// How many blocks, dead or not.
    pub fn block_count(&self) -> u32 {
        self.header.blocks.get()
    }

    /// Bytes of text, dead or not.
    pub fn text_bytes(&self) -> u64 {
        self.header.text_bytes.get()
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.header.file_bytes.get()
    }

    /// Distinct trigrams.
    pub fn trigram_count(&self) -> u64 {
        self.section_bytes(Section::Dictionary) / 8
    }

    /// The trigram number `index`, ascending; `index` must be below
    /// [`trigram_count`](Self::trigram_count).
    pub fn trigram(&self, index: u32) -> Result<Trigram, ShardError> {
        let value = self.dictionary_entry(index)? >> 40;
        Ok(Trigram::from_value(value as u32))
    }

    /// Length of a section in bytes.
    pub fn section_bytes(&self, section: Section) -> u64 {
        let extent = extent(&self.header, section);
        extent.end - extent.start
    }

    /// A document; `id` must be below [`document_count`](Self::document_count).
    pub fn document(&self, id: DocId) -> Result<Document<'_>, ShardError> {
        let entry: &DocumentEntry = self.entry(Section::Documents, id.0)?;
        let first = entry.first_block.get();
        let end = match id.0 + 1 < self.document_count() {
            true => self
                .entry::<DocumentEntry>(Section::Documents, id.0 + 1)?
                .first_block
                .get(),
            false => self.block_count(),
        };
        if first > end || end > self.block_count() {
            return Err(self.corrupt(Section::Documents, "blocks of a document"));
        }
        Ok(Document {
            id,
            path: self.name(entry.path_offset.get(), entry.path_bytes.get())?,
            blocks: first..end,
            lines: entry.lines.get(),
            static_rank: entry.static_rank.get(),
            hash: &entry.hash,
        })
    }

    /// The document that a block belongs to; `block` must be below
    /// [`block_count`](Self::block_count).
    pub fn document_of(&self, block: BlockId) -> Result<DocId, ShardError> {
        let behind = self.partition_point(Section::Documents, |entry: &DocumentEntry| {
            entry.first_block.get() <= block.0
        })?;
        match behind.checked_sub(1) {
            Some(document) => Ok(DocId(document)),
            None => Err(self.corrupt(Section::Documents, "first block")),
        }
    }

    /// A package; `id` must be below [`package_count`](Self::package_count).
    pub fn package(&self, id: PackageId) -> Result<Package<'_>, ShardError> {
        let entry: &PackageEntry = self.entry(Section::Packages, id.0)?;
        let first = entry.first_document.get();
        let end = match id.0 + 1 < self.package_count() {
            true => self
                .entry::<PackageEntry>(Section::Packages, id.0 + 1)?
                .first_document
                .get(),
            false => self.document_count(),
        };
        if first > end || end > self.document_count() {
            return Err(self.corrupt(Section::Packages, "documents of a package"));
        }
        Ok(Package {
            id,
            directory: self.name(entry.name_offset.get(), entry.name_bytes.get())?,
            documents: first..end,
            inst: entry.inst.get(),
            rdep: entry.rdep.get(),
        })
    }

    /// The package that a document belongs to.
    pub fn package_of(&self, document: DocId) -> Result<PackageId, ShardError> {
        let behind = self.partition_point(Section::Packages, |entry: &PackageEntry| {
            entry.first_document.get() <= document.0
        })?;
        match behind.checked_sub(1) {
            Some(package) => Ok(PackageId(package)),
            None => Err(self.corrupt(Section::Packages, "first document")),
        }
    }

    /// No document behind `document` has a higher static rank. Packages are in the order of their
    /// popularity and documents in that of their class, so it is the higher one of the document's
    /// own and of what the next package could have at best.
    pub fn static_rank_bound(&self, document: DocId) -> Result<f32, ShardError> {
        let own = self.document(document)?.static_rank;
        let next = PackageId(self.package_of(document)?.0 + 1);
        Ok(own.max(self.static_rank_from(next)?))
    }

    /// No document of `package` or of one behind it has a higher static rank.
    pub fn static_rank_from(&self, package: PackageId) -> Result<f32, ShardError> {
        if package.0 >= self.package_count() {
            return Ok(0.0);
        }
        let Package { inst, rdep, .. } = self.package(package)?;
        Ok(Popularity { inst, rdep }.rank() + Class::Source.share())
    }

    /// The document at `path` in the live package whose directory is `directory`.
    pub fn find(&self, directory: &[u8], path: &[u8]) -> Result<Option<DocId>, ShardError> {
        for package in self.live_packages() {
            let package = self.package(package)?;
            if package.directory != directory {
                continue;
            }
            for document in package.documents {
                if self.document(DocId(document))?.path == path {
                    return Ok(Some(DocId(document)));
                }
            }
        }
        Ok(None)
    }

    /// The number of the first line of a block, from 1.
    pub fn first_line(&self, block: BlockId) -> Result<u32, ShardError> {
        Ok(self
            .entry::<BlockEntry>(Section::Blocks, block.0)?
            .first_line
            .get())
    }

    /// Where blocks lie in the text of all documents, in bytes.
    pub fn text_range(&self, blocks: Range<u32>) -> Result<Range<u64>, ShardError> {
        let start = self
            .entry::<BlockEntry>(Section::Blocks, blocks.start)?
            .offset
            .get();
        let end = self
            .entry::<BlockEntry>(Section::Blocks, blocks.end)?
            .offset
            .get();
        if start > end || end > self.text_bytes() {
            return Err(self.corrupt(Section::Blocks, "offset of a block"));
        }
        Ok(start..end)
    }

    /// What was left out of live packages, in their order.
    pub fn skipped(&self) -> Result<Vec<SkippedFile>, ShardError> {
        self.skipped_where(|_, _| true)
    }

    /// What was left out of live packages and has a package and a path that `keep` holds of. Nothing
    /// else of the list is copied. `keep` sees bytes that have not been asked for
    /// [`intact`](Self::intact) yet: what it decides by them is dropped when they are not.
    pub fn skipped_where(
        &self,
        mut keep: impl FnMut(PackageId, &[u8]) -> bool,
    ) -> Result<Vec<SkippedFile>, ShardError> {
        let mut rest = self.slice(Section::Skipped, 0..self.section_bytes(Section::Skipped))?;
        let mut files = Vec::new();
        while !rest.is_empty() {
            let (package, path, reason) = parse_skipped(&mut rest)
                .filter(|(package, ..)| package.0 < self.package_count())
                .ok_or_else(|| self.corrupt(Section::Skipped, "an entry"))?;
            if self.is_live(package) && keep(package, path) {
                // Copied before it is looked at: nothing can change between the two.
                let reason = String::from_utf8(reason.to_vec());
                files.push(SkippedFile {
                    package,
                    path: path.to_vec(),
                    reason: reason.map_err(|_| self.corrupt(Section::Skipped, "an entry"))?,
                });
            }
        }
        self.intact()?;
        Ok(files)
    }

    /// Checks every page that has not been checked yet.
    pub fn verify(&self) -> Result<(), ShardError> {
        let end = extent(&self.header, Section::Checksums).start;
        self.check_pages(PAGE_BYTES as u64..end)?;
        self.intact()
    }

    /// The error for tables that contradict each other, though their checksums are right.
    pub fn inconsistent(&self, what: &'static str) -> ShardError {
        self.corrupt(Section::Documents, what)
    }

    /// Sections must hold what the header counts.
    fn check_tables(&self) -> Result<(), ShardError> {
        let expected = [
            (Section::Content, self.text_bytes()),
            (Section::Packages, u64::from(self.package_count()) * 24),
            (Section::Documents, u64::from(self.document_count()) * 56),
            (Section::Blocks, (u64::from(self.block_count()) + 1) * 12),
            (Section::Dictionary, self.trigram_count() * 8),
        ];
        for (section, bytes) in expected {
            if self.section_bytes(section) != bytes {
                return Err(self.corrupt(section, "length"));
            }
        }
        let end = extent(&self.header, Section::Checksums).start;
        let pages = end.div_ceil(PAGE_BYTES as u64) - 1;
        if self.section_bytes(Section::Checksums) != pages * CHECKSUM_BYTES as u64 {
            return Err(self.corrupt(Section::Checksums, "length"));
        }
        Ok(())
    }

    fn name(&self, offset: u64, bytes: u32) -> Result<&[u8], ShardError> {
        if bytes > NAME_BYTES_MAX {
            return Err(self.corrupt(Section::Names, "length of a name"));
        }
        let end = offset.saturating_add(u64::from(bytes));
        self.slice(Section::Names, offset..end)
    }

    fn corrupt(&self, section: Section, what: &'static str) -> ShardError {
        self.corrupt_at(extent(&self.header, section).start, what)
    }

    /// The error for what does not fit together: because the file is not what it was, if so.
    #[cold]
    fn corrupt_at(&self, offset: u64, what: &'static str) -> ShardError {
        let intact = self.intact();
        intact
            .err()
            .unwrap_or_else(|| corrupt(&self.path, offset, what))
    }

    /// The dictionary's entry number `index`.
    fn dictionary_entry(&self, index: u32) -> Result<u64, ShardError> {
        Ok(self.entry::<U64>(Section::Dictionary, index)?.get())
    }
}

/// All of a shard.
fn counts(header: &Header) -> Counts {
    Counts {
        packages: header.packages.get(),
        documents: header.documents.get(),
        blocks: header.blocks.get(),
        text_bytes: header.text_bytes.get(),
    }
}

fn corrupt(path: &Path, offset: u64, what: &'static str) -> ShardError {
    ShardError::Corrupt {
        path: path.to_owned(),
        offset,
        what,
    }
}

fn extent(header: &Header, section: Section) -> Range<u64> {
    let extent = header.sections[section as usize];
    extent.offset.get()..extent.offset.get() + extent.bytes.get()
}

fn read_header(path: &Path, bytes: &[u8]) -> Result<Header, ShardError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(ShardError::NotAShard {
            path: path.to_owned(),
        });
    }
    let Ok((header, _)) = Header::read_from_prefix(bytes) else {
        return Err(corrupt(
            path,
            bytes.len() as u64,
            "the file ends in its header",
        ));
    };
    // A later version may lay out everything behind its number in another way.
    if header.version.get() > VERSION {
        return Err(ShardError::Newer {
            path: path.to_owned(),
            version: header.version.get(),
        });
    }
    if header.checksum() != header.crc.get() {
        return Err(corrupt(path, 0, "checksum of the header"));
    }
    if header.version.get() != VERSION || header.codec.get() != format::CODEC_RAW {
        return Err(corrupt(path, 8, "unknown version or codec"));
    }
    if header.file_bytes.get() != bytes.len() as u64 {
        return Err(corrupt(
            path,
            bytes.len() as u64,
            "the file is cut or has grown",
        ));
    }
    let mut end = PAGE_BYTES as u64;
    for section in header.sections {
        let (offset, length) = (section.offset.get(), section.bytes.get());
        let section_end = offset.checked_add(length);
        if offset < end || section_end.is_none_or(|end| end > bytes.len() as u64) {
            return Err(corrupt(path, 80, "place of a section"));
        }
        end = offset + length;
    }
    Ok(header)
}

/// An entry of what was left out: its package, its path, and the reason in words.
fn parse_skipped<'a>(rest: &mut &'a [u8]) -> Option<(PackageId, &'a [u8], &'a [u8])> {
    use crate::posting::decode_varint;
    let package = PackageId(u32::try_from(decode_varint(rest)?).ok()?);
    let path_bytes = usize::try_from(decode_varint(rest)?).ok()?;
    let path = rest.split_off(..path_bytes)?;
    let reason_bytes = usize::try_from(decode_varint(rest)?).ok()?;
    let reason = rest.split_off(..reason_bytes)?;
    Some((package, path, reason))
}

#[cfg(test)]
mod tests;
