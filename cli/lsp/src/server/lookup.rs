//! Word of a request, its definitions and its uses: of the document itself from its newest text,
//! of all others by searches.

use super::buffers::Buffers;
use super::lexed::{Lexed, word_at};
use super::places::{Document, Place, Places, file_uri, read};
use super::targets::Targets;
use super::text::{Encoding, Text};
use crate::{Corpus, CorpusError, Found};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, Location, TextDocumentPositionParams, Uri,
};
use std::collections::HashMap;
use std::ops;

/// Results of a request. An editor shows them in one list.
pub(super) const RESULTS_MAX: usize = 200;

pub(super) struct Lookup<'l> {
    pub(super) corpus: &'l dyn Corpus,
    places: &'l Places,
    buffers: &'l Buffers,
    pub(super) encoding: Encoding,
}

/// Document and word of a request.
struct Asked {
    uri: Uri,
    lexed: Lexed,
    word: String,
}

impl<'l> Lookup<'l> {
    pub(super) fn new(
        corpus: &'l dyn Corpus,
        places: &'l Places,
        buffers: &'l Buffers,
        encoding: Encoding,
    ) -> Lookup<'l> {
        Lookup {
            corpus,
            places,
            buffers,
            encoding,
        }
    }

    /// Definitions of the word: in its document, then in its package, then elsewhere.
    pub(super) fn definitions(
        &self,
        at: &TextDocumentPositionParams,
    ) -> Result<Vec<Location>, CorpusError> {
        let Some(asked) = self.asked(at)? else {
            return Ok(Vec::new());
        };
        let mut own: Vec<_> = asked.lexed.definitions(&asked.word).collect();
        own.sort_by_key(|it| it.is_declaration);
        let mut locations = self.own(&asked, own.into_iter().map(|it| it.name.clone()));
        let others = self.elsewhere(&definitions_of(&asked.word), &asked.lexed)?;
        locations.extend(self.locations(&others));
        locations.truncate(RESULTS_MAX);
        Ok(locations)
    }

    /// Uses of the word, and if `definitions` its definitions, in the order of
    /// [`definitions`](Self::definitions).
    pub(super) fn references(
        &self,
        at: &TextDocumentPositionParams,
        definitions: bool,
    ) -> Result<Vec<Location>, CorpusError> {
        let Some(asked) = self.asked(at)? else {
            return Ok(Vec::new());
        };
        let own = asked.lexed.occurrences(&asked.word);
        let own = own
            .into_iter()
            .filter(|(_, is_definition)| definitions || !is_definition);
        let mut locations = self.own(&asked, own.map(|(range, _)| range));
        let mut others = Vec::new();
        if definitions {
            others = self.elsewhere(&definitions_of(&asked.word), &asked.lexed)?;
        }
        others.extend(self.elsewhere(&format!("uses:{} case:yes", asked.word), &asked.lexed)?);
        by_file(&mut others);
        sort(&mut others, &asked.lexed);
        locations.extend(self.locations(&others));
        locations.truncate(RESULTS_MAX);
        Ok(locations)
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
        Ok(lexed
            .occurrences(&word)
            .into_iter()
            .map(highlight)
            .collect())
    }

    /// Document that the editor names; `None` without a text.
    pub(super) fn lexed(&self, uri: &Uri) -> Result<Option<Lexed>, CorpusError> {
        let document = self.places.document(uri.as_str());
        let Some(text) = self.text(uri, &document)? else {
            return Ok(None);
        };
        let name = document
            .file
            .as_ref()
            .map(|file| file.as_os_str().as_encoded_bytes());
        let name = name.unwrap_or(uri.as_str().as_bytes());
        Ok(Some(Lexed::new(document.place, name, text)))
    }

    /// Word at the position, and its document.
    pub(super) fn word(
        &self,
        at: &TextDocumentPositionParams,
    ) -> Result<Option<(Lexed, String)>, CorpusError> {
        Ok(self.asked(at)?.map(|asked| (asked.lexed, asked.word)))
    }

    fn asked(&self, at: &TextDocumentPositionParams) -> Result<Option<Asked>, CorpusError> {
        let uri = &at.text_document.uri;
        let Some(lexed) = self.lexed(uri)? else {
            return Ok(None);
        };
        let offset = Text::new(&lexed.text).offset(at.position, self.encoding);
        let word = word_at(&lexed.text, offset);
        Ok(word.map(|word| Asked {
            uri: uri.clone(),
            lexed,
            word,
        }))
    }

    /// Text of the buffer, else of the file, else of the index.
    fn text(&self, uri: &Uri, document: &Document) -> Result<Option<Vec<u8>>, CorpusError> {
        if let Some(text) = self.buffers.get(uri.as_str()) {
            return Ok(Some(text.as_bytes().to_vec()));
        }
        if let Some(text) = document.file.as_deref().and_then(read) {
            return Ok(Some(text));
        }
        match &document.place {
            Some(place) => self.corpus.text(&place.package, &place.path),
            None => Ok(None),
        }
    }

    /// Newest text of a document of the corpus.
    pub(super) fn newest(&self, place: &Place) -> Result<Option<Lexed>, CorpusError> {
        let file = self.places.file_of(place);
        let uri = file.as_deref().and_then(file_uri);
        let document = Document {
            file,
            place: Some(place.clone()),
        };
        let text = match uri {
            Some(uri) => self.text(&uri, &document)?,
            None => self.corpus.text(&place.package, &place.path)?,
        };
        Ok(text.map(|text| Lexed::new(Some(place.clone()), &place.path, text)))
    }

    fn own(&self, asked: &Asked, ranges: impl Iterator<Item = ops::Range<u32>>) -> Vec<Location> {
        let text = Text::new(&asked.lexed.text);
        let location = |range| Location::new(asked.uri.clone(), text.range(&range, self.encoding));
        ranges.take(RESULTS_MAX).map(location).collect()
    }

    /// Matches in other documents, those of the package first.
    pub(super) fn elsewhere(&self, query: &str, than: &Lexed) -> Result<Vec<Found>, CorpusError> {
        let mut found = self.corpus.search(query, RESULTS_MAX)?;
        let package = than
            .place
            .as_ref()
            .and_then(|place| str::from_utf8(&place.package).ok());
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._+-".contains(letter);
        if let Some(package) = package.filter(|it| it.chars().all(is_plain))
            && found.len() == RESULTS_MAX
        {
            let near = self
                .corpus
                .search(&format!("{query} package:={package}"), RESULTS_MAX)?;
            found.retain(|it| !near.contains(it));
            found.splice(0..0, near);
        }
        found.retain(|it| than.place != Some(Place::of(it)));
        sort(&mut found, than);
        Ok(found)
    }

    pub(super) fn targets(&self) -> Targets<'l> {
        Targets::new(self.corpus, self.places, self.buffers, self.encoding)
    }

    fn locations(&self, found: &[Found]) -> Vec<Location> {
        let mut targets = self.targets();
        let location = |found: &Found| {
            let (uri, range) = targets.place(found)?;
            Some(
                range
                    .into_iter()
                    .map(move |range| Location::new(uri.clone(), range)),
            )
        };
        found
            .iter()
            .filter_map(location)
            .flatten()
            .take(RESULTS_MAX)
            .collect()
    }
}

/// Nearest package first. Stable, so the best match leads.
fn sort(found: &mut [Found], than: &Lexed) {
    let package = than.place.as_ref().map(|place| &place.package);
    found.sort_by_key(|it| Some(&it.package) != package);
}

/// By file, the best first, then by line.
fn by_file(found: &mut [Found]) {
    let mut ranks = HashMap::new();
    for it in &*found {
        let next = ranks.len();
        ranks.entry(Place::of(it)).or_insert(next);
    }
    found.sort_by_key(|it| (ranks[&Place::of(it)], it.line));
}

pub(super) fn definitions_of(word: &str) -> String {
    format!("sym:={word} case:yes")
}
