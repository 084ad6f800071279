//! Documents: headings, anchors and ids.
//!
//! Parsers of text read the bytes of a line; the lexer knows comments and code in it.

pub(super) mod asciidoc;
pub(super) mod markdown;
pub(super) mod markup;
pub(super) mod org;
pub(super) mod restructured;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::Line;
use std::ops::Range;

/// Open sections. Each is inside of the one before, with a higher level.
#[derive(Default)]
struct Sections {
    levels: Vec<u8>,
}

impl Sections {
    /// Opens a section at the line or tag at `at`, and closes those of its level.
    fn open(&mut self, level: u8, at: u32, name: Range<u32>, outline: &mut Outline<'_>) {
        self.close(level, at, outline);
        if let Some(index) = outline.define(name, Kind::Section) {
            outline.enter(Some(index));
            self.levels.push(level);
        }
    }

    fn close(&mut self, level: u8, at: u32, outline: &mut Outline<'_>) {
        while self.levels.last().is_some_and(|last| *last >= level) {
            self.levels.pop();
            outline.leave(at);
        }
    }
}

/// Signs at the beginning of a text, up to the greatest level.
fn count(text: &[u8], sign: u8) -> u8 {
    let signs = text.iter().take(usize::from(u8::MAX));
    signs.take_while(|byte| **byte == sign).count() as u8
}

/// Offsets of a line's last bytes, without blanks around.
fn rest(line: &Line<'_>, text: &[u8]) -> Range<u32> {
    let start = line.range.end - text.trim_ascii_start().len() as u32;
    start..start + text.trim_ascii().len() as u32
}

/// Returns whether a text has one sign only.
fn is_row(text: &[u8], sign: u8) -> bool {
    text.iter().all(|byte| *byte == sign)
}

/// Columns of a text.
fn width(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}
