//! Tables of a shard in either version: texts, documents, packages, blocks; documents in top-k
//! order, and blocks that define a word. A range ends where the next entry's begins.
//! **Invariant:** a range ascends inside its table whatever the file says; contradictions are
//! errors.

use super::error::Result;
use super::{BlockId, DocId, Document, Package, PackageId, Shard, Text, TextId};
use crate::document::{Class, Popularity};
use crate::format::version_1::{DocumentOne, PackageOne};
use crate::format::{
    BlockRecord, DecodedRecord, DocumentRecord, PackageRecord, Section, TextEncoding, TextRecord,
};
use crate::trigram::Trigram;
use schema::name::name_of;
use schema::order;
use std::ops::Range;
use zerocopy::FromZeros;

impl Shard {
    /// `id` < [`text_count`](Self::text_count).
    pub fn text_entry(&self, id: TextId) -> Result<Text<'_>> {
        let (first, documents, lines, hash) = self.text_record(id)?;
        let (end, documents_end) = if id.0 + 1 < self.text_count() {
            let (block, document, ..) = self.text_record(TextId(id.0 + 1))?;
            (block, document)
        } else {
            (self.block_count(), self.document_count())
        };
        if first > end || end > self.block_count() {
            return Err(self.corrupt(Section::Texts, "blocks of a text"));
        }
        if documents >= documents_end || documents_end > self.document_count() {
            return Err(self.corrupt(Section::Texts, "documents of a text"));
        }
        Ok(Text {
            id,
            documents: documents..documents_end,
            blocks: first..end,
            lines,
            hash,
        })
    }

    fn text_record(&self, id: TextId) -> Result<(u32, u32, u32, &[u8; 32])> {
        if self.is_version_1() {
            let entry: &DocumentOne = self.file.entry(Section::Documents, id.0)?;
            let (block, lines) = (entry.first_block.get(), entry.lines.get());
            return Ok((block, id.0, lines, &entry.hash));
        }
        let entry: &TextRecord = self.file.entry(Section::Texts, id.0)?;
        let (block, document) = (entry.first_block.get(), entry.first_document.get());
        Ok((block, document, entry.lines.get(), &entry.hash))
    }

    /// `block` < [`block_count`](Self::block_count).
    pub fn text_of(&self, block: BlockId) -> Result<TextId> {
        let behind = if self.is_version_1() {
            let is_before = |entry: &DocumentOne| entry.first_block.get() <= block.0;
            self.file.partition_point(Section::Documents, is_before)?
        } else {
            self.file.texts_until(block.0)?
        };
        let text = behind.checked_sub(1).map(TextId);
        text.ok_or_else(|| self.corrupt(Section::Texts, "first block"))
    }

    pub fn text_with(&self, block: BlockId) -> Result<Text<'_>> {
        let text = self.text_entry(self.text_of(block)?)?;
        if !text.blocks.contains(&block.0) {
            return Err(self.inconsistent("a block of no text"));
        }
        Ok(text)
    }

    /// `id` < [`document_count`](Self::document_count).
    pub fn document(&self, id: DocId) -> Result<Document<'_>> {
        let entry = self.document_record(id)?;
        let (package, text) = (entry.package.get(), entry.text.get());
        if package >= self.package_count() || text >= self.text_count() {
            return Err(self.corrupt(Section::Documents, "package or text of a document"));
        }
        let text = self.text_entry(TextId(text))?;
        if !text.documents.contains(&id.0) {
            return Err(self.corrupt(Section::Documents, "text of a document"));
        }
        Ok(Document {
            id,
            package: PackageId(package),
            text: text.id,
            path: self.name(entry.path_offset.get(), entry.path_bytes.get())?,
            blocks: text.blocks,
            lines: text.lines,
            static_rank: entry.static_rank.get(),
            hash: text.hash,
        })
    }

    /// Entry, in version 1 with its package and text added.
    fn document_record(&self, id: DocId) -> Result<DocumentRecord> {
        if !self.is_version_1() {
            return self.file.entry(Section::Documents, id.0).copied();
        }
        let entry: &DocumentOne = self.file.entry(Section::Documents, id.0)?;
        Ok(DocumentRecord {
            path_offset: entry.path_offset,
            path_bytes: entry.path_bytes,
            package: self.package_of(id)?.0.into(),
            text: id.0.into(),
            static_rank: entry.static_rank,
        })
    }

    pub fn path_and_rank(&self, id: DocId) -> Result<(&[u8], f32)> {
        let entry = self.document_record(id)?;
        let path = self.name(entry.path_offset.get(), entry.path_bytes.get())?;
        Ok((path, entry.static_rank.get()))
    }

    pub(super) fn text_of_document(&self, id: DocId) -> Result<TextId> {
        if self.is_version_1() {
            return Ok(TextId(id.0));
        }
        let entry: &DocumentRecord = self.file.entry(Section::Documents, id.0)?;
        let text = entry.text.get();
        if text >= self.text_count() {
            return Err(self.corrupt(Section::Documents, "text of a document"));
        }
        Ok(TextId(text))
    }

    pub fn package_of(&self, document: DocId) -> Result<PackageId> {
        let package = if self.is_version_1() {
            let is_before = |entry: &PackageOne| entry.first_document.get() <= document.0;
            let behind = self.file.partition_point(Section::Packages, is_before)?;
            behind.checked_sub(1)
        } else {
            let entry: &DocumentRecord = self.file.entry(Section::Documents, document.0)?;
            Some(entry.package.get()).filter(|&package| package < self.package_count())
        };
        let package = package.map(PackageId);
        package.ok_or_else(|| self.corrupt(Section::Documents, "package of a document"))
    }

    /// `id` < [`package_count`](Self::package_count).
    pub fn package(&self, id: PackageId) -> Result<Package<'_>> {
        let entry = self.package_record(id)?;
        let (first, shared) = (entry.first_text.get(), entry.first_shared.get());
        let (end, shared_end) = if id.0 + 1 < self.package_count() {
            let next = self.package_record(PackageId(id.0 + 1))?;
            (next.first_text.get(), next.first_shared.get())
        } else {
            (self.text_count(), self.file.header.shared.get())
        };
        if first > end || end > self.text_count() {
            return Err(self.corrupt(Section::Packages, "texts of a package"));
        }
        if shared > shared_end || shared_end > self.file.header.shared.get() {
            return Err(self.corrupt(Section::Packages, "shared documents of a package"));
        }
        let directory = self.name(entry.name_offset.get(), entry.name_bytes.get())?;
        let documents = if self.is_version_1() {
            end - first
        } else {
            entry.documents.get()
        };
        if documents > self.document_count() {
            return Err(self.corrupt(Section::Packages, "documents of a package"));
        }
        Ok(Package {
            id,
            directory,
            name: name_of(directory, self.has_own_name(id)),
            texts: first..end,
            shared: shared..shared_end,
            documents,
            popularity: Popularity {
                inst: entry.inst.get(),
                rdep: entry.rdep.get(),
            },
        })
    }

    /// Entry, in version 1 without counts.
    fn package_record(&self, id: PackageId) -> Result<PackageRecord> {
        if !self.is_version_1() {
            return self.file.entry(Section::Packages, id.0).copied();
        }
        let entry: &PackageOne = self.file.entry(Section::Packages, id.0)?;
        Ok(PackageRecord {
            name_offset: entry.name_offset,
            name_bytes: entry.name_bytes,
            first_text: entry.first_document,
            inst: entry.inst,
            rdep: entry.rdep,
            ..PackageRecord::new_zeroed()
        })
    }

    /// Each text once per document.
    pub fn package_text_bytes(&self, package: &Package<'_>) -> Result<u64> {
        if !self.is_version_1() {
            return Ok(self.package_record(package.id)?.text_bytes.get());
        }
        let text = self.text_range(self.blocks_of_texts(&package.texts)?)?;
        Ok(text.end - text.start)
    }

    /// Original encoding, if noted.
    pub fn decoded_from(&self, document: DocId) -> Result<Option<TextEncoding>> {
        let section = Section::Decoded;
        let count = self.file.section_bytes(section) / size_of::<DecodedRecord>() as u64;
        let is_before = |entry: &DecodedRecord| entry.document.get() < document.0;
        let at = self.file.partition_point(section, is_before)?;
        if u64::from(at) >= count {
            return Ok(None);
        }
        let entry: &DecodedRecord = self.file.entry(section, at)?;
        if entry.document.get() != document.0 {
            return Ok(None);
        }
        let encoding = TextEncoding::of(entry.encoding.get());
        let encoding = encoding.ok_or_else(|| self.corrupt(section, "an encoding"));
        encoding.map(Some)
    }

    /// Upper bound of the static ranks from `document` on. Packages are ordered by popularity and
    /// documents by class: the higher of the best document of the text and the best possible rank
    /// of the next package.
    pub fn static_rank_bound(&self, document: DocId) -> Result<f32> {
        let text = self.text_entry(self.text_of_document(document)?)?;
        let best = self.document(DocId(text.documents.start))?;
        let next = PackageId(best.package.0 + 1);
        Ok(best.static_rank.max(self.static_rank_from(next)?))
    }

    pub fn static_rank_from(&self, package: PackageId) -> Result<f32> {
        if package.0 >= self.package_count() {
            return Ok(0.0);
        }
        Ok(self.package(package)?.popularity.rank() + Class::Source.share())
    }

    /// From 1.
    pub fn first_line(&self, block: BlockId) -> Result<u32> {
        let entry: &BlockRecord = self.file.entry(Section::Blocks, block.0)?;
        Ok(entry.first_line.get())
    }

    pub fn text_range(&self, blocks: Range<u32>) -> Result<Range<u64>> {
        let offset = |block| -> Result<u64> {
            let entry: &BlockRecord = self.file.entry(Section::Blocks, block)?;
            Ok(entry.offset.get())
        };
        let (start, end) = (offset(blocks.start)?, offset(blocks.end)?);
        if start > end || end > self.content_bytes() {
            return Err(self.corrupt(Section::Blocks, "offset of a block"));
        }
        Ok(start..end)
    }

    fn is_version_1(&self) -> bool {
        self.file.header.is_version_1()
    }
}

/// All documents, dead ones included, by static rank and hash; 4 bytes each.
#[derive(Debug)]
pub struct BestFirst {
    /// Within a static rank, ordered by [`order::document_hash`].
    pub documents: Box<[u32]>,
    /// Static ranks, highest first, with their document ranges.
    pub groups: Box<[(f32, Range<usize>)]>,
}

impl Shard {
    /// Live blocks that may define `word` (ignoring ASCII case) at this level; `None`
    /// if not listed.
    pub fn definitions(&self, word: &[u8], level: u8) -> Result<Option<Vec<u32>>> {
        if !self.has_symbols() {
            return Ok(None);
        }
        let list = self.postings(Trigram::of_definition(word, level))?;
        let blocks = list.map_or(Vec::new(), |list| list.within(self.live_blocks()));
        self.intact()?;
        Ok(Some(blocks))
    }

    pub fn document_hash(&self, id: DocId) -> Result<u64> {
        let document = self.document(id)?;
        let package = self.package(document.package)?;
        let has_revisions = !self.revisions_of(id).is_empty();
        let text = has_revisions.then_some(&document.hash[..]);
        Ok(order::document_hash(package.directory, document.path, text))
    }

    /// Sorted by the first call.
    pub fn best_first(&self) -> Result<&BestFirst> {
        if let Some(sorted) = self.best_first.get() {
            return Ok(sorted);
        }
        let mut all = Vec::with_capacity(self.document_count() as usize);
        for id in (0..self.document_count()).map(DocId) {
            let rank = self.document(id)?.static_rank;
            all.push((rank, self.document_hash(id)?, id.0));
        }
        self.intact()?;
        all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let (mut groups, mut start) = (Vec::new(), 0);
        for group in all.chunk_by(|a, b| a.0.to_bits() == b.0.to_bits()) {
            groups.push((group[0].0, start..start + group.len()));
            start += group.len();
        }
        let sorted = BestFirst {
            documents: all.into_iter().map(|(.., id)| id).collect(),
            groups: groups.into(),
        };
        Ok(self.best_first.get_or_init(|| sorted))
    }
}
