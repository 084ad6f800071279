//! Collects places of documents and writes them as one file.

use super::Precise;
use super::table_file::{self, DEFINITION, Occurrence, StringAt, TableFile};
use schema::name::is_local_symbol;
use std::collections::{BTreeMap, HashMap};
use zerocopy::little_endian::U32;

/// 640 MiB of occurrences and places. A store reads less than 1 GiB at once.
pub(super) const OCCURRENCES_MAX: usize = 1 << 25;

/// Names, paths and documentation.
pub(super) const STRING_BYTES_MAX: usize = 256 << 20;

#[derive(Default)]
pub struct Builder {
    sources: BTreeMap<Vec<u8>, [u8; 32]>,
    documents: BTreeMap<DocumentKey, Vec<Occurrence>>,
    /// Symbols by name.
    numbers: HashMap<Vec<u8>, u32>,
    documentation: Vec<Vec<u8>>,
    occurrences: usize,
    string_bytes: usize,
}

/// Text, package and path.
type DocumentKey = ([u8; 32], Vec<u8>, Vec<u8>);

impl Builder {
    /// Takes over the packages for which `is_kept` holds.
    pub fn keep(&mut self, precise: &Precise, is_kept: impl Fn(&[u8]) -> bool) {
        let Some(tables) = precise.tables() else {
            return;
        };
        for source in tables.sources {
            let package = tables.string(source.package);
            if is_kept(package) {
                self.add_source(package, source.hash);
            }
        }
        for (number, document) in tables.documents.iter().enumerate() {
            let package = tables.string(document.package);
            if !is_kept(package) {
                continue;
            }
            let found = tables.occurrences_in(number).filter_map(|it| {
                let symbol = tables.symbol(it)?;
                let kept = self.symbol(tables.string(symbol.name));
                self.document(kept, tables.string(symbol.documentation));
                let definition = it.symbol.get() & DEFINITION;
                let symbol = (kept | definition).into();
                Some(Occurrence { symbol, ..*it })
            });
            let found = found.collect();
            self.add(document.hash, package, tables.string(document.path), found);
        }
    }

    pub(crate) fn add_source(&mut self, package: &[u8], hash: [u8; 32]) {
        self.sources.insert(package.to_vec(), hash);
    }

    pub(super) fn symbol(&mut self, name: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.documentation.len() as u32;
        self.numbers.insert(name.to_vec(), number);
        self.documentation.push(Vec::new());
        self.string_bytes += name.len();
        number
    }

    pub(super) fn document(&mut self, symbol: u32, documentation: &[u8]) {
        let known = &mut self.documentation[symbol as usize];
        if known.is_empty() {
            self.string_bytes += documentation.len();
            *known = documentation.to_vec();
        }
    }

    pub(super) fn add(
        &mut self,
        text: [u8; 32],
        package: &[u8],
        path: &[u8],
        mut occurrences: Vec<Occurrence>,
    ) {
        occurrences.sort_by_key(|it| (it.line.get(), it.column.get(), it.symbol.get()));
        self.occurrences += occurrences.len();
        self.string_bytes += package.len() + path.len();
        let key = (text, package.to_vec(), path.to_vec());
        self.documents.insert(key, occurrences);
    }

    pub(super) fn is_full(&self) -> bool {
        self.occurrences > OCCURRENCES_MAX || self.string_bytes > STRING_BYTES_MAX
    }

    /// `None` without a document or source.
    pub fn finish(self) -> Option<Vec<u8>> {
        if self.documents.is_empty() && self.sources.is_empty() {
            return None;
        }
        let mut strings = Strings::default();
        let sources = self.sources.into_iter();
        let sources = sources.map(|(package, hash)| table_file::Source {
            hash,
            package: strings.add_package(&package),
        });
        let sources: Vec<_> = sources.collect();
        let mut named: Vec<(Vec<u8>, u32)> = self.numbers.into_iter().collect();
        named.sort_unstable();
        let mut order = vec![0; named.len()];
        for (place, (_, number)) in (0..).zip(&named) {
            order[*number as usize] = place;
        }
        let (documents, occurrences) = documents(self.documents, &order, &mut strings);
        let symbol_of = |place: &u32| occurrences[*place as usize].symbol.get() & !DEFINITION;
        let mut places: Vec<u32> = (0..occurrences.len() as u32).collect();
        places.sort_by_key(symbol_of);
        let symbols = (0..)
            .zip(named)
            .map(|(number, (name, first))| table_file::Symbol {
                name: strings.add(&name),
                documentation: strings.add(&self.documentation[first as usize]),
                places: (places.partition_point(|it| symbol_of(it) < number) as u32).into(),
            });
        let symbols: Vec<_> = symbols.collect();
        let places: Vec<U32> = places.into_iter().map(U32::new).collect();
        let tables = TableFile {
            sources: &sources,
            documents: &documents,
            occurrences: &occurrences,
            symbols: &symbols,
            places: &places,
            strings: &strings.bytes,
        };
        Some(tables.write())
    }
}

/// `order`: new numbers of symbols.
fn documents(
    of: BTreeMap<DocumentKey, Vec<Occurrence>>,
    order: &[u32],
    strings: &mut Strings,
) -> (Vec<table_file::Document>, Vec<Occurrence>) {
    let (mut documents, mut occurrences) = (Vec::new(), Vec::new());
    for ((hash, package, path), found) in of {
        documents.push(table_file::Document {
            hash,
            package: strings.add_package(&package),
            path: strings.add(&path),
            occurrences: (occurrences.len() as u32).into(),
        });
        occurrences.extend(found.into_iter().map(|it| {
            let (symbol, role) = (it.symbol.get() & !DEFINITION, it.symbol.get() & DEFINITION);
            let symbol = (order[symbol as usize] | role).into();
            Occurrence { symbol, ..it }
        }));
    }
    (documents, occurrences)
}

#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    packages: HashMap<Vec<u8>, StringAt>,
}

impl Strings {
    fn add(&mut self, string: &[u8]) -> StringAt {
        let offset = (self.bytes.len() as u32).into();
        self.bytes.extend_from_slice(string);
        StringAt {
            offset,
            bytes: (string.len() as u32).into(),
        }
    }

    fn add_package(&mut self, name: &[u8]) -> StringAt {
        if let Some(known) = self.packages.get(name) {
            return *known;
        }
        let at = self.add(name);
        self.packages.insert(name.to_vec(), at);
        at
    }
}

/// Name that is unique over all texts.
pub(super) fn unique_name(symbol: &str, text: &[u8; 32]) -> Vec<u8> {
    if is_local_symbol(symbol.as_bytes()) {
        let text = crate::manifest::hex(&text[..16]);
        return format!("{symbol} {text}").into_bytes();
    }
    symbol.as_bytes().to_vec()
}
