//! Locations of a response: URIs of its documents, and lines as they are now.

use super::buffers::Buffers;
use super::files::read;
use super::places::Places;
use super::text::{Encoding, Text};
use crate::{Corpus, Found, Place};
use lsp_types::{Position, Range, Uri};
use std::collections::HashMap;

/// Text in which moved lines are looked for.
const TEXT_BYTES_MAX: usize = 4 << 20;

pub(super) struct Target {
    uri: Uri,
    /// Newest text, unless only the index has one.
    text: Option<Vec<u8>>,
}

/// Documents of a response: their URIs and newest texts.
pub(super) struct Targets<'l> {
    pub(super) corpus: &'l dyn Corpus,
    pub(super) places: &'l Places,
    pub(super) buffers: &'l Buffers,
    pub(super) encoding: Encoding,
    pub(super) known: HashMap<Place, Option<Target>>,
    pub(super) copies: usize,
}

impl Targets<'_> {
    /// URI and ranges of a match, where its line is now.
    pub(super) fn place(&mut self, found: &Found) -> Option<(Uri, Vec<Range>)> {
        let target = self.known.entry(found.place.clone()).or_insert_with(|| {
            let uri = self.places.uri(found, self.corpus, &mut self.copies)?;
            let open = self.buffers.get(uri.as_str());
            let open = open.map(|text| text.as_bytes().to_vec());
            let text = open.or_else(|| read(&self.places.packages.file_of(&found.place)?));
            Some(Target { uri, text })
        });
        let Target { uri, text } = target.as_ref()?;
        let indexed = found.line.saturating_sub(1) as usize;
        let text = text.as_deref().filter(|text| text.len() <= TEXT_BYTES_MAX);
        let text = text.map(Text::new);
        let moved = text.and_then(|text| text.nearest(indexed, &found.text));
        let line = moved.unwrap_or(indexed) as u32;
        // The letters before a part of a long line are unknown, so they count as ASCII.
        let before = u32::try_from(found.start).unwrap_or(u32::MAX);
        let position = |byte| {
            let column = self.encoding.column(&found.text, byte);
            Position::new(line, before.saturating_add(column))
        };
        let ranges = found.ranges.iter();
        let ranges = ranges.map(|it| Range::new(position(it[0]), position(it[1])));
        Some((uri.clone(), ranges.collect()))
    }
}
