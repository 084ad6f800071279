//! Languages of documents.

use super::error::Result;
use super::{DocId, Document, Package, Shard};
use crate::document::{Class, classify};
use crate::format::{GIVEN, LanguageRecord, Section};
use language::Language;

const ENTRY_BYTES: u64 = size_of::<LanguageRecord>() as u64;

impl Shard {
    /// Canonical name, or nothing.
    pub fn language(&self, document: &Document<'_>) -> Result<&str> {
        let noted = self.noted_language(document.id)?.map(|(name, _)| name);
        let by_path = || Language::name_of(document.path).unwrap_or_default();
        Ok(noted.unwrap_or_else(by_path))
    }

    pub fn class(&self, document: &Document<'_>, package: &Package<'_>) -> Result<Class> {
        if self.is_history() {
            // Their rank does not depend on the path.
            return Ok(classify(document.path));
        }
        let noted = self.noted_language(document.id)?;
        let class = document.class(package);
        Ok(noted.map_or(class, |(name, _)| class.in_language(document.path, name)))
    }

    /// Name, and true if `.gitattributes` sets it.
    pub(crate) fn noted_language(&self, document: DocId) -> Result<Option<(&str, bool)>> {
        let section = Section::Languages;
        if self.section_bytes(section) == 0 {
            return Ok(None);
        }
        // The first name ends the entries.
        let first: &LanguageRecord = self.file.entry(section, 0)?;
        let (mut low, mut high) = (0, u64::from(first.name.get() & !GIVEN) / ENTRY_BYTES);
        while low < high {
            let middle = low + (high - low) / 2;
            let entry: &LanguageRecord = self.file.entry(section, middle as u32)?;
            if entry.document.get() == document.0 {
                let name = self.language_name(entry.name.get() & !GIVEN)?;
                return Ok(Some((name, entry.name.get() & GIVEN != 0)));
            }
            if entry.document.get() < document.0 {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(None)
    }

    fn language_name(&self, offset: u32) -> Result<&str> {
        let (section, start) = (Section::Languages, u64::from(offset) + 1);
        let length = self.file.slice(section, start - 1..start)?[0];
        let name = self.file.slice(section, start..start + u64::from(length))?;
        str::from_utf8(name).map_err(|_| self.corrupt(section, "a language"))
    }
}
