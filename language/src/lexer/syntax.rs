//! Syntax: a family, prepared for the lexer.

use super::class::Class;
use super::families::{
    ANY_CASE, BLOCKS, Family, HASHES, HEREDOC, LONG, MARKUP, PERCENT, PROSE, QUOTING, RAW,
};
use super::quote::{self, Quote};
use super::{Colour, LineState};
use fnv::FnvHashMap;

/// Look of a language.
pub struct Syntax {
    pub(super) family: &'static Family,
    words: FnvHashMap<&'static [u8], Colour>,
    /// Lengths of words by first and by last byte, a bit each: most names are no word.
    lengths: [[u32; 256]; 2],
    in_names: [bool; 256],
    opens: [bool; 256],
}

/// Longer words are names.
const WORD_BYTES_MAX: usize = 31;

impl Syntax {
    pub(crate) fn new(family: &'static Family) -> Syntax {
        let words = family.words.iter().flat_map(|(colour, words)| {
            let words = words.split_ascii_whitespace();
            words.map(move |word| (word.as_bytes(), *colour))
        });
        let words: FnvHashMap<_, _> = words.collect();
        let mut lengths = [[0; 256]; 2];
        for word in words.keys() {
            lengths[0][usize::from(word[0])] |= 1 << word.len();
            lengths[1][usize::from(word[word.len() - 1])] |= 1 << word.len();
        }
        let (mut in_names, mut opens) = ([false; 256], [false; 256]);
        for byte in 0..=255_u8 {
            in_names[usize::from(byte)] =
                byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        }
        for byte in family.of_names.bytes() {
            in_names[usize::from(byte)] = true;
        }
        let outer = family.quotes.iter();
        for quote in outer.filter(|quote| !quote.has(quote::INNER)) {
            opens[usize::from(quote.open.as_bytes()[0])] = true;
        }
        Syntax {
            family,
            lengths,
            words,
            in_names,
            opens,
        }
    }

    /// True if a form may outlast its line without a backslash.
    pub fn lasts_over_lines(&self) -> bool {
        let features = MARKUP | BLOCKS | HEREDOC | HASHES | RAW | LONG | QUOTING | PERCENT;
        let mut quotes = self.family.quotes.iter();
        self.has(features) || quotes.any(|quote| quote.has(quote::LINES))
    }

    /// Guesses the state before some lines. `None`: like code.
    pub fn guess<'t>(&self, mut lines: impl Iterator<Item = &'t [u8]>) -> Option<LineState> {
        let is_block = |quote: &Quote| {
            quote.colour == Some(Colour::Comment)
                && quote.has(quote::LINES)
                && !quote.has(quote::CLOSES_IN_COLUMN)
        };
        let quotes = self.family.quotes;
        let form = quotes.iter().position(is_block)?;
        let is_known_inside = lines.find_map(|line| is_inside(line, &quotes[form]))?;
        is_known_inside.then_some(LineState::Quote {
            form: form as u8,
            depth: 1,
        })
    }

    /// Class outside of comments and strings.
    pub fn class(&self) -> Class {
        if self.has(PROSE) {
            Class::Text
        } else {
            Class::Code
        }
    }

    pub(super) fn has(&self, feature: u32) -> bool {
        self.family.features & feature != 0
    }

    pub(super) fn is_in_name(&self, byte: u8) -> bool {
        self.in_names[usize::from(byte)]
    }

    pub(super) fn opens(&self, byte: u8) -> bool {
        self.opens[usize::from(byte)]
    }

    pub(super) fn word(&self, word: &[u8]) -> Option<Colour> {
        let mut lower = [0; WORD_BYTES_MAX];
        let lower = lower.get_mut(..word.len())?;
        let word = if self.has(ANY_CASE) {
            lower.copy_from_slice(word);
            lower.make_ascii_lowercase();
            lower
        } else {
            word
        };
        let (first, last) = (usize::from(*word.first()?), usize::from(*word.last()?));
        let lengths = self.lengths[0][first] & self.lengths[1][last];
        let may_be = lengths >> word.len() & 1 == 1;
        may_be.then(|| self.words.get(word).copied()).flatten()
    }
}

fn is_inside(line: &[u8], block: &Quote) -> Option<bool> {
    let (open, close) = (block.open.as_bytes(), block.close.as_bytes());
    let text = line.trim_ascii_start();
    // No blank follows the star in `*p = 1`.
    let has_star = open.ends_with(b"*") && matches!(text, [b'*'] | [b'*', b' ' | b'\t' | b'/', ..]);
    if has_star {
        return Some(true);
    }
    let find = |sign: &[u8]| line.windows(sign.len()).position(|part| part == sign);
    match (find(open), find(close)) {
        (Some(begin), Some(end)) if begin < end => Some(false),
        (Some(_), None) => Some(false),
        // Maybe in a string.
        (_, Some(end)) if !line[..end].contains(&b'"') => Some(true),
        _ => None,
    }
}
