//! Read access to a shard: documents, packages, blocks and candidates. [`format`](crate::format)
//! describes the bytes.
//!
//! Ids and counts include dead packages ([`Shard::with_dead`]) and superseded documents
//! ([`Shard::with_revisions`]); candidates, [`Shard::find`] and [`Shard::skipped`] do not.
//!
//! **Invariant:** foreign bytes give a [`ShardError`] with file and offset, never a panic or a
//! wrong answer.
//!
//! An open file may lose bytes; reads then see zeros. Borrowed data ([`Shard::text`], names,
//! entries) is valid only after [`Shard::intact`] succeeds: check once per unit of work, before
//! results leave it. Methods that return owned data check themselves.

mod best_first;
mod candidates;
mod content;
mod dead_packages;
mod document_candidates;
mod error;
mod file;
mod layout;
mod lazy_table;
mod live_set;
mod pages;
mod paths;
mod read_ahead;
mod revisions;
mod run_starts;
mod tables;
mod texts;

pub use best_first::BestFirst;
pub use candidates::Candidates;
pub use content::{TextBytes, TextCache};
pub use document_candidates::DocumentCandidates;
pub use error::ShardError;
pub use live_set::Counts;

use crate::document::{Class, Popularity, classify};
use crate::file::Bytes;
use crate::format::{NAME_BYTES_MAX, PAYLOAD, SINGLE, Section};
use crate::posting::{self, PADDING_BYTES, PostingList, decode_varint};
use crate::revisions::Revisions;
use crate::trigram::Trigram;
use file::ShardFile;
use live_set::LiveSet;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use zerocopy::little_endian::U64;

/// Bytes that suffice to read the length of a list.
const LENGTH_BYTES_MAX: u64 = 5;

/// An open shard.
pub struct Shard {
    file: Arc<ShardFile>,
    live: LiveSet,
    revisions: Option<Arc<Revisions>>,
    /// Packages whose own name looks like a versioned one, ascending.
    own_names: Arc<[u32]>,
    /// Sorted on first use; shared by shards of the same file and revisions.
    best_first: Arc<OnceLock<BestFirst>>,
}

/// A text of a shard: dense, ordered by best document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextId(pub u32);

/// A document of a shard: dense, ordered by text, package and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

/// A package of a shard: dense, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageId(pub u32);

/// A block of a shard: dense, ordered by text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// Entry of a text, borrowed from the shard.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// Its id.
    pub id: TextId,
    /// Its documents, best first; never empty.
    pub documents: Range<u32>,
    /// Its blocks.
    pub blocks: Range<u32>,
    /// Number of lines.
    pub lines: u32,
    /// BLAKE3 of the text.
    pub hash: &'a [u8; 32],
}

/// Entry of a document, borrowed from the shard.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// Its id.
    pub id: DocId,
    /// Its package.
    pub package: PackageId,
    /// Its text.
    pub text: TextId,
    /// Path within its package.
    pub path: &'a [u8],
    /// The blocks of its text.
    pub blocks: Range<u32>,
    /// Number of lines.
    pub lines: u32,
    /// Query-independent part of its rank.
    pub static_rank: f32,
    /// BLAKE3 of the text.
    pub hash: &'a [u8; 32],
}

impl Document<'_> {
    /// Returns the class recorded at indexing. A repository may have set it, so the path alone can
    /// give another class.
    pub fn class(&self, package: &Package<'_>) -> Class {
        let popularity = Popularity {
            inst: package.inst,
            rdep: package.rdep,
        };
        Class::of_rank(self.static_rank, popularity.rank()).unwrap_or_else(|| classify(self.path))
    }
}

/// Entry of a package, borrowed from the shard.
#[derive(Clone, Debug)]
pub struct Package<'a> {
    /// Its id.
    pub id: PackageId,
    /// Name of its directory, with the version.
    pub directory: &'a [u8],
    /// Name without a version, unless the directory name is the package's own.
    pub name: &'a [u8],
    /// Texts with their best document here. Texts of its other documents belong to earlier
    /// packages.
    pub texts: Range<u32>,
    /// Entries of SHARED: documents with a text in the range of another package.
    shared: Range<u32>,
    /// Number of its documents.
    pub documents: u32,
    /// Share of installations, 0 when unknown.
    pub inst: f32,
    /// Share of reverse dependencies, 0 when unknown.
    pub rdep: f32,
}

/// A file left out of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its package.
    pub package: PackageId,
    /// Path within the package.
    pub path: Vec<u8>,
    /// Reason for leaving it out.
    pub reason: String,
    /// Index among the skipped files of the shard, dead ones included.
    pub number: u32,
}

/// A posting list with only its length read: a search reads few of the lists it looks up.
enum UnreadList {
    One(u32),
    Many {
        blocks: u32,
        /// Range in its section, with padding.
        bytes: Range<u64>,
    },
}

impl UnreadList {
    fn len(&self) -> u32 {
        match self {
            UnreadList::One(_) => 1,
            UnreadList::Many { blocks, .. } => *blocks,
        }
    }
}

impl Shard {
    /// Opens the file at `path`.
    pub fn open(path: &Path) -> Result<Shard, ShardError> {
        let bytes = crate::file::map(path).map_err(|source| ShardError::Io {
            path: path.to_owned(),
            source,
        })?;
        Shard::from_bytes(path, bytes)
    }

    /// Opens a shard from `bytes`; `path` is for messages.
    pub fn from_bytes(path: &Path, bytes: Bytes) -> Result<Shard, ShardError> {
        let file = Arc::new(ShardFile::new(path, bytes)?);
        let live = LiveSet::all(file.layout());
        Ok(Shard {
            file,
            live,
            revisions: None,
            own_names: Arc::default(),
            best_first: Arc::default(),
        })
    }

    /// Fails if the file has changed since it was opened. On success, everything read before is
    /// correct. A failure is permanent. Costs one system call.
    pub fn intact(&self) -> Result<(), ShardError> {
        self.file.intact()
    }

    /// Whether [`intact`](Self::intact) or a page checksum has failed. The file may have been
    /// replaced: reopen it.
    pub fn is_damaged(&self) -> bool {
        self.file.is_damaged()
    }

    /// Verifies every page that is not yet verified.
    pub fn verify(&self) -> Result<(), ShardError> {
        self.file.verify()
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Hash of the file, or with dead packages BLAKE3 of it and their ids.
    pub fn id(&self) -> [u8; 32] {
        self.live.id
    }

    /// Hash of the content, dead packages included.
    pub fn file_id(&self) -> [u8; 32] {
        self.file.layout().id
    }

    /// Number of packages, dead ones included.
    pub fn package_count(&self) -> u32 {
        self.file.layout().packages
    }

    /// Version of its format.
    pub fn version(&self) -> u32 {
        self.file.layout().version
    }

    /// Target size of a block, in bytes.
    pub fn block_bytes(&self) -> u32 {
        self.file.layout().block_bytes
    }

    /// Number of texts, dead ones included.
    pub fn text_count(&self) -> u32 {
        self.file.layout().texts
    }

    /// Number of documents, dead ones included.
    pub fn document_count(&self) -> u32 {
        self.file.layout().documents
    }

    /// Number of blocks, dead ones included.
    pub fn block_count(&self) -> u32 {
        self.file.layout().blocks
    }

    /// Bytes of the texts, dead ones included.
    pub fn content_bytes(&self) -> u64 {
        self.file.layout().content_bytes
    }

    /// Bytes of the documents, dead ones included: each text counts once per document.
    pub fn text_bytes(&self) -> u64 {
        self.file.layout().text_bytes
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.file.layout().file_bytes
    }

    /// Length of a section in bytes.
    pub fn section_bytes(&self, section: Section) -> u64 {
        self.file.section_bytes(section)
    }

    /// Number of distinct trigrams.
    pub fn trigram_count(&self) -> u64 {
        self.section_bytes(Section::Dictionary) / 8
    }

    /// Returns the trigram at `index` < [`trigram_count`](Self::trigram_count), in ascending order.
    pub fn trigram(&self, index: u32) -> Result<Trigram, ShardError> {
        let value = self.dictionary_entry(index)? >> 40;
        Ok(Trigram::from_value(value as u32))
    }

    /// Returns the posting list of a trigram, dead blocks included; `None` if no block has it.
    pub fn postings(&self, trigram: Trigram) -> Result<Option<PostingList<'_>>, ShardError> {
        let list = self.unread_postings(trigram)?;
        list.map(|list| self.read_postings(&list)).transpose()
    }

    fn unread_postings(&self, trigram: Trigram) -> Result<Option<UnreadList>, ShardError> {
        let entry = self.file.find_trigram(trigram)?;
        entry
            .map(|entry| self.unread_list(entry & PAYLOAD))
            .transpose()
    }

    fn dictionary_entry(&self, index: u32) -> Result<u64, ShardError> {
        Ok(self.file.entry::<U64>(Section::Dictionary, index)?.get())
    }

    fn unread_list(&self, payload: u64) -> Result<UnreadList, ShardError> {
        let corrupt = || self.corrupt(Section::Dictionary, "a posting list");
        if payload & SINGLE != 0 {
            let block = (payload & !SINGLE) as u32;
            return if block < self.block_count() {
                Ok(UnreadList::One(block))
            } else {
                Err(corrupt())
            };
        }
        let end = (payload + LENGTH_BYTES_MAX).min(self.section_bytes(Section::Postings));
        let head = self.file.slice(Section::Postings, payload..end)?;
        let (blocks, bytes) = posting::list_size(head, self.block_count()).ok_or_else(corrupt)?;
        let end = payload + (bytes + PADDING_BYTES) as u64;
        Ok(UnreadList::Many {
            blocks,
            bytes: payload..end,
        })
    }

    fn read_postings(&self, list: &UnreadList) -> Result<PostingList<'_>, ShardError> {
        let bytes = match list {
            UnreadList::One(block) => return Ok(PostingList::One(*block)),
            UnreadList::Many { bytes, .. } => bytes,
        };
        let list = self.file.slice(Section::Postings, bytes.clone())?;
        let list = PostingList::decode(list, self.block_count());
        list.ok_or_else(|| self.corrupt(Section::Dictionary, "a posting list"))
    }

    /// Returns the unsearchable files of live packages, by package, if any current revision has
    /// them.
    pub fn skipped(&self) -> Result<Vec<SkippedFile>, ShardError> {
        self.skipped_where(|_, _| true)
    }

    /// Returns the current skipped files of live packages that `keep` accepts. `keep` sees bytes
    /// before [`intact`](Self::intact) was checked; its decisions are dropped if the file is
    /// damaged.
    pub fn skipped_where(
        &self,
        mut keep: impl FnMut(PackageId, &[u8]) -> bool,
    ) -> Result<Vec<SkippedFile>, ShardError> {
        let all = 0..self.section_bytes(Section::Skipped);
        let mut rest = self.file.slice(Section::Skipped, all)?;
        let mut files = Vec::new();
        let mut next = 0;
        while !rest.is_empty() {
            let (package, path, reason) = parse_entry(&mut rest)
                .filter(|(package, ..)| package.0 < self.package_count())
                .ok_or_else(|| self.corrupt(Section::Skipped, "an entry"))?;
            let number = next;
            next += 1;
            let is_indexed = self
                .revisions()
                .is_none_or(|of| of.is_indexed_skipped(number));
            if is_indexed && self.is_live(package) && keep(package, path) {
                // Copied before validation: the mapping could change.
                let reason = String::from_utf8(reason.to_vec());
                files.push(SkippedFile {
                    package,
                    number,
                    path: path.to_vec(),
                    reason: reason.map_err(|_| self.corrupt(Section::Skipped, "an entry"))?,
                });
            }
        }
        self.intact()?;
        Ok(files)
    }

    /// Error for contradictory tables with correct checksums.
    pub fn inconsistent(&self, what: &'static str) -> ShardError {
        self.corrupt(Section::Documents, what)
    }

    fn corrupt(&self, section: Section, what: &'static str) -> ShardError {
        self.file.corrupt(section, what)
    }

    fn corrupt_in(&self, section: Section, offset: u64, what: &'static str) -> ShardError {
        self.file.corrupt_in(section, offset, what)
    }

    fn name(&self, offset: u64, bytes: u32) -> Result<&[u8], ShardError> {
        if bytes > NAME_BYTES_MAX {
            return Err(self.corrupt(Section::Names, "length of a name"));
        }
        let end = offset.saturating_add(u64::from(bytes));
        self.file.slice(Section::Names, offset..end)
    }
}

/// Decodes the first entry of `rest`: package, path, reason.
fn parse_entry<'a>(rest: &mut &'a [u8]) -> Option<(PackageId, &'a [u8], &'a [u8])> {
    let package = PackageId(u32::try_from(decode_varint(rest)?).ok()?);
    let path_bytes = usize::try_from(decode_varint(rest)?).ok()?;
    let path = rest.split_off(..path_bytes)?;
    let reason_bytes = usize::try_from(decode_varint(rest)?).ok()?;
    let reason = rest.split_off(..reason_bytes)?;
    Some((package, path, reason))
}

#[cfg(test)]
mod tests;
