//! Symbols of texts: read from the shard, or found again.
//!
//! **Invariant:** symbols depend on text and language alone, so they are the same for any shard.

use super::error::{Result, ShardError};
use super::{DocId, Document, Shard, TextCache, TextId};
use crate::change::Change;
use crate::format::Section;
use crate::symbols::{self, DOCUMENT_BLOCKS_MAX};
use language::Language;
use language::symbols::{DEFINITIONS_MAX, Incomplete, Symbols, TEXT_BYTES_MAX, VERSION};
use std::ops::Range;
use zerocopy::little_endian::U64;

impl Shard {
    /// True if the shard has symbols of the current lexers, and the blocks that define words.
    pub fn has_symbols(&self) -> bool {
        self.file.header.symbols_version.get() == VERSION
            && self.section_bytes(Section::Symbols) > 0
            || self.is_history()
    }

    /// Runs of classes may be left out if they are not wanted.
    pub fn symbols(
        &self,
        document: &Document<'_>,
        with_runs: bool,
        texts: &TextCache,
    ) -> Result<Symbols> {
        if self.has_symbols() {
            return self.stored_symbols(document.text, with_runs);
        }
        let range = self.text_range(document.blocks.clone())?;
        let language = Language::named(self.language(document)?);
        if range.end - range.start > TEXT_BYTES_MAX as u64 {
            return Ok(Symbols::of_long_text(language));
        }
        let text = self.text(range, texts)?;
        let symbols = Symbols::of(language, &text);
        self.intact()?;
        Ok(symbols)
    }

    fn stored_symbols(&self, id: TextId, with_runs: bool) -> Result<Symbols> {
        let bytes = self.encoded_symbols(id)?;
        let text = self.text_range(self.text_entry(id)?.blocks)?;
        let text_bytes = u32::try_from(text.end - text.start).unwrap_or(u32::MAX);
        let bytes = self.file.slice(Section::Symbols, bytes)?;
        symbols::decode(bytes, text_bytes, with_runs).ok_or_else(|| self.corrupt_symbols())
    }

    pub fn change(&self, text: TextId) -> Result<Change> {
        let bytes = self.change_bytes(text)?;
        Change::decode(bytes).ok_or_else(|| self.corrupt_symbols())
    }

    pub(crate) fn change_bytes(&self, text: TextId) -> Result<&[u8]> {
        let bytes = self.encoded_symbols(text)?;
        self.file.slice(Section::Symbols, bytes)
    }

    fn encoded_symbols(&self, id: TextId) -> Result<Range<u64>> {
        let section = Section::Symbols;
        let start = self.file.entry::<U64>(section, id.0)?.get();
        let end = self.file.entry::<U64>(section, id.0 + 1)?.get();
        if start > end || end > self.section_bytes(section) {
            return Err(self.corrupt_symbols());
        }
        Ok(start..end)
    }

    fn corrupt_symbols(&self) -> ShardError {
        self.corrupt(Section::Symbols, "symbols of a text")
    }

    pub fn incomplete(&self, id: TextId) -> Result<Option<Incomplete>> {
        if self.is_history() {
            return Ok(None);
        }
        let text = self.text_entry(id)?;
        let has_many_blocks = text.blocks.len() >= DOCUMENT_BLOCKS_MAX as usize;
        let bytes = self.text_range(text.blocks)?;
        let is_long = has_many_blocks || bytes.end - bytes.start > TEXT_BYTES_MAX as u64;
        if !self.has_symbols() {
            if !is_long {
                return Ok(None);
            }
            let document = self.document(DocId(text.documents.start))?;
            let language = Language::named(self.language(&document)?);
            return Ok(Symbols::of_long_text(language).incomplete);
        }
        let encoded = self.encoded_symbols(id)?;
        let bytes = encoded.end - encoded.start;
        // Spares the page of most texts.
        if bytes == 0 || !is_long && bytes < 4 * DEFINITIONS_MAX as u64 {
            return Ok(None);
        }
        let first = self
            .file
            .slice(Section::Symbols, encoded.start..encoded.start + 1)?[0];
        symbols::decode_incomplete(first).ok_or_else(|| self.corrupt_symbols())
    }

    /// Ascending; found by the first call.
    pub(super) fn incomplete_blocks(&self) -> Result<&[Range<u32>]> {
        if let Some(known) = self.file.incomplete.get() {
            return Ok(known);
        }
        let mut found = Vec::new();
        for id in (0..self.text_count()).map(TextId) {
            if self.incomplete(id)?.is_some() {
                found.push(self.text_entry(id)?.blocks);
            }
        }
        self.intact()?;
        Ok(self.file.incomplete.get_or_init(|| found.into()))
    }
}
