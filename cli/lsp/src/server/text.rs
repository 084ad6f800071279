//! Text with its lines, and positions in it as an editor counts them.

use lsp_types::{Position, PositionEncodingKind, Range};
use std::ops;

/// Unit of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// First known one of those that an editor offers, in its order.
    pub(super) fn of(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        let known = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];
        let named = |name: &PositionEncodingKind| known.into_iter().find(|it| it.name() == *name);
        let mut offered = offered.unwrap_or_default().iter();
        offered.find_map(named).unwrap_or_default()
    }

    pub(super) fn name(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn units(self, letter: char) -> usize {
        match self {
            Encoding::Utf8 => letter.len_utf8(),
            Encoding::Utf16 => letter.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }

    pub(super) fn column(self, line: &[u8], byte: usize) -> u32 {
        let mut at = 0;
        let before = letters(line).take_while(|(bytes, _)| {
            at += bytes;
            at <= byte
        });
        before.map(|(_, letter)| self.units(letter)).sum::<usize>() as u32
    }

    /// Byte of a column, at most the end of the line.
    fn byte(self, line: &[u8], column: u32) -> usize {
        let mut left = column as usize;
        let before = letters(line).take_while(|(_, letter)| {
            let units = self.units(*letter);
            let fits = units <= left;
            left = left.saturating_sub(units);
            fits
        });
        before.map(|(bytes, _)| bytes).sum()
    }
}

/// Characters with their lengths. Invalid bytes are read as U+FFFD, as editors do.
fn letters(line: &[u8]) -> impl Iterator<Item = (usize, char)> {
    line.utf8_chunks().flat_map(|chunk| {
        let invalid = chunk.invalid().len();
        let invalid = (invalid > 0).then_some((invalid, char::REPLACEMENT_CHARACTER));
        let valid = chunk.valid().chars();
        valid.map(|it| (it.len_utf8(), it)).chain(invalid)
    })
}

pub(super) struct Text<'t> {
    pub(super) bytes: &'t [u8],
    starts: Vec<usize>,
}

impl<'t> Text<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Text<'t> {
        let next = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1);
        Text {
            bytes,
            starts: [0].into_iter().chain(next).collect(),
        }
    }

    /// Number of the line of a byte, from 0.
    pub(super) fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte) - 1
    }

    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.bytes.len())
    }

    /// Line without its end; empty beyond the text.
    pub(super) fn line(&self, line: usize) -> &'t [u8] {
        let text = &self.bytes[self.start(line)..self.start(line.saturating_add(1))];
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        text.strip_suffix(b"\r").unwrap_or(text)
    }

    /// Line with this content, the nearest to `near`.
    pub(super) fn nearest(&self, near: usize, content: &[u8]) -> Option<usize> {
        let near = near.min(self.starts.len());
        let both =
            (0..=self.starts.len()).flat_map(|by| [near.checked_sub(by), near.checked_add(by)]);
        let mut lines = both.flatten().filter(|line| *line < self.starts.len());
        lines.find(|line| self.line(*line) == content)
    }

    pub(super) fn offset(&self, at: Position, encoding: Encoding) -> usize {
        let line = at.line as usize;
        self.start(line) + encoding.byte(self.line(line), at.character)
    }

    pub(super) fn position(&self, byte: usize, encoding: Encoding) -> Position {
        let line = self.line_of(byte);
        let column = encoding.column(self.line(line), byte - self.start(line));
        Position::new(line as u32, column)
    }

    pub(super) fn range(&self, bytes: &ops::Range<u32>, encoding: Encoding) -> Range {
        let position = |byte: u32| self.position(byte as usize, encoding);
        Range::new(position(bytes.start), position(bytes.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_units_of_the_encoding() {
        let text = Text::new("ab\n😀é\u{0}x\r\n".as_bytes());
        for (encoding, column) in [
            (Encoding::Utf8, 7),
            (Encoding::Utf16, 4),
            (Encoding::Utf32, 3),
        ] {
            let at = text.position(10, encoding);
            assert_eq!(at, Position::new(1, column), "{encoding:?}");
            assert_eq!(text.offset(at, encoding), 10);
            let beyond = text.offset(Position::new(1, 99), encoding);
            assert_eq!(text.bytes[beyond..], *b"\r\n");
            assert_eq!(text.offset(Position::new(9, 9), encoding), text.bytes.len());
        }
        let invalid = Text::new(b"\xff\xfex");
        assert_eq!(invalid.position(2, Encoding::Utf16), Position::new(0, 2));
    }

    #[test]
    fn moved_lines_are_found() {
        let text = Text::new(b"a\nb\na\nb");
        assert_eq!(text.nearest(2, b"b"), Some(1));
        assert_eq!(text.nearest(usize::MAX, b"b"), Some(3));
        assert_eq!(text.nearest(9, b"a"), Some(2));
        assert_eq!(text.nearest(0, b"c"), None);
    }
}
