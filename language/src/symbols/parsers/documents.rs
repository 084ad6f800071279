//! Headings, anchors and ids. Parsers read bytes; the lexer knows comments and code.

pub(super) mod markup;
pub(super) mod restructured;

use crate::symbols::{Kind, Outline};
use std::ops::Range;

/// Open sections, by ascending level.
#[derive(Default)]
struct Sections {
    levels: Vec<u8>,
}

impl Sections {
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

fn is_row(text: &[u8], sign: u8) -> bool {
    text.iter().all(|byte| *byte == sign)
}

fn width(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}
