//! reStructuredText: titles with rows, whose first use gives them levels; targets.

use super::{Sections, is_row, width};
use crate::symbols::{Kind, Line, Outline, Parser};
use std::ops::Range;

#[derive(Default)]
pub(crate) struct Restructured {
    sections: Sections,
    rows: Vec<Row>,
    last: [Last; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Row {
    sign: u8,
    is_above: bool,
}

#[derive(Clone, Default)]
enum Last {
    #[default]
    Blank,
    /// Sign, length and offset.
    Row(u8, usize, u32),
    Text {
        name: Range<u32>,
        is_indented: bool,
    },
    /// Directive, comment, target.
    Explicit,
}

impl Parser for Restructured {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !line.is_begin {
            return;
        }
        let text = outline.bytes(line.range.clone()).trim_ascii_end();
        let indent = text.len() - text.trim_ascii_start().len();
        let start = line.range.start;
        let this = match text {
            [] => Last::Blank,
            [b'.', b'.', b' ', ..] | b".." => {
                target(start, text, outline);
                Last::Explicit
            }
            [sign, ..] if sign.is_ascii_punctuation() && is_row(text, *sign) => {
                let row = self.row(*sign, text.len(), outline);
                row.unwrap_or(Last::Row(*sign, text.len(), start))
            }
            _ => Last::Text {
                name: start + indent as u32..start + text.len() as u32,
                is_indented: indent > 0,
            },
        };
        let [_, last] = std::mem::take(&mut self.last);
        self.last = [last, this];
    }
}

impl Restructured {
    /// Opens the section of a title above. Returns the row's role.
    fn row(&mut self, sign: u8, length: usize, outline: &mut Outline<'_>) -> Option<Last> {
        let [before, Last::Text { name, is_indented }] = &self.last else {
            return None;
        };
        let title = width(outline.bytes(name.clone()));
        let (is_above, at) = match before {
            Last::Row(above, other, at) if (*above, *other) == (sign, length) => (true, *at),
            Last::Text {
                is_indented: false, ..
            } => return None,
            _ => (false, name.start),
        };
        if length < title.min(4) || *is_indented && !is_above {
            return None;
        }
        let row = Row { sign, is_above };
        let level = self.rows.iter().position(|other| *other == row);
        let level = level.unwrap_or_else(|| {
            self.rows.push(row);
            self.rows.len() - 1
        });
        self.sections.open(level as u8, at, name.clone(), outline);
        Some(Last::Blank)
    }
}

/// `.. _name:`, `.. _name: link`
fn target(start: u32, text: &[u8], outline: &mut Outline<'_>) {
    let Some(name) = text.strip_prefix(b".. _") else {
        return;
    };
    let end = memchr::memmem::find(name, b": ");
    let Some(name) = end.map_or(name.strip_suffix(b":"), |end| name.get(..end)) else {
        return;
    };
    let (start, name) = match name {
        [b'`', name @ .., b'`'] => (start + 5, name),
        _ => (start + 4, name),
    };
    if !name.starts_with(b"_") {
        outline.define(start..start + name.len() as u32, Kind::Label);
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn titles_have_levels_by_order() {
        check(
            "restructuredtext",
            "=====\n A b\n=====\n\n.. _x-y:\n\nC\n=\na\ntext\n----\n\nD\n--\n\nE::\n\n  f\n  -\n\n.. _`z z`:\n.. _g: http://h\n\nÄÖ\n==\n+---+\n| i |\n+---+\n",
            "section A b 2-28
             label A b.x-y 5
             section A b.C 7-23
             section A b.C.D 13-23
             label A b.C.D.z z 21
             label A b.C.D.g 22
             section A b.ÄÖ 24-28",
        );
    }

    #[test]
    fn hostile_text_has_no_titles() {
        check(
            "restructuredtext",
            "==\n==\n==\n\n~\na\n\nb\n-\n\n.. _:\n.. _",
            "section b 8-12",
        );
    }
}
