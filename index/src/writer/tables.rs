//! The tables of a shard in progress: its packages, texts, documents and names.
//!
//! Documents come by package. They are written by text, so they are sorted at the end, and what a
//! package shares with packages before it is known then.
//! **Invariant:** a text belongs to the package that brought it first, and a package's texts are a
//! range.

use crate::builder::SegmentDocument;
use crate::format::{
    DecodedRecord, DocumentRecord, NAME_BYTES_MAX, PackageRecord, TextEncoding, TextRecord,
};
use std::collections::HashMap;
use std::io;
use zerocopy::IntoBytes;

/// A document's path in its package, and the part of its rank that no query changes.
#[derive(Clone, Debug)]
pub(crate) struct DocumentName {
    pub(crate) path: Vec<u8>,
    pub(crate) static_rank: f32,
    /// Returned in the order of the finished shard; the writer gives it no meaning. [`NO_TAG`] for what
    /// needs none.
    pub(crate) tag: u32,
    /// What its text was decoded from.
    pub(crate) encoding: Option<TextEncoding>,
}

/// The tag of what needs none: files of directories.
pub(crate) const NO_TAG: u32 = u32::MAX;

/// The tables in progress.
#[derive(Default)]
pub(super) struct Tables {
    names: Vec<u8>,
    packages: Vec<PackageRecord>,
    texts: Vec<TextRecord>,
    /// Bytes of each text.
    text_bytes: Vec<u64>,
    /// The documents, in the order in which the writer received them.
    documents: Vec<DocumentRecord>,
    /// The text and the tag of each document, in the same order.
    tags: Vec<(u32, u32)>,
    /// Documents that were decoded, by their places in that order.
    decoded: Vec<(usize, TextEncoding)>,
    /// Texts by the first bytes of their hashes.
    known: HashMap<u64, u32>,
    /// Texts that documents have so far.
    placed: u32,
}

/// The tables, as they are written.
pub(super) struct EncodedTables {
    pub(super) names: Vec<u8>,
    pub(super) packages: Vec<PackageRecord>,
    pub(super) texts: Vec<TextRecord>,
    pub(super) documents: Vec<DocumentRecord>,
    pub(super) shared: Vec<u8>,
    pub(super) decoded: Vec<u8>,
    /// The tag of each document.
    pub(super) tags: Vec<u32>,
    pub(super) counts: TableCounts,
}

/// The numbers of entries.
#[derive(Clone, Copy)]
pub(super) struct TableCounts {
    pub(super) packages: u32,
    pub(super) texts: u32,
    pub(super) documents: u32,
    pub(super) shared: u32,
    /// Bytes of all documents.
    pub(super) text_bytes: u64,
}

impl Tables {
    /// Begins a package.
    pub(super) fn package(&mut self, directory: &[u8], inst: f32, rdep: f32) -> io::Result<()> {
        self.packages.push(PackageRecord {
            name_offset: (self.names.len() as u64).into(),
            name_bytes: name_bytes(directory)?.into(),
            first_text: self.placed.into(),
            first_shared: 0.into(),
            documents: 0.into(),
            text_bytes: 0.into(),
            inst: inst.into(),
            rdep: rdep.into(),
        });
        self.names.extend_from_slice(directory);
        Ok(())
    }

    /// The number of the package in progress.
    pub(super) fn package_number(&self) -> usize {
        self.packages.len() - 1
    }

    /// Returns the text that equals a document's: the same BLAKE3 and the same length.
    pub(super) fn find(&self, document: &SegmentDocument, bytes: u64) -> Option<u32> {
        let text = *self.known.get(&prefix(&document.hash))?;
        let is_equal = self.texts[text as usize].hash == document.hash
            && self.text_bytes[text as usize] == bytes;
        is_equal.then_some(text)
    }

    /// Adds a text that begins with block `first_block` of the shard, and returns its number.
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
        // The earlier one of two texts with the same first bytes stays: the later one is not shared.
        self.known.entry(prefix(&document.hash)).or_insert(text);
        Ok(text)
    }

    /// Adds the next document of the package in progress.
    pub(super) fn document(&mut self, name: &DocumentName, text: u32) -> io::Result<()> {
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
        self.tags.push((text, name.tag));
        self.names.extend_from_slice(&name.path);
        let entry = &mut self.packages[package];
        entry.documents.set(entry.documents.get() + 1);
        entry.text_bytes.set(entry.text_bytes.get() + bytes);
        self.placed = self.placed.max(text + 1);
        count(self.documents.len()).map(drop)
    }

    /// Sorts the documents by text, and encodes everything.
    pub(super) fn finish(mut self) -> io::Result<EncodedTables> {
        self.known = HashMap::new();
        let decoded = self.decoded();
        // Stable: the documents of one text stay in the order of packages.
        self.documents.sort_by_key(|document| document.text.get());
        self.tags.sort_by_key(|&(text, _)| text);
        let mut number = 0_u32;
        for documents in self.documents.chunk_by(|a, b| a.text == b.text) {
            let text = documents[0].text.get() as usize;
            self.texts[text].first_document = number.into();
            number += documents.len() as u32;
        }
        let shared = self.shared();
        let sum = self.packages.iter().map(|package| package.text_bytes.get());
        Ok(EncodedTables {
            counts: TableCounts {
                packages: count(self.packages.len())?,
                texts: count(self.texts.len())?,
                documents: count(self.documents.len())?,
                shared: count(shared.len() / size_of::<u32>())?,
                text_bytes: sum.sum(),
            },
            names: self.names,
            packages: self.packages,
            texts: self.texts,
            documents: self.documents,
            tags: self.tags.into_iter().map(|(_, tag)| tag).collect(),
            shared,
            decoded,
        })
    }

    /// Returns the documents that were decoded, by their numbers in the shard, encoded.
    fn decoded(&self) -> Vec<u8> {
        if self.decoded.is_empty() {
            return Vec::new();
        }
        let mut order: Vec<usize> = (0..self.tags.len()).collect();
        // As documents are sorted.
        order.sort_by_key(|&place| self.tags[place].0);
        let mut encodings: Vec<_> = vec![None; order.len()];
        for &(place, encoding) in &self.decoded {
            encodings[place] = Some(encoding);
        }
        let numbered = (0_u32..).zip(order);
        let entries = numbered.filter_map(|(number, place)| {
            Some(DecodedRecord {
                document: number.into(),
                encoding: (encodings[place]? as u32).into(),
            })
        });
        entries.collect::<Vec<_>>().as_bytes().to_vec()
    }

    /// Returns the documents whose text is in the range of another package, by package, encoded; sets
    /// where those of each package begin.
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

fn prefix(hash: &[u8; 32]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(first)
}

fn name_bytes(name: &[u8]) -> io::Result<u32> {
    let bytes = u32::try_from(name.len()).ok();
    let too_long = || io::Error::other(format!("a name of more than {NAME_BYTES_MAX} bytes"));
    bytes
        .filter(|&bytes| bytes <= NAME_BYTES_MAX)
        .ok_or_else(too_long)
}

/// Converts a number of entries to the width that the format has.
pub(super) fn count(count: usize) -> io::Result<u32> {
    u32::try_from(count).map_err(|_| too_many())
}

fn too_many() -> io::Error {
    io::Error::other("a shard holds at most 2^32 packages, documents and blocks")
}
