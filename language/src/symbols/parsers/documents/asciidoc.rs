//! AsciiDoc: headings with `=` or a row below; anchors.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::{Line, Parser};
use super::{Sections, count, is_row, rest, width};
use std::ops::Range;

/// Rows below headings, by level.
const ROWS: &[u8] = b"=-~^+";

#[derive(Default)]
pub(crate) struct AsciiDoc {
    sections: Sections,
    /// Line that a row may follow.
    last: Option<Range<u32>>,
    /// Sign and length of the row that ends a block.
    block: Option<(u8, usize)>,
}

impl Parser for AsciiDoc {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !line.is_begin {
            return;
        }
        let text = outline.bytes(line.range.clone()).trim_ascii_end();
        let last = self.last.take();
        let Some(&sign) = text.first() else { return };
        if text.len() > 1 && b"=-~^+./`".contains(&sign) && is_row(text, sign) {
            self.row(sign, text.len(), last, outline);
        } else if self.block.is_none() {
            self.text(line, text, outline);
        }
    }
}

impl AsciiDoc {
    fn row(
        &mut self,
        sign: u8,
        length: usize,
        last: Option<Range<u32>>,
        outline: &mut Outline<'_>,
    ) {
        let level = ROWS.iter().position(|row| *row == sign);
        if let Some(open) = self.block {
            if open == (sign, length) {
                self.block = None;
            }
        } else if let (Some(level), Some(name)) = (level, last)
            && width(outline.bytes(name.clone())).abs_diff(length) <= 2
        {
            self.sections
                .open(1 + level as u8, name.start, name, outline);
        } else if length >= 4 && b"-.+/".contains(&sign) || length == 3 && sign == b'`' {
            self.block = Some((sign, length));
        }
    }

    fn text(&mut self, line: &Line<'_>, text: &[u8], outline: &mut Outline<'_>) {
        let level = count(text, b'=').max(count(text, b'#'));
        match text {
            [b'=' | b'#', ..] if text.get(usize::from(level)) == Some(&b' ') => {
                if level <= 6 {
                    let name = rest(
                        line,
                        &outline.bytes(line.range.clone())[usize::from(level)..],
                    );
                    self.sections.open(level, line.range.start, name, outline);
                }
            }
            [b'[', b'[', ..] => anchor(line.range.start + 2, &text[2..], outline),
            [b'[', b'#', ..] => anchor(line.range.start + 2, &text[2..], outline),
            [b'`', b'`', b'`', ..] => self.block = Some((b'`', 3)),
            [b' ' | b'\t' | b'[' | b'.' | b':' | b'|' | b'*' | b'/', ..] => {}
            _ => self.last = Some(line.range.start..line.range.start + text.len() as u32),
        }
    }
}

/// `[[name]]`, `[[name,text]]`, `[#name]`
fn anchor(start: u32, text: &[u8], outline: &mut Outline<'_>) {
    let is_end = |byte: &u8| b"],.%[".contains(byte);
    if let Some(end) = text.iter().position(is_end) {
        outline.define(start..start + end as u32, Kind::Label);
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn headings_and_anchors() {
        check(
            "asciidoc",
            "= A\n:toc:\n\n[[b-id]]\n== B\n----\n== c\n----\n=== D ==\n\nE f\n---\n[#g]\n.Title\n....\n= x\n....\n////\n== h\n////\nIi\n~~\n",
            "section A 1-22
             label A.b-id 4
             section A.B 5-10
             section A.B.D == 9-10
             section A.E f 11-22
             label A.E f.g 13
             section A.E f.Ii 21-22",
        );
    }
}
