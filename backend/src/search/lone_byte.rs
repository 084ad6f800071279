//! Finds places at which a byte is a word of its own.
//!
//! They rank lines in a search for one letter ([`words::words_in`]), and are rare: most
//! occurrences are inside words. So the whole text is scanned, many bytes at a time.

use language::words;
use std::ops::Range;

const CHUNK: usize = 64;

pub(super) struct LoneByte<'t> {
    text: &'t [u8],
    byte: u8,
    /// First place not before the last line, or the text's end.
    next: Option<usize>,
}

impl<'t> LoneByte<'t> {
    /// Only bytes of words have places.
    pub(super) fn new(text: &'t [u8], byte: u8) -> LoneByte<'t> {
        LoneByte {
            text,
            byte,
            next: (!words::is_word(byte)).then_some(text.len()),
        }
    }

    /// Lines must ascend.
    pub(super) fn is_in(&mut self, line: &Range<usize>) -> bool {
        let next = self.next.filter(|&next| next >= line.start);
        let next = next.unwrap_or_else(|| find(self.text, self.byte, line.start));
        self.next = Some(next);
        next < line.end
    }
}

fn find(text: &[u8], byte: u8, mut at: usize) -> usize {
    let is_word = |at: usize| text.get(at).is_some_and(|&byte| words::is_word(byte));
    let is_lone =
        |at: usize| text[at] == byte && !at.checked_sub(1).is_some_and(is_word) && !is_word(at + 1);
    if at == 0 && !text.is_empty() {
        if is_lone(0) {
            return 0;
        }
        at = 1;
    }
    while let Some(before) = at.checked_sub(1)
        && let Some(around) = text.get(before..before + CHUNK + 2)
    {
        let around: &[u8; CHUNK + 2] = around.try_into().expect("as many bytes");
        if let Some(found) = first_in(around, byte) {
            return at + found;
        }
        at += CHUNK;
    }
    (at..text.len())
        .find(|&at| is_lone(at))
        .unwrap_or(text.len())
}

/// First place in the middle. Without branches, for vectorization.
fn first_in(around: &[u8; CHUNK + 2], byte: u8) -> Option<usize> {
    let is_other = around.map(|byte| u8::from(!words::is_word(byte)));
    let mut lone = [0; CHUNK];
    for (at, lone) in lone.iter_mut().enumerate() {
        *lone = u8::from(around[at + 1] == byte) & is_other[at] & is_other[at + 2];
    }
    let any = lone.iter().fold(0, |any, lone| any | lone);
    (any != 0).then(|| lone.iter().position(|&lone| lone != 0))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_have_a_lone_byte_if_a_word_is_that_byte(
            lines in prop::collection::vec("[e_ a0;\r\u{e9}-]{0,90}", 0..12),
            byte in prop::sample::select(b"e;".to_vec()),
        ) {
            let text = lines.join("\n").into_bytes();
            let mut lone = LoneByte::new(&text, byte);
            let mut start = 0;
            for line in &lines {
                let words = |at: usize| words::words_in(line.as_bytes(), at, at + 1);
                let places = (0..line.len()).filter(|&at| line.as_bytes()[at] == byte);
                let expected = places.into_iter().any(|at| words(at).is_some());
                prop_assert_eq!(lone.is_in(&(start..start + line.len())), expected, "{}", line);
                start += line.len() + 1;
            }
        }
    }
}
