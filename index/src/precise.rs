//! Precise places of symbols, imported from SCIP ([`import()`]) into one file beside the shards.
//!
//! Texts are known by their hashes, so places of a changed text are not used.
//! **Invariant:** the file's hash is in the manifest; wrong numbers in it give no place.

mod builder;
mod columns;
mod import;
mod table_file;

pub use builder::Builder;
pub use import::{HashedText, Import, Imported, ScipError, import, project_root};

use crate::file::{self, Bytes};
use schema::name::is_local_symbol;
use std::io;
use std::ops::Range;
use std::path::Path;
use table_file::{DEFINITION, Occurrence, TableFile};
use zerocopy::little_endian::U32;

pub struct Precise {
    bytes: Bytes,
    pub hash: [u8; 32],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'p> {
    pub text: &'p [u8; 32],
    /// Directory name when imported.
    pub package: &'p [u8],
    pub path: &'p [u8],
    /// From 1.
    pub line: u32,
    /// In bytes.
    pub column: u32,
    pub is_definition: bool,
}

impl Precise {
    pub fn open(path: &Path) -> io::Result<Precise> {
        Precise::of(file::map(path)?)
    }

    pub fn of(bytes: Bytes) -> io::Result<Precise> {
        let hash = *blake3::hash(&bytes).as_bytes();
        let precise = Precise { bytes, hash };
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "damaged precise places");
        precise.tables().map(|_| ()).ok_or_else(damaged)?;
        Ok(precise)
    }

    /// `None` after damage of the mapped file.
    pub fn intact<T>(&self, read: T) -> Option<T> {
        self.bytes.damage().is_none().then_some(read)
    }

    /// Symbol at, or right before, a position. Occurrences imported for `package` win.
    pub fn symbol_at(&self, text: &[u8], package: &[u8], line: u32, column: u32) -> Option<&[u8]> {
        let tables = self.tables()?;
        let documents = tables.documents_of(text);
        let own = |document: &usize| tables.document_package(*document) == package;
        let document = documents.clone().find(own).or(documents.clone().next())?;
        let found = tables.occurrences_in(document).filter(|it| {
            let (start, bytes) = (it.column.get(), it.bytes.get());
            let is_around = start <= column && column - start <= bytes;
            it.line.get() == line && bytes > 0 && is_around
        });
        let nearest = |it: &&Occurrence| {
            let end = it.column.get().saturating_add(it.bytes.get());
            (end == column, it.bytes.get())
        };
        let symbol = tables.symbol(found.min_by_key(nearest)?)?;
        let name = tables.string(symbol.name);
        let is_own = tables.document_package(document) == package;
        (is_own || !is_local_symbol(name)).then_some(name)
    }

    pub fn has_text(&self, text: &[u8]) -> bool {
        let tables = self.tables();
        tables.is_some_and(|tables| !tables.documents_of(text).is_empty())
    }

    pub fn documentation(&self, symbol: &[u8]) -> &[u8] {
        let find = || {
            let tables = self.tables()?;
            let symbol = tables.symbols.get(tables.find_symbol(symbol)?)?;
            Some(tables.string(symbol.documentation))
        };
        find().unwrap_or_default()
    }

    pub fn places(&self, symbol: &[u8]) -> impl Iterator<Item = Place<'_>> {
        let tables = self.tables();
        let found = tables.and_then(|it| Some((it, it.find_symbol(symbol)?)));
        found.into_iter().flat_map(|(tables, symbol)| {
            let places = tables.places_of(symbol).iter();
            places.filter_map(move |place| tables.place(place.get()))
        })
    }

    /// Package of each document, with repetitions.
    pub fn packages(&self) -> impl Iterator<Item = &[u8]> {
        let tables = self.tables().into_iter();
        tables.flat_map(|it| {
            it.documents
                .iter()
                .map(move |document| it.string(document.package))
        })
    }

    /// BLAKE3 of the package's last SCIP file.
    pub fn source(&self, package: &[u8]) -> Option<[u8; 32]> {
        let tables = self.tables()?;
        let mut sources = tables.sources.iter();
        let source = sources.find(|source| tables.string(source.package) == package)?;
        Some(source.hash)
    }

    fn tables(&self) -> Option<TableFile<'_>> {
        TableFile::read(&self.bytes)
    }
}

impl<'p> TableFile<'p> {
    fn documents_of(&self, text: &[u8]) -> Range<usize> {
        let before = |hash: &[u8; 32]| hash[..] < *text;
        let start = self.documents.partition_point(|it| before(&it.hash));
        let behind = self.documents.get(start..).unwrap_or_default();
        start..start + behind.partition_point(|it| it.hash[..] == *text)
    }

    fn document_package(&self, document: usize) -> &'p [u8] {
        let document = self.documents.get(document);
        document.map_or(&[], |it| self.string(it.package))
    }

    fn occurrences_in(&self, document: usize) -> impl Iterator<Item = &'p Occurrence> {
        let start = |number: usize| self.documents.get(number).map(|it| it.occurrences);
        part(self.occurrences, start(document), start(document + 1)).iter()
    }

    fn symbol(&self, of: &Occurrence) -> Option<&'p table_file::Symbol> {
        self.symbols.get((of.symbol.get() & !DEFINITION) as usize)
    }

    fn find_symbol(&self, name: &[u8]) -> Option<usize> {
        let by_name = |it: &table_file::Symbol| self.string(it.name).cmp(name);
        self.symbols.binary_search_by(by_name).ok()
    }

    fn places_of(&self, symbol: usize) -> &'p [U32] {
        let start = |number: usize| self.symbols.get(number).map(|it| it.places);
        part(self.places, start(symbol), start(symbol + 1))
    }

    fn place(&self, number: u32) -> Option<Place<'p>> {
        let occurrence = self.occurrences.get(number as usize)?;
        let behind = (self.documents).partition_point(|it| it.occurrences.get() <= number);
        let document = self.documents.get(behind.checked_sub(1)?)?;
        Some(Place {
            text: &document.hash,
            package: self.string(document.package),
            path: self.string(document.path),
            line: occurrence.line.get(),
            column: occurrence.column.get(),
            is_definition: occurrence.symbol.get() & DEFINITION != 0,
        })
    }
}

fn part<T>(all: &[T], start: Option<U32>, next: Option<U32>) -> &[T] {
    let end = next.map_or(all.len(), |next| next.get() as usize);
    let range = start.map(|start| start.get() as usize..end);
    range.and_then(|range| all.get(range)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
