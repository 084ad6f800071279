//! Bytes of source code as text that shows what is there and does nothing.
//!
//! Control characters, bytes that are not UTF-8 and characters that reorder or hide the text around
//! them become visible signs, each a piece of its own, so that a page can set them apart. Escaping
//! for HTML is not done here: the templates do it, for every piece.

use std::ops::Range;

/// How a piece of a line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    Plain,
    /// It stands for something that cannot be shown as it is.
    Sign,
}

/// A run of characters of one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) style: Style,
    /// Whether it is (part of) what matched.
    pub(crate) marked: bool,
    pub(crate) text: String,
}

impl Piece {
    pub(crate) fn is_sign(&self) -> bool {
        self.style == Style::Sign
    }
}

/// Bytes of a line that are shown before and behind what matched first.
const LEAD_BYTES_MAX: usize = 80;

/// Bytes of a line that are shown in all.
const SHOWN_BYTES_MAX: usize = 300;

/// A line as pieces, cut around its first range when it is long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) pieces: Vec<Piece>,
    /// Bytes that are not shown before and behind the pieces.
    pub(crate) cut_before: u64,
    pub(crate) cut_after: u64,
}

/// Makes a line of results.
pub(crate) fn line(text: &[u8], ranges: &[Range<usize>]) -> Shown {
    let window = cut(text, ranges.first());
    Shown {
        cut_before: window.start as u64,
        cut_after: (text.len() - window.end) as u64,
        pieces: part(text, ranges, window),
    }
}

/// Makes pieces of bytes that are all shown, with what matched marked.
pub(crate) fn marked(text: &[u8], ranges: &[Range<usize>]) -> Vec<Piece> {
    part(text, ranges, 0..text.len())
}

fn part(text: &[u8], ranges: &[Range<usize>], window: Range<usize>) -> Vec<Piece> {
    let (mut pieces, mut at) = (Vec::new(), window.start);
    for range in ranges {
        let range = range.start.clamp(at, window.end)..range.end.clamp(at, window.end);
        push(&mut pieces, &text[at..range.start], false);
        push(&mut pieces, &text[range.clone()], true);
        at = range.end;
    }
    push(&mut pieces, &text[at..window.end], false);
    pieces
}

/// Makes pieces of bytes that are all shown.
pub(crate) fn whole(text: &[u8]) -> Vec<Piece> {
    marked(text, &[])
}

/// Bytes as one string, for places that have no styles.
pub(crate) fn plain(text: &[u8]) -> String {
    whole(text).into_iter().map(|piece| piece.text).collect()
}

/// Which bytes of a line are shown: all of a short one.
fn cut(text: &[u8], first: Option<&Range<usize>>) -> Range<usize> {
    if text.len() <= SHOWN_BYTES_MAX {
        return 0..text.len();
    }
    let first = first.map_or(0, |range| range.start);
    let start = first
        .saturating_sub(LEAD_BYTES_MAX)
        .min(text.len() - SHOWN_BYTES_MAX);
    let end = start + SHOWN_BYTES_MAX;
    character_start(text, start)..character_start(text, end)
}

/// The nearest place at or before `at` where no character is cut, if there is one near.
fn character_start(text: &[u8], at: usize) -> usize {
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| !is_inside(at))
        .unwrap_or(at)
}

fn push(pieces: &mut Vec<Piece>, bytes: &[u8], marked: bool) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match sign(character) {
                Some(text) => join(pieces, Style::Sign, marked, &text),
                None => join(
                    pieces,
                    Style::Plain,
                    marked,
                    character.encode_utf8(&mut [0; 4]),
                ),
            }
        }
        for byte in chunk.invalid() {
            join(pieces, Style::Sign, marked, &format!("\\x{byte:02X}"));
        }
    }
}

fn join(pieces: &mut Vec<Piece>, style: Style, marked: bool, text: &str) {
    match pieces.last_mut() {
        Some(last) if last.style == style && last.marked == marked => last.text.push_str(text),
        _ => pieces.push(Piece {
            style,
            marked,
            text: text.to_owned(),
        }),
    }
}

/// The sign for a character that must not be shown as it is: an escape as in most languages. (The
/// pictures that Unicode has for controls are missing from many fonts.)
fn sign(character: char) -> Option<String> {
    match character {
        '\t' => None,
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\0'..='\x1f' | '\x7f' => Some(format!("\\x{:02X}", u32::from(character))),
        _ if is_deceptive(character) => Some(format!("<U+{:04X}>", u32::from(character))),
        _ => None,
    }
}

/// Controls of the second block, marks and overrides of direction, and characters without width
/// that make text look like other text. Soft hyphens and joiners of emoji are among them: in
/// source code it is better to see them.
fn is_deceptive(character: char) -> bool {
    matches!(character,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    /// Renders with marks in brackets and signs in braces.
    fn check(text: &[u8], ranges: &[Range<usize>], expected: Expect) {
        let shown = line(text, ranges);
        let mut out = String::new();
        for piece in &shown.pieces {
            let text = if piece.is_sign() {
                format!("{{{}}}", piece.text)
            } else {
                piece.text.clone()
            };
            out += &if piece.marked {
                format!("[{text}]")
            } else {
                text
            };
        }
        if shown.cut_before + shown.cut_after > 0 {
            out = format!("{}..{out}..{}", shown.cut_before, shown.cut_after);
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn marks_and_signs() {
        check(b"int arse;", &[4..8], expect!["int [arse];"]);
        check(b"a\x1b[31mb", &[], expect![r"a{\x1B}[31mb"]);
        check(b"caf\xe9 \xff", &[3..4], expect![r"caf[{\xE9}] {\xFF}"]);
        check(
            "a\u{202e}b\u{200b}".as_bytes(),
            &[],
            expect!["a{<U+202E>}b{<U+200B>}"],
        );
        check("ü".as_bytes(), &[0..1], expect![r"[{\xC3}]{\xBC}"]);
        check(b"", &[0..0], expect![""]);
        check(b"\tx", &[], expect!["\tx"]);
    }

    #[test]
    fn long_lines_are_cut_around_the_first_range() {
        let text = "x".repeat(1000);
        let shown = line(text.as_bytes(), &[500..510]);
        assert_eq!((shown.cut_before, shown.cut_after), (420, 280));
        let shown = line(text.as_bytes(), &[990..1000]);
        assert_eq!((shown.cut_before, shown.cut_after), (700, 0));
        let shown = line(text.as_bytes(), &[]);
        assert_eq!((shown.cut_before, shown.cut_after), (0, 700));
        let umlauts = "ü".repeat(400);
        assert!(
            line(umlauts.as_bytes(), &[301..401])
                .pieces
                .iter()
                .all(|p| !p.text.is_empty())
        );
    }

    proptest! {
        #[test]
        fn every_byte_is_shown_or_counted(
            text in prop::collection::vec(any::<u8>(), 0..600),
            mut edges in prop::collection::vec(0_usize..600, 0..8),
        ) {
            edges.iter_mut().for_each(|edge| *edge = (*edge).min(text.len()));
            edges.sort_unstable();
            let ranges: Vec<_> = edges.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect();
            let shown = line(&text, &ranges);
            let kept = text.len() as u64 - shown.cut_before - shown.cut_after;
            prop_assert!(kept <= SHOWN_BYTES_MAX as u64 + 3);
            let harmless = |piece: &Piece| {
                piece.text.chars().all(|c| c == '\t' || sign(c).is_none())
            };
            prop_assert!(shown.pieces.iter().all(harmless));
        }
    }
}
