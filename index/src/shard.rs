//! Read access to a shard: documents, packages, blocks and candidates ([`format`](crate::format)).
//!
//! Ids and counts include dead packages and superseded documents; candidates, [`Shard::find`] and
//! [`Shard::skipped`] do not.
//!
//! **Invariant:** foreign bytes give a [`ShardError`] with file and offset, never a panic or a
//! wrong answer.
//!
//! A file that loses bytes while open reads as zeros. Borrowed data ([`Shard::text`], names,
//! entries) is valid only after [`Shard::intact`] succeeds: check once per unit of work, before
//! results leave it. Methods that return owned data check themselves.

mod candidates;
mod content;
mod document_candidates;
mod error;
mod file;
mod history;
mod languages;
mod layout;
mod live;
mod live_set;
mod pages;
mod paths;
mod read_ahead;
mod run_starts;
mod symbols;
mod tables;
mod texts;

pub use candidates::Candidates;
pub use content::{TextBytes, TextCache};
pub use document_candidates::DocumentCandidates;
pub use error::ShardError;
pub use history::HistoryDocument;
pub use live_set::Counts;
pub use tables::BestFirst;

use crate::document::{Class, Popularity, classify};
use crate::file::Bytes;
use crate::format::{NAME_BYTES_MAX, PAYLOAD, SINGLE, Section};
use crate::posting::{self, PADDING_BYTES, PostingList, decode_varint};
use crate::revisions::Revisions;
use crate::trigram::Trigram;
use error::Result;
use file::ShardFile;
use live_set::LiveSet;
use std::iter;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use zerocopy::little_endian::U64;

/// Enough for the length of a list.
const LENGTH_BYTES_MAX: u64 = 5;

/// Clones share the file.
#[derive(Clone)]
pub struct Shard {
    file: Arc<ShardFile>,
    live: LiveSet,
    revisions: Option<Arc<Revisions>>,
    /// Unversioned names that look versioned, ascending.
    own_names: Arc<[u32]>,
    /// Sorted on first use; shared with equal shards.
    best_first: Arc<OnceLock<BestFirst>>,
}

/// Dense, by best document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextId(pub u32);

/// Dense, by text, package and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

/// Dense, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

#[derive(Clone, Debug)]
pub struct Text<'a> {
    pub id: TextId,
    /// Documents, best first; never empty.
    pub documents: Range<u32>,
    pub blocks: Range<u32>,
    pub lines: u32,
    pub hash: &'a [u8; 32],
}

#[derive(Clone, Debug)]
pub struct Document<'a> {
    pub id: DocId,
    pub package: PackageId,
    pub text: TextId,
    pub path: &'a [u8],
    pub blocks: Range<u32>,
    pub lines: u32,
    /// Query-independent rank.
    pub static_rank: f32,
    /// BLAKE3 of the text.
    pub hash: &'a [u8; 32],
}

impl Document<'_> {
    /// Class of its static rank, which a repository may have set.
    fn class(&self, package: &Package<'_>) -> Class {
        let class = Class::of_rank(self.static_rank, package.popularity.rank());
        class.unwrap_or_else(|| classify(self.path))
    }
}

#[derive(Clone, Debug)]
pub struct Package<'a> {
    pub id: PackageId,
    /// Directory name, with version.
    pub directory: &'a [u8],
    /// Name, without version if it has one.
    pub name: &'a [u8],
    /// Texts with their best document here. Other documents have texts of earlier packages.
    pub texts: Range<u32>,
    shared: Range<u32>,
    pub documents: u32,
    /// Shares, 0 when unknown.
    pub popularity: Popularity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    pub package: PackageId,
    pub path: Vec<u8>,
    /// In words.
    pub reason: String,
    /// Number among all documents, then skipped files of the shard.
    pub entry: u32,
}

/// A posting list with only its length read: searches read few of the lists they look up.
enum UnreadList {
    One(u32),
    Many {
        blocks: u32,
        /// With padding.
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

macro_rules! header_fields {
    ($($(#[$doc:meta])* $name:ident = $field:ident: $type:ty;)*) => {
        impl Shard {
            $($(#[$doc])*
            pub fn $name(&self) -> $type {
                self.file.header.$field.get()
            })*
        }
    };
}

header_fields! {
    /// Dead ones included.
    package_count = packages: u32;
    version = version: u32;
    /// Target size.
    block_bytes = block_bytes: u32;
    /// Dead ones included.
    text_count = texts: u32;
    /// Dead ones included.
    document_count = documents: u32;
    /// Dead ones included.
    block_count = blocks: u32;
    content_bytes = content_bytes: u64;
    /// Each text counts once per document.
    text_bytes = text_bytes: u64;
    file_bytes = file_bytes: u64;
}

impl Shard {
    pub fn open(path: &Path) -> Result<Shard> {
        let bytes = crate::file::map(path).map_err(|source| ShardError::Io {
            path: path.to_owned(),
            source,
        })?;
        Shard::from_bytes(path, bytes)
    }

    /// `path` is for messages.
    pub fn from_bytes(path: &Path, bytes: Bytes) -> Result<Shard> {
        let file = Arc::new(ShardFile::new(path, bytes)?);
        let live = LiveSet::all(&file.header);
        Ok(Shard {
            file,
            live,
            revisions: None,
            own_names: Arc::default(),
            best_first: Arc::default(),
        })
    }

    /// Fails if the file has changed since it was opened; this is permanent. On success everything
    /// read before is correct. One system call.
    pub fn intact(&self) -> Result<()> {
        self.file.intact()
    }

    /// True once [`intact`](Self::intact) or a page checksum has failed. Reopening may find a new
    /// file.
    pub fn is_damaged(&self) -> bool {
        self.file.is_damaged()
    }

    pub fn verify(&self) -> Result<()> {
        self.file.verify()
    }

    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Hash of the file; with dead packages BLAKE3 of it and their ids.
    pub fn id(&self) -> [u8; 32] {
        self.live.id
    }

    pub fn file_id(&self) -> [u8; 32] {
        self.file.header.id
    }

    pub fn section_bytes(&self, section: Section) -> u64 {
        self.file.section_bytes(section)
    }

    pub fn trigram_count(&self) -> u64 {
        self.section_bytes(Section::Dictionary) / 8
    }

    /// `index` < [`trigram_count`](Self::trigram_count).
    pub fn trigram(&self, index: u32) -> Result<Trigram> {
        let value = self.dictionary_entry(index)? >> 40;
        Ok(Trigram::from_value(value as u32))
    }

    /// Trigram's posting list, dead blocks included, if any block has it.
    pub fn postings(&self, trigram: Trigram) -> Result<Option<PostingList<'_>>> {
        let list = self.unread_postings(trigram)?;
        list.map(|list| self.read_postings(&list)).transpose()
    }

    fn unread_postings(&self, trigram: Trigram) -> Result<Option<UnreadList>> {
        let entry = self.file.find_trigram(trigram)?;
        let list = entry.map(|entry| self.unread_list(entry & PAYLOAD));
        list.transpose()
    }

    fn dictionary_entry(&self, index: u32) -> Result<u64> {
        Ok(self.file.entry::<U64>(Section::Dictionary, index)?.get())
    }

    fn unread_list(&self, payload: u64) -> Result<UnreadList> {
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

    fn read_postings(&self, list: &UnreadList) -> Result<PostingList<'_>> {
        let bytes = match list {
            UnreadList::One(block) => return Ok(PostingList::One(*block)),
            UnreadList::Many { bytes, .. } => bytes,
        };
        let list = self.file.slice(Section::Postings, bytes.clone())?;
        let list = PostingList::decode(list, self.block_count());
        list.ok_or_else(|| self.corrupt(Section::Dictionary, "a posting list"))
    }

    /// Current skipped files of live packages, by package.
    pub fn skipped(&self) -> Result<Vec<SkippedFile>> {
        self.skipped_where(|_, _| true)
    }

    /// Like `skipped`, for files that `keep` accepts. `keep` sees unverified bytes; if the file is
    /// damaged, its decisions are dropped.
    pub fn skipped_where(
        &self,
        mut keep: impl FnMut(PackageId, &[u8]) -> bool,
    ) -> Result<Vec<SkippedFile>> {
        let mut files = Vec::new();
        for (entry, skipped) in (self.document_count()..).zip(self.skipped_entries()?) {
            let (package, path, reason) = skipped?;
            let is_indexed = self.revisions().is_none_or(|of| of.is_indexed(entry));
            if is_indexed && self.is_live(package) && keep(package, path) {
                // Copied first: the mapping could change.
                let reason = String::from_utf8(reason.to_vec());
                files.push(SkippedFile {
                    package,
                    entry,
                    path: path.to_vec(),
                    reason: reason.map_err(|_| self.corrupt(Section::Skipped, "an entry"))?,
                });
            }
        }
        self.intact()?;
        Ok(files)
    }

    fn skipped_entries(&self) -> Result<impl Iterator<Item = Result<SkippedRecord<'_>>>> {
        let all = 0..self.section_bytes(Section::Skipped);
        let mut rest = self.file.slice(Section::Skipped, all)?;
        Ok(iter::from_fn(move || {
            (!rest.is_empty()).then(|| {
                parse_entry(&mut rest)
                    .filter(|(package, ..)| package.0 < self.package_count())
                    .ok_or_else(|| self.corrupt(Section::Skipped, "an entry"))
            })
        }))
    }

    pub fn inconsistent(&self, what: &'static str) -> ShardError {
        self.corrupt(Section::Documents, what)
    }

    fn corrupt(&self, section: Section, what: &'static str) -> ShardError {
        self.file.corrupt(section, what)
    }

    fn name(&self, offset: u64, bytes: u32) -> Result<&[u8]> {
        if bytes > NAME_BYTES_MAX {
            return Err(self.corrupt(Section::Names, "length of a name"));
        }
        let end = offset.saturating_add(u64::from(bytes));
        self.file.slice(Section::Names, offset..end)
    }
}

type SkippedRecord<'a> = (PackageId, &'a [u8], &'a [u8]);

fn parse_entry<'a>(rest: &mut &'a [u8]) -> Option<SkippedRecord<'a>> {
    let package = PackageId(u32::try_from(decode_varint(rest)?).ok()?);
    let path_bytes = usize::try_from(decode_varint(rest)?).ok()?;
    let path = rest.split_off(..path_bytes)?;
    let reason_bytes = usize::try_from(decode_varint(rest)?).ok()?;
    let reason = rest.split_off(..reason_bytes)?;
    Some((package, path, reason))
}

#[cfg(test)]
mod tests;
