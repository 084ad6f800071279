//! Document with the symbols of its newest text, and the words in it.

use super::places::Place;
use language::Language;
use language::symbols::{Class, Definition, Parent, Symbols};
use language::words::is_word;
use std::ops::Range;

/// Occurrences in one document.
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

    /// Definitions of a word.
    pub(super) fn definitions<'s>(&'s self, word: &'s str) -> impl Iterator<Item = &'s Definition> {
        let all = self.symbols.definitions.iter();
        all.filter(move |it| it.word(&self.text) == Some(word.as_bytes()))
    }

    pub(super) fn class_at(&self, byte: usize) -> Class {
        let byte = byte as u32;
        let runs = &self.symbols.runs;
        let run = runs.get(runs.partition_point(|run| run.range.end <= byte));
        run.filter(|run| run.range.start <= byte)
            .map_or(self.symbols.class, |run| run.class)
    }

    /// Whole words in code, each with true for a definition.
    pub(super) fn occurrences(&self, word: &str) -> Vec<(Range<u32>, bool)> {
        let text = &self.text;
        let is_name = |byte: Option<&u8>| byte.is_some_and(|&byte| is_in_word(byte));
        let whole = memchr::memmem::find_iter(text, word)
            .filter(|&at| !is_name(text[..at].last()) && !is_name(text.get(at + word.len())));
        let defined: Vec<_> = self.definitions(word).map(|it| it.name.clone()).collect();
        let in_code = whole.filter(|&at| self.class_at(at) == Class::Code);
        let occurrence = |at: usize| {
            let range = at as u32..(at + word.len()) as u32;
            let before = defined.partition_point(|it| it.start <= range.start);
            let is_definition = before > 0 && defined[before - 1].end >= range.end;
            (range, is_definition)
        };
        in_code.take(OCCURRENCES_MAX).map(occurrence).collect()
    }
}

/// Bytes of letters outside of ASCII belong to words.
fn is_in_word(byte: u8) -> bool {
    is_word(byte) || byte >= 0x80
}

/// Word at the offset, or before it.
pub(super) fn word_at(text: &[u8], offset: usize) -> Option<String> {
    let before = text[..offset]
        .iter()
        .rev()
        .take_while(|&&byte| is_in_word(byte))
        .count();
    let after = text[offset..]
        .iter()
        .take_while(|&&byte| is_in_word(byte))
        .count();
    let word = str::from_utf8(&text[offset - before..offset + after]).ok()?;
    (!word.is_empty() && word.len() <= WORD_BYTES_MAX).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_at_or_before_the_cursor() {
        let check = |offset, expected: Option<&str>| {
            let text = "(größe_1 = 2)";
            assert_eq!(
                word_at(text.as_bytes(), offset).as_deref(),
                expected,
                "{offset}"
            );
        };
        check(0, None);
        check(1, Some("größe_1"));
        check(10, Some("größe_1"));
        check(11, None);
        check(15, None);
    }
}
