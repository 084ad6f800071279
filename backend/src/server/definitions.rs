//! Definitions of a document for FILE: symbols of its text, with lines and names.

use language::symbols::{Definition, Incomplete, Parent, Symbols};
use schema::message::{FileDefinition, FileReply};
use std::ops::Range;

/// Definitions of a reply: 700 KB with long names, below a frame.
const DEFINITIONS_MAX: usize = 4096;

/// First definitions, or those around lines, and the reason for missing ones.
pub fn add(reply: &mut FileReply, text: &[u8], symbols: &Symbols, inside: &[u32]) {
    let mut lines = LineCounter::new(text);
    let all = symbols.definitions.iter();
    let shown = all.filter_map(|it| define(it, symbols, &mut lines, inside));
    reply.definitions = shown.take(DEFINITIONS_MAX).collect();
    reply.definitions_missing = match symbols.incomplete {
        Some(gap @ Incomplete::TextTooLong) => gap.to_string(),
        _ if inside.is_empty() && symbols.definitions.len() > DEFINITIONS_MAX => format!(
            "the first {DEFINITIONS_MAX} of {} definitions are listed",
            symbols.definitions.len()
        ),
        Some(gap) => gap.to_string(),
        None => String::new(),
    };
}

/// `None` if no line of `inside` is below the name in the body.
fn define(
    it: &Definition,
    symbols: &Symbols,
    lines: &mut LineCounter<'_>,
    inside: &[u32],
) -> Option<FileDefinition> {
    let text = lines.text;
    let (line, start) = lines.at(it.name.start as usize);
    // The end is behind the last byte of the body.
    let body = text.get(it.name.end as usize..it.end.saturating_sub(1) as usize);
    let more = memchr::memchr_iter(b'\n', body.unwrap_or_default()).count();
    let end_line = line.saturating_add(more as u32);
    let next = inside.partition_point(|inside| *inside <= line);
    if !inside.is_empty() && inside.get(next).is_none_or(|next| *next > end_line) {
        return None;
    }
    let name = |range: &Range<u32>| {
        let name = text.get(range.start as usize..range.end as usize);
        name.unwrap_or_default().to_vec()
    };
    let (parent, parent_index) = match &it.parent {
        Parent::None => (Vec::new(), None),
        Parent::Name(range) => (name(range), None),
        Parent::Definition(index) => {
            let parent = symbols.definitions.get(*index as usize);
            let is_listed = |index: &u32| inside.is_empty() && (*index as usize) < DEFINITIONS_MAX;
            let in_list = Some(*index).filter(is_listed);
            (parent.map_or(Vec::new(), |it| name(&it.name)), in_list)
        }
    };
    Some(FileDefinition {
        name: name(&it.name),
        kind: it.kind as u32,
        is_declaration: it.is_declaration,
        line,
        column: (it.name.start as usize - start) as u32,
        end_line,
        parent,
        parent_index,
    })
}

/// Counts lines up to ascending offsets.
struct LineCounter<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'t> LineCounter<'t> {
    fn new(text: &'t [u8]) -> LineCounter<'t> {
        LineCounter {
            text,
            at: 0,
            line: 1,
            line_start: 0,
        }
    }

    /// Number and start of the line.
    fn at(&mut self, offset: usize) -> (u32, usize) {
        let offset = offset.min(self.text.len());
        for end in memchr::memchr_iter(b'\n', &self.text[self.at..offset]) {
            self.line = self.line.saturating_add(1);
            self.line_start = self.at + end + 1;
        }
        self.at = offset;
        (self.line, self.line_start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use language::Language;

    #[test]
    fn definitions_have_lines_and_parents() {
        let text = b"struct A;\nimpl A {\n    fn f() {\n    }\n}\n";
        let mut reply = FileReply::default();
        let symbols = Symbols::of(Language::named("rust"), text);
        add(&mut reply, text, &symbols, &[]);
        let shown = reply.definitions.iter().map(|it| {
            let (name, parent) = (&it.name[..], &it.parent[..]);
            (
                name,
                it.line,
                it.column,
                it.end_line,
                parent,
                it.parent_index,
            )
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                (&b"A"[..], 1, 7, 1, &b""[..], None),
                (b"A", 2, 5, 5, b"", None),
                (b"f", 3, 7, 4, b"A", Some(1)),
            ]
        );
        assert_eq!(reply.definitions_missing, "");
        let mut around = |lines: &[u32]| {
            add(&mut reply, text, &symbols, lines);
            let names = reply.definitions.iter();
            names
                .map(|it| (it.line, it.parent_index))
                .collect::<Vec<_>>()
        };
        assert_eq!(around(&[1, 4, 9]), [(2, None), (3, None)]);
        assert_eq!(around(&[3]), [(2, None)]);
        assert_eq!(around(&[1, 2, 6]), []);
    }
}
