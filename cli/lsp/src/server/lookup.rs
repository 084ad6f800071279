//! Word of a request, its definitions and its uses: of the document itself from its newest text,
//! of all others by searches.

use super::buffers::Buffers;
use super::files::{file_uri, read};
use super::lexed::Lexed;
use super::places::{COPIES_MAX, Document, Places};
use super::targets::Targets;
use super::text::{Encoding, Text};
use crate::{Corpus, CorpusError, Found, Named, Place};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, Location, TextDocumentPositionParams, Uri,
};
use std::collections::HashMap;
use std::ops;

/// Results of a request. An editor shows them in one list.
pub(super) const RESULTS_MAX: usize = 200;

pub(super) struct Lookup<'l> {
    pub(super) corpus: &'l dyn Corpus,
    pub(super) places: &'l Places,
    pub(super) buffers: &'l Buffers,
    pub(super) encoding: Encoding,
}

/// Document and word of a request.
pub(super) struct Asked {
    uri: Uri,
    pub(super) lexed: Lexed,
    pub(super) word: String,
}

impl Lookup<'_> {
    /// Definitions of the word: in its document, then elsewhere.
    pub(super) fn definitions(
        &self,
        at: &TextDocumentPositionParams,
    ) -> Result<Vec<Location>, CorpusError> {
        let Some(asked) = self.asked(at)? else {
            return Ok(Vec::new());
        };
        let mut own: Vec<_> = asked.lexed.definitions(&asked.word).collect();
        own.sort_by_key(|it| it.is_declaration);
        self.locations(
            &asked,
            own.into_iter().map(|it| it.name.clone()),
            (true, false),
        )
    }

    pub(super) fn references(
        &self,
        at: &TextDocumentPositionParams,
        definitions: bool,
    ) -> Result<Vec<Location>, CorpusError> {
        let Some(asked) = self.asked(at)? else {
            return Ok(Vec::new());
        };
        let own = asked.lexed.occurrences(&asked.word).into_iter();
        let own = own.filter(|(_, is_definition)| definitions || !is_definition);
        self.locations(&asked, own.map(|(range, _)| range), (definitions, true))
    }

    pub(super) fn highlights(
        &self,
        at: &TextDocumentPositionParams,
    ) -> Result<Vec<DocumentHighlight>, CorpusError> {
        let Some(Asked { lexed, word, .. }) = self.asked(at)? else {
            return Ok(Vec::new());
        };
        let text = Text::new(&lexed.text);
        let highlight = |(range, is_definition): (ops::Range<u32>, bool)| DocumentHighlight {
            range: text.range(&range, self.encoding),
            kind: Some(if is_definition {
                DocumentHighlightKind::WRITE
            } else {
                DocumentHighlightKind::READ
            }),
        };
        let occurrences = lexed.occurrences(&word).into_iter();
        Ok(occurrences.map(highlight).collect())
    }

    /// Document that the editor names; `None` without a text.
    pub(super) fn lexed(&self, uri: &Uri) -> Result<Option<Lexed>, CorpusError> {
        let Document { file, mut place } = self.places.document(uri.as_str());
        let text = match self.text(uri, file.as_deref()) {
            Some(text) => text,
            None => match place
                .as_ref()
                .map(|place| self.corpus.text(place))
                .transpose()?
            {
                Some(Some(text)) => text,
                _ => return Ok(None),
            },
        };
        if let (None, Some(file)) = (&place, &file) {
            place = self.places.packages.locate(file, &text, self.corpus);
        }
        let name = file
            .as_ref()
            .map(|file| file.as_os_str().as_encoded_bytes());
        Ok(Some(Lexed::new(
            place,
            name.unwrap_or(uri.as_str().as_bytes()),
            text,
        )))
    }

    pub(super) fn asked(
        &self,
        at: &TextDocumentPositionParams,
    ) -> Result<Option<Asked>, CorpusError> {
        let uri = &at.text_document.uri;
        let Some(lexed) = self.lexed(uri)? else {
            return Ok(None);
        };
        let word = lexed.word_at(Text::new(&lexed.text).offset(at.position, self.encoding));
        let uri = uri.clone();
        Ok(word.map(|word| Asked { uri, lexed, word }))
    }

    /// Text of the buffer, else of the file.
    fn text(&self, uri: &Uri, file: Option<&std::path::Path>) -> Option<Vec<u8>> {
        let open = self.buffers.get(uri.as_str());
        open.map(|text| text.as_bytes().to_vec())
            .or_else(|| read(file?))
    }

    /// Newest text of a document of the corpus.
    pub(super) fn newest(&self, place: &Place) -> Result<Option<Lexed>, CorpusError> {
        let file = self.places.packages.file_of(place);
        let newest = file.and_then(|file| self.text(&file_uri(&file)?, Some(&file)));
        let text = match newest {
            Some(text) => Some(text),
            None => self.corpus.text(place)?,
        };
        Ok(text.map(|text| Lexed::new(Some(place.clone()), &place.path, text)))
    }

    pub(super) fn elsewhere(
        &self,
        asked: &Asked,
        (definitions, uses): (bool, bool),
    ) -> Result<Vec<Found>, CorpusError> {
        let from = asked.lexed.place.as_ref();
        let name = &asked.word;
        let named = Named {
            name,
            from,
            definitions,
            uses,
        };
        let mut found = self.corpus.named(&named, RESULTS_MAX)?;
        found.retain(|it| from != Some(&it.place));
        Ok(found)
    }

    pub(super) fn targets(&self) -> Targets<'_> {
        Targets {
            corpus: self.corpus,
            places: self.places,
            buffers: self.buffers,
            encoding: self.encoding,
            known: HashMap::new(),
            copies: COPIES_MAX,
        }
    }

    fn locations(
        &self,
        asked: &Asked,
        own: impl Iterator<Item = ops::Range<u32>>,
        wanted: (bool, bool),
    ) -> Result<Vec<Location>, CorpusError> {
        let text = Text::new(&asked.lexed.text);
        let location = |range| Location::new(asked.uri.clone(), text.range(&range, self.encoding));
        let mut locations: Vec<_> = own.take(RESULTS_MAX).map(location).collect();
        let mut targets = self.targets();
        for found in self.elsewhere(asked, wanted)? {
            let (uri, ranges) = targets.place(&found).unzip();
            let ranges = ranges.into_iter().flatten().zip(uri.into_iter().cycle());
            locations.extend(ranges.map(|(range, uri)| Location::new(uri, range)));
        }
        locations.truncate(RESULTS_MAX);
        Ok(locations)
    }
}
