//! Tables of a shard in progress: packages, texts, documents, names. Documents come by package and
//! are sorted by text at the end.
//! **Invariant:** a text belongs to the package that brought it first; a package's texts are a
//! range.

use crate::builder::SegmentDocument;
use crate::document::{NotedLanguage, Popularity};
use crate::format::{
    DecodedRecord, DocumentRecord, GIVEN, LanguageRecord, NAME_BYTES_MAX, PATH_GROUP_DOCUMENTS,
    PackageRecord, SINGLE, TextEncoding, TextRecord,
};
use crate::posting::{Codec, PADDING_BYTES};
use crate::trigram::{Trigram, TrigramSet};
use fnv::FnvHasher;
use std::collections::HashMap;
use std::hash::Hasher;
use std::io;
use zerocopy::{FromZeros, IntoBytes};

#[derive(Clone, Debug)]
pub(crate) struct DocumentName {
    pub(crate) path: Vec<u8>,
    pub(crate) static_rank: f32,
    /// Original encoding.
    pub(crate) encoding: Option<TextEncoding>,
    pub(crate) language: Option<NotedLanguage>,
}

/// Tag of files of directories.
pub(crate) const NO_TAG: u32 = u32::MAX;

#[derive(Default)]
pub(super) struct Tables {
    pub(super) names: Vec<u8>,
    pub(super) packages: Vec<PackageRecord>,
    pub(super) texts: Vec<TextRecord>,
    text_bytes: Vec<u64>,
    /// Hashes of the encoded symbols: documents in other languages have other texts.
    symbols: Vec<u64>,
    /// In order of arrival, then by text.
    pub(super) documents: Vec<DocumentRecord>,
    /// Text and tag of each document, in the same order.
    pub(super) tags: Vec<(u32, u32)>,
    /// Decoded documents, by place in that order.
    decoded: Vec<(usize, TextEncoding)>,
    languages: Vec<(usize, NotedLanguage)>,
    /// Texts by [`key`].
    known: HashMap<u64, u32>,
    /// Texts with documents so far.
    placed: u32,
}

impl Tables {
    pub(super) fn package(&mut self, directory: &[u8], popularity: Popularity) -> io::Result<()> {
        self.packages.push(PackageRecord {
            name_offset: (self.names.len() as u64).into(),
            name_bytes: name_bytes(directory)?.into(),
            first_text: self.placed.into(),
            inst: popularity.inst.into(),
            rdep: popularity.rdep.into(),
            ..PackageRecord::new_zeroed()
        });
        self.names.extend_from_slice(directory);
        Ok(())
    }

    pub(super) fn package_number(&self) -> usize {
        self.packages.len() - 1
    }

    /// Finds an equal text: same BLAKE3, length and symbols.
    pub(super) fn find(&self, document: &SegmentDocument, bytes: u64) -> Option<u32> {
        let text = *self.known.get(&key(document))?;
        let is_equal = self.texts[text as usize].hash == document.hash
            && self.text_bytes[text as usize] == bytes
            && self.symbols[text as usize] == symbols_hash(document);
        is_equal.then_some(text)
    }

    pub(super) fn text(
        &mut self,
        document: &SegmentDocument,
        first_block: u32,
        bytes: u64,
    ) -> io::Result<u32> {
        let text = count(self.texts.len())?;
        self.texts.push(TextRecord {
            first_block: first_block.into(),
            lines: document.lines.into(),
            first_document: 0.into(),
            hash: document.hash,
        });
        self.text_bytes.push(bytes);
        self.symbols.push(symbols_hash(document));
        // On equal keys the earlier text stays; the later one is not shared.
        self.known.entry(key(document)).or_insert(text);
        Ok(text)
    }

    pub(super) fn document(&mut self, name: &DocumentName, text: u32, tag: u32) -> io::Result<()> {
        let package = self.package_number();
        let bytes = self.text_bytes[text as usize];
        self.documents.push(DocumentRecord {
            path_offset: (self.names.len() as u64).into(),
            path_bytes: name_bytes(&name.path)?.into(),
            package: count(package)?.into(),
            text: text.into(),
            static_rank: name.static_rank.into(),
        });
        if let Some(encoding) = name.encoding {
            self.decoded.push((self.tags.len(), encoding));
        }
        if let Some(language) = &name.language {
            self.languages.push((self.tags.len(), language.clone()));
        }
        self.tags.push((text, tag));
        self.names.extend_from_slice(&name.path);
        let entry = &mut self.packages[package];
        entry.documents.set(entry.documents.get() + 1);
        entry.text_bytes.set(entry.text_bytes.get() + bytes);
        self.placed = self.placed.max(text + 1);
        count(self.documents.len()).map(drop)
    }

    /// Sorts documents by text and encodes the sections SHARED, DECODED and LANGUAGES.
    pub(super) fn finish(&mut self) -> io::Result<[Vec<u8>; 3]> {
        self.known = HashMap::new();
        let decoded = self.decoded();
        let languages = self.languages()?;
        // Stable: documents of a text stay in package order.
        self.documents.sort_by_key(|document| document.text.get());
        self.tags.sort_by_key(|&(text, _)| text);
        let mut number = 0_u32;
        for documents in self.documents.chunk_by(|a, b| a.text == b.text) {
            let text = documents[0].text.get() as usize;
            self.texts[text].first_document = number.into();
            number += documents.len() as u32;
        }
        Ok([self.shared(), decoded, languages])
    }

    fn decoded(&self) -> Vec<u8> {
        let entries = self.numbered(&self.decoded).into_iter();
        let entries = entries.map(|(document, &encoding)| DecodedRecord {
            document: document.into(),
            encoding: (encoding as u32).into(),
        });
        entries.collect::<Vec<_>>().as_bytes().to_vec()
    }

    fn languages(&self) -> io::Result<Vec<u8>> {
        let (mut entries, mut names) = (Vec::new(), Vec::new());
        let mut offsets = HashMap::new();
        let entries_bytes = self.languages.len() * size_of::<LanguageRecord>();
        for (document, language) in self.numbered(&self.languages) {
            let name = language.name.as_bytes();
            let offset = *offsets.entry(name).or_insert(entries_bytes + names.len());
            if offset == entries_bytes + names.len() {
                names.push(u8::try_from(name.len()).map_err(io::Error::other)?);
                names.extend_from_slice(name);
            }
            let offset = count(offset)?;
            if offset >= GIVEN {
                return Err(io::Error::other("too many languages of documents"));
            }
            entries.push(LanguageRecord {
                document: document.into(),
                name: (offset | if language.is_given { GIVEN } else { 0 }).into(),
            });
        }
        Ok([entries.as_bytes(), &names].concat())
    }

    fn numbered<'a, T>(&self, places: &'a [(usize, T)]) -> Vec<(u32, &'a T)> {
        if places.is_empty() {
            return Vec::new();
        }
        let mut order: Vec<usize> = (0..self.tags.len()).collect();
        order.sort_by_key(|&place| self.tags[place].0);
        let mut of_places: Vec<Option<&T>> = vec![None; order.len()];
        for (place, of_place) in places {
            of_places[*place] = Some(of_place);
        }
        let numbered = (0_u32..).zip(order);
        let numbered = numbered.filter_map(|(number, place)| Some((number, of_places[place]?)));
        numbered.collect()
    }

    fn shared(&mut self) -> Vec<u8> {
        let first_text = |package: u32| self.packages[package as usize].first_text.get();
        let is_shared =
            |document: &DocumentRecord| document.text.get() < first_text(document.package.get());
        let numbered = (0_u32..).zip(&self.documents);
        let shared = numbered.filter(|(_, document)| is_shared(document));
        let mut shared: Vec<(u32, u32)> = shared
            .map(|(number, document)| (document.package.get(), number))
            .collect();
        shared.sort_unstable();
        for (package, number) in self.packages.iter_mut().zip(0..) {
            let before = shared.partition_point(|&(of, _)| of < number);
            package.first_shared = (before as u32).into();
        }
        let numbers = shared.iter().flat_map(|(_, number)| number.to_le_bytes());
        numbers.collect()
    }
}

fn key(document: &SegmentDocument) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&document.hash[..8]);
    u64::from_le_bytes(first) ^ symbols_hash(document)
}

fn symbols_hash(document: &SegmentDocument) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(&document.symbols);
    hasher.finish()
}

fn name_bytes(name: &[u8]) -> io::Result<u32> {
    let bytes = u32::try_from(name.len()).ok();
    let too_long = || io::Error::other(format!("a name of more than {NAME_BYTES_MAX} bytes"));
    let bytes = bytes.filter(|&bytes| bytes <= NAME_BYTES_MAX);
    bytes.ok_or_else(too_long)
}

/// Converts to the width in the format.
pub(super) fn count(count: usize) -> io::Result<u32> {
    let too_many = "a shard holds at most 2^32 packages, documents and blocks";
    u32::try_from(count).map_err(|_| io::Error::other(too_many))
}

/// Path index: candidate documents by trigram of their path. Documents are grouped by
/// [`PATH_GROUP_DOCUMENTS`], since neighbours share most of their path: about 8 bytes a document.
pub(super) fn encode_paths(documents: &[DocumentRecord], names: &[u8]) -> io::Result<Vec<u8>> {
    let groups = documents.chunks(PATH_GROUP_DOCUMENTS as usize);
    let group_count = count(groups.len())?;
    let mut trigrams = TrigramSet::new();
    // `trigram << 32 | group`
    let mut pairs: Vec<u64> = Vec::new();
    for (number, group) in (0_u64..).zip(groups) {
        let mut report = |trigrams: &[Trigram]| {
            let values = trigrams.iter().map(|trigram| trigram.value());
            pairs.extend(values.map(|value| u64::from(value) << 32 | number));
        };
        for document in group {
            let start = document.path_offset.get() as usize;
            let path = &names[start..start + document.path_bytes.get() as usize];
            // A line end separates paths.
            for text in [path, b"\n"] {
                trigrams.extend(text, &mut report);
            }
        }
        trigrams.finish(report);
    }
    pairs.sort_unstable();
    let (mut dictionary, mut lists) = (Vec::new(), Vec::new());
    for pairs in pairs.chunk_by(|a, b| a >> 32 == b >> 32) {
        let groups: Vec<u32> = pairs.iter().map(|&pair| pair as u32).collect();
        let payload = match groups[..] {
            [group] => SINGLE | u64::from(group),
            _ => {
                let offset = lists.len() as u64;
                // No gap lists: a shard may have version 2.
                let codec = Codec::of(count(groups.len())?, group_count);
                codec.encode(&groups, group_count, &mut lists);
                offset
            }
        };
        let entry = pairs[0] >> 32 << 40 | payload;
        dictionary.extend_from_slice(&entry.to_le_bytes());
    }
    let mut section = count(dictionary.len() / 8)?.to_le_bytes().to_vec();
    section.extend_from_slice(&[0; 4]);
    section.extend_from_slice(&dictionary);
    section.extend_from_slice(&lists);
    section.extend_from_slice(&[0; PADDING_BYTES]);
    Ok(section)
}
