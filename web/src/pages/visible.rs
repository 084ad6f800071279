//! Source code as text in which every byte is visible and inert.
//!
//! Control characters, invalid UTF-8, and characters that reorder or hide text become escapes, each
//! in a [`Piece`] of its own for the template. Templates escape HTML, not this module.

use crate::source::colours::{self, Colour};
use std::ops::Range;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) marked: bool,
    /// True for the first and last piece of a marked range.
    pub(super) opens: bool,
    pub(super) closes: bool,
    pub(super) escaped: bool,
    /// CSS class, or empty.
    pub(super) colour: &'static str,
}

/// Ascending.
pub(super) type Coloured = [(Range<usize>, Colour)];

/// Bytes before the first range of a long line, and of all of it.
pub(super) const SHORT: (usize, usize) = (80, 300);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VisibleLine {
    pub(super) pieces: Vec<Piece>,
    /// Hidden bytes.
    pub(super) cut_before: u64,
    pub(super) cut_after: u64,
}

/// Cuts a long line around its first range.
pub(super) fn line(
    text: &[u8],
    ranges: &[Range<usize>],
    coloured: &Coloured,
    (before_max, bytes_max): (usize, usize),
) -> VisibleLine {
    let first = ranges.first().map_or(0, |range| range.start);
    let window = cut(text, first, before_max, bytes_max);
    VisibleLine {
        cut_before: window.start as u64,
        cut_after: (text.len() - window.end) as u64,
        pieces: pieces_within(text, ranges, coloured, window),
    }
}

pub(super) fn pieces(text: &[u8], ranges: &[Range<usize>], coloured: &Coloured) -> Vec<Piece> {
    pieces_within(text, ranges, coloured, 0..text.len())
}

/// Whole text as one string, without markup.
pub(super) fn plain(text: &[u8]) -> String {
    let pieces = pieces(text, &[], &[]).into_iter();
    pieces.map(|piece| piece.text).collect()
}

fn pieces_within(
    text: &[u8],
    ranges: &[Range<usize>],
    coloured: &Coloured,
    window: Range<usize>,
) -> Vec<Piece> {
    let mut writer = Writer {
        text,
        coloured,
        pieces: Vec::new(),
    };
    let mut at = window.start;
    for range in ranges {
        let range = range.start.clamp(at, window.end)..range.end.clamp(at, window.end);
        writer.push(at..range.start, false);
        let first = writer.pieces.len();
        writer.push(range.clone(), true);
        if let [first, ..] = &mut writer.pieces[first..] {
            first.opens = true;
        }
        if let Some(last) = writer.pieces.last_mut().filter(|last| last.marked) {
            last.closes = true;
        }
        at = range.end;
    }
    writer.push(at..window.end, false);
    writer.pieces
}

struct Writer<'a> {
    text: &'a [u8],
    /// Parts that end after the current byte.
    coloured: &'a Coloured,
    pieces: Vec<Piece>,
}

impl Writer<'_> {
    /// Adds a marked or plain part as new pieces.
    fn push(&mut self, part: Range<usize>, marked: bool) {
        let (mut at, first) = (part.start, self.pieces.len());
        while at < part.end {
            while self
                .coloured
                .first()
                .is_some_and(|(range, _)| range.end <= at)
            {
                self.coloured = &self.coloured[1..];
            }
            let (end, colour) = match self.coloured.first() {
                Some((range, colour)) if range.start <= at => (range.end, colours::class(*colour)),
                Some((range, _)) => (range.start, ""),
                None => (part.end, ""),
            };
            let end = end.min(part.end);
            let form = Piece {
                marked,
                colour,
                ..Piece::default()
            };
            show(&self.text[at..end], |text, escaped| {
                let form = Piece {
                    escaped,
                    ..form.clone()
                };
                append(&mut self.pieces, first, text, form);
            });
            at = end;
        }
    }
}

fn cut(text: &[u8], first: usize, before_max: usize, bytes_max: usize) -> Range<usize> {
    if text.len() <= bytes_max {
        return 0..text.len();
    }
    let start = first.saturating_sub(before_max).min(text.len() - bytes_max);
    let end = start + bytes_max;
    character_start(text, start)..character_start(text, end)
}

/// Start of the character at `at`; `at` in invalid UTF-8.
fn character_start(text: &[u8], at: usize) -> usize {
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| !is_inside(at))
        .unwrap_or(at)
}

/// `each` gets true for an escape.
fn show(bytes: &[u8], mut each: impl FnMut(&str, bool)) {
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        let mut plain = 0;
        for (at, character) in valid.char_indices() {
            let Some(escape) = escape(character) else {
                continue;
            };
            each(&valid[plain..at], false);
            each(&escape, true);
            plain = at + character.len_utf8();
        }
        each(&valid[plain..], false);
        for byte in chunk.invalid() {
            each(&format!("\\x{byte:02X}"), true);
        }
    }
}

fn append(pieces: &mut Vec<Piece>, first: usize, text: &str, form: Piece) {
    if text.is_empty() {
        return;
    }
    let looks = |piece: &Piece| (piece.marked, piece.escaped, piece.colour);
    match pieces[first..].last_mut() {
        Some(last) if looks(last) == looks(&form) => last.text.push_str(text),
        _ => pieces.push(Piece {
            text: text.to_owned(),
            ..form
        }),
    }
}

/// Escape of a character that must not be shown, as in most languages. Many fonts lack Unicode's
/// pictures of control characters.
fn escape(character: char) -> Option<String> {
    match character {
        '\t' => None,
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\0'..='\x1f' | '\x7f' => Some(format!("\\x{:02X}", u32::from(character))),
        _ if is_deceptive(character) => Some(format!("<U+{:04X}>", u32::from(character))),
        _ => None,
    }
}

/// True for C1 controls, direction marks and overrides, and characters of no width: they make text
/// look like other text. Soft hyphens and emoji joiners stay.
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

    /// Marked pieces in brackets, escapes in braces.
    fn check(text: &[u8], ranges: &[Range<usize>], expected: Expect) {
        check_coloured(text, ranges, &[], expected);
    }

    fn check_coloured(text: &[u8], ranges: &[Range<usize>], coloured: &Coloured, expected: Expect) {
        let shown = line(text, ranges, coloured, SHORT);
        let mut out = String::new();
        for piece in &shown.pieces {
            let text = if piece.escaped {
                format!("{{{}}}", piece.text)
            } else if piece.colour.is_empty() {
                piece.text.clone()
            } else {
                format!("<{} {}>", piece.colour, piece.text)
            };
            out += if piece.opens { "[" } else { "" };
            out += &text;
            out += if piece.closes { "]" } else { "" };
        }
        if shown.cut_before + shown.cut_after > 0 {
            out = format!("{}..{out}..{}", shown.cut_before, shown.cut_after);
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn marks_ranges_and_escapes_characters() {
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
    fn marks_and_colours_overlap_and_neither_hides_the_other() {
        let text = b"if (x) return \x01;";
        let coloured = [
            (0..2, Colour::Keyword),
            (4..5, Colour::Number),
            (7..17, Colour::Comment),
        ];
        let marked = &[1..5, 9..16];
        check_coloured(
            text,
            marked,
            &coloured,
            expect![r"<c-k i>[<c-k f> (<c-n x>]) <c-c re>[<c-c turn >{\x01}<c-c ;>]"],
        );
    }

    #[test]
    fn cuts_long_lines_around_the_first_range() {
        let text = "x".repeat(1000);
        let shown = line(text.as_bytes(), &[500..510], &[], SHORT);
        assert_eq!((shown.cut_before, shown.cut_after), (420, 280));
        let shown = line(text.as_bytes(), &[990..1000], &[], SHORT);
        assert_eq!((shown.cut_before, shown.cut_after), (700, 0));
        let shown = line(text.as_bytes(), &[], &[], SHORT);
        assert_eq!((shown.cut_before, shown.cut_after), (0, 700));
        let umlauts = "ü".repeat(400);
        assert!(
            line(umlauts.as_bytes(), &[301..401], &[], SHORT)
                .pieces
                .iter()
                .all(|p| !p.text.is_empty())
        );
    }

    proptest! {
        #[test]
        fn shows_or_counts_every_byte(
            text in prop::collection::vec(any::<u8>(), 0..600),
            mut edges in prop::collection::vec(0_usize..600, 0..8),
        ) {
            edges.iter_mut().for_each(|edge| *edge = (*edge).min(text.len()));
            edges.sort_unstable();
            let ranges: Vec<_> = edges.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect();
            let between = edges.windows(2).skip(1).step_by(2);
            let coloured: Vec<_> = between
                .map(|pair| (pair[0]..pair[1], Colour::Comment))
                .collect();
            let shown = line(&text, &ranges, &coloured, SHORT);
            let kept = text.len() as u64 - shown.cut_before - shown.cut_after;
            prop_assert!(kept <= SHORT.1 as u64 + 3);
            let marked: usize = shown.pieces.iter().map(|piece| usize::from(piece.opens)).sum();
            let closed: usize = shown.pieces.iter().map(|piece| usize::from(piece.closes)).sum();
            prop_assert_eq!(marked, closed);
            let harmless = |piece: &Piece| {
                piece.text.chars().all(|c| c == '\t' || escape(c).is_none())
            };
            prop_assert!(shown.pieces.iter().all(harmless));
        }
    }
}
