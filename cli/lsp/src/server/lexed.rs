//! Document with the symbols of its newest text, and the words in it.

use super::text::Text;
use crate::Place;
use language::Language;
use language::name::{self, is_plain};
use language::symbols::{Class, Definition, Parent, Symbols};
use std::ops::Range;

const OCCURRENCES_MAX: usize = 10_000;

const WORD_BYTES_MAX: usize = 255;

pub(super) struct Lexed {
    pub(super) place: Option<Place>,
    pub(super) text: Vec<u8>,
    pub(super) symbols: Symbols,
    pub(super) language: Option<&'static Language>,
}

impl Lexed {
    pub(super) fn new(place: Option<Place>, name: &[u8], text: Vec<u8>) -> Lexed {
        let language = Language::of(name, &text);
        let symbols = Symbols::of(language, &text);
        Lexed {
            place,
            text,
            symbols,
            language,
        }
    }

    pub(super) fn string(&self, range: &Range<u32>) -> String {
        let bytes = &self.text[range.start as usize..range.end as usize];
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Name around a definition.
    pub(super) fn parent(&self, it: &Definition) -> Option<String> {
        let range = match &it.parent {
            Parent::None => return None,
            Parent::Name(range) => range,
            Parent::Definition(index) => &self.symbols.definitions.get(*index as usize)?.name,
        };
        Some(self.string(range))
    }

    pub(super) fn definitions<'s>(&'s self, word: &'s str) -> impl Iterator<Item = &'s Definition> {
        let word = word.as_bytes();
        let all = self.symbols.definitions.iter();
        all.filter(move |it| self.name(it) == word || it.word(&self.text) == Some(word))
    }

    fn name(&self, it: &Definition) -> &[u8] {
        &self.text[it.name.start as usize..it.name.end as usize]
    }

    /// Word at the offset, or before it.
    pub(super) fn word_at(&self, offset: usize) -> Option<String> {
        let text = Text::new(&self.text);
        let line = text.line_of(offset);
        let defined = self.symbols.definitions.iter().map(|it| self.name(it));
        let found = name::at(text.line(line), offset - text.start(line), defined)?;
        let word = str::from_utf8(&text.line(line)[found]).ok()?;
        (word.len() <= WORD_BYTES_MAX).then(|| word.to_owned())
    }

    /// Whole words in code, each with true for a definition.
    pub(super) fn occurrences(&self, word: &str) -> Vec<(Range<u32>, bool)> {
        let text = &self.text;
        let is_name = |byte: Option<&u8>| byte.is_some_and(|&byte| is_plain(byte));
        let whole = memchr::memmem::find_iter(text, word)
            .filter(|&at| !is_name(text[..at].last()) && !is_name(text.get(at + word.len())));
        let defined: Vec<_> = self.definitions(word).map(|it| it.name.clone()).collect();
        let in_code = whole.filter(|&at| self.symbols.class_at(at) == Class::Code);
        let occurrence = |at: usize| {
            let range = at as u32..(at + word.len()) as u32;
            let before = defined.partition_point(|it| it.start <= range.start);
            let is_definition = before > 0 && defined[before - 1].end >= range.end;
            (range, is_definition)
        };
        in_code.take(OCCURRENCES_MAX).map(occurrence).collect()
    }
}
