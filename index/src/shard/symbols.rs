//! Symbols of texts: read from the shard, or found again in one that has none, or those of other
//! lexers.
//!
//! **Invariant:** symbols depend on text and language alone, so they are the same for any shard.

use super::error::Result;
use super::{Document, Shard, TextCache, TextId};
use crate::format::Section;
use crate::symbols;
use language::Language;
use language::symbols::{Incomplete, Symbols, TEXT_BYTES_MAX, VERSION};
use zerocopy::little_endian::U64;

impl Shard {
    /// True if the shard has symbols of the current lexers, and the blocks that define words.
    pub fn has_symbols(&self) -> bool {
        self.file.header.symbols_version.get() == VERSION
            && self.section_bytes(Section::Symbols) > 0
    }

    pub fn symbols(&self, document: &Document<'_>, texts: &TextCache) -> Result<Symbols> {
        if self.has_symbols() {
            return self.stored_symbols(document.text);
        }
        let range = self.text_range(document.blocks.clone())?;
        if range.end - range.start > TEXT_BYTES_MAX as u64 {
            return Ok(Symbols {
                incomplete: Some(Incomplete::TextTooLong),
                ..Symbols::default()
            });
        }
        let text = self.text(range, texts)?;
        let symbols = Symbols::of(Language::named(self.language(document)?), &text);
        self.intact()?;
        Ok(symbols)
    }

    fn stored_symbols(&self, id: TextId) -> Result<Symbols> {
        let section = Section::Symbols;
        let start = self.file.entry::<U64>(section, id.0)?.get();
        let end = self.file.entry::<U64>(section, id.0 + 1)?.get();
        let corrupt = || self.corrupt(section, "symbols of a text");
        if start > end || end > self.section_bytes(section) {
            return Err(corrupt());
        }
        let text = self.text_range(self.text_entry(id)?.blocks)?;
        let text_bytes = u32::try_from(text.end - text.start).unwrap_or(u32::MAX);
        let bytes = self.file.slice(section, start..end)?;
        symbols::decode(bytes, text_bytes).ok_or_else(corrupt)
    }
}
