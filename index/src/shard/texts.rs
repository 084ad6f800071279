//! Packages to texts, texts to documents and blocks. A package has its own range of texts and
//! shares others with earlier packages.

use super::error::Result;
use super::{DocId, Document, Package, Shard, Text, TextId};
use crate::document::Class;
use crate::filter::{DocumentFacts, Filters};
use crate::format::Section;
use crate::posting::push_range;
use crate::revisions::DocumentRevisions;
use std::ops::Range;
use zerocopy::little_endian::U32;

impl Shard {
    pub(super) fn has_copies(&self) -> bool {
        self.document_count() > self.text_count()
    }

    /// Ascending.
    pub fn documents_of(&self, package: &Package<'_>) -> Result<Vec<DocId>> {
        let mut documents = Vec::new();
        for id in self.documents_of_texts(&package.texts)? {
            if !self.has_copies() || self.package_of(DocId(id))? == package.id {
                documents.push(DocId(id));
            }
        }
        for entry in package.shared.clone() {
            documents.push(self.shared_document(entry)?);
        }
        documents.sort_unstable();
        Ok(documents)
    }

    fn shared_document(&self, entry: u32) -> Result<DocId> {
        let document = self.file.entry::<U32>(Section::Shared, entry)?.get();
        if document >= self.document_count() {
            return Err(self.corrupt(Section::Shared, "a document"));
        }
        Ok(DocId(document))
    }

    /// Texts of ascending packages as separate ascending ranges.
    pub(super) fn texts_of_packages(&self, packages: &[Package<'_>]) -> Result<Vec<Range<u32>>> {
        let mut own = Vec::new();
        for package in packages {
            push_range(&mut own, package.texts.clone())
                .ok_or_else(|| self.corrupt(Section::Packages, "order of packages"))?;
        }
        let mut others = Vec::new();
        for entry in packages.iter().flat_map(|package| package.shared.clone()) {
            let text = self.text_of_document(self.shared_document(entry)?)?.0;
            let behind = own.partition_point(|range: &Range<u32>| range.end <= text);
            if own.get(behind).is_none_or(|range| text < range.start) {
                others.push(text);
            }
        }
        if others.is_empty() {
            return Ok(own);
        }
        others.sort_unstable();
        others.dedup();
        own.extend(others.into_iter().map(|text| text..text + 1));
        own.sort_unstable_by_key(|range| range.start);
        let mut texts = Vec::new();
        for range in own {
            push_range(&mut texts, range).ok_or_else(|| self.inconsistent("order of texts"))?;
        }
        Ok(texts)
    }

    pub(super) fn blocks_of_texts(&self, texts: &Range<u32>) -> Result<Range<u32>> {
        self.range_of_texts(texts, |text| text.blocks)
    }

    pub(super) fn documents_of_texts(&self, texts: &Range<u32>) -> Result<Range<u32>> {
        self.range_of_texts(texts, |text| text.documents)
    }

    fn range_of_texts(
        &self,
        texts: &Range<u32>,
        of: impl Fn(Text<'_>) -> Range<u32>,
    ) -> Result<Range<u32>> {
        if texts.is_empty() {
            return Ok(0..0);
        }
        let start = of(self.text_entry(TextId(texts.start))?).start;
        let end = of(self.text_entry(TextId(texts.end - 1))?).end;
        if start > end {
            return Err(self.corrupt(Section::Texts, "order of texts"));
        }
        Ok(start..end)
    }

    pub(super) fn blocks_of_all(&self, texts: &[Range<u32>]) -> Result<Vec<Range<u32>>> {
        let mut blocks = Vec::new();
        for range in texts {
            push_range(&mut blocks, self.blocks_of_texts(range)?)
                .ok_or_else(|| self.inconsistent("order of texts"))?;
        }
        Ok(blocks)
    }

    /// Live, and accepted by all filters.
    pub fn is_accepted(&self, filters: &Filters, document: DocId) -> Result<bool> {
        let id = self.package_of(document)?;
        let is_searched = filters.in_histories == self.is_history();
        if !is_searched || !self.is_live(id) || !self.is_in_reach(filters, document) {
            return Ok(false);
        }
        if !filters.has_package_filters() && !filters.has_document_filters() {
            return Ok(true);
        }
        let package = self.package(id)?;
        if !filters.accepts_package(package.directory, package.name) {
            return Ok(false);
        }
        if !filters.has_document_filters() {
            return Ok(true);
        }
        let entry = self.document(document)?;
        let facts = self.facts(&entry, &package, filters.read_languages())?;
        Ok(filters.accepts_document(&facts))
    }

    /// Facts of a document, of languages only if those are read.
    pub fn facts<'s>(
        &'s self,
        document: &Document<'s>,
        package: &Package<'s>,
        reads_languages: bool,
    ) -> Result<DocumentFacts<'s>> {
        let (class, language) = match reads_languages {
            true => (self.class(document, package)?, self.language(document)?),
            false => (Class::default(), ""),
        };
        Ok(DocumentFacts {
            directory: package.directory,
            name: package.name,
            path: document.path,
            class,
            language,
            revisions: self.revisions_of(document.id),
            history: match self.is_history() {
                true => Some(Box::new(self.history_facts(document, reads_languages)?)),
                false => None,
            },
        })
    }

    pub fn revisions_of(&self, document: DocId) -> DocumentRevisions<'_> {
        let of = self.revisions().map(|revisions| revisions.of(document.0));
        of.unwrap_or_default()
    }

    pub fn has_accepted(&self, filters: &Filters, documents: Range<u32>) -> Result<bool> {
        for document in documents {
            if self.is_accepted(filters, DocId(document))? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
