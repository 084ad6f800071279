//! Definitions of a document for FILE: symbols of its text, with lines and names.

use language::symbols::{Definition, Incomplete, Parent, Symbols};
use schema::message::{FileDefinition, FileReply};
use std::ops::Range;

/// Definitions of a reply: 700 KB with long names, below a frame.
const DEFINITIONS_MAX: usize = 4096;

/// Adds the first definitions of a text, and the reason for missing ones.
pub fn add(reply: &mut FileReply, text: &[u8], symbols: &Symbols) {
    let mut lines = LineCounter::new(text);
    let shown = symbols.definitions.iter().take(DEFINITIONS_MAX);
    reply.definitions = shown.map(|it| define(it, symbols, &mut lines)).collect();
    reply.definitions_missing = match symbols.incomplete {
        Some(gap @ Incomplete::TextTooLong) => gap.to_string(),
        _ if symbols.definitions.len() > DEFINITIONS_MAX => format!(
            "the first {DEFINITIONS_MAX} of {} definitions are listed",
            symbols.definitions.len()
        ),
        Some(gap) => gap.to_string(),
        None => String::new(),
    };
}

fn define(it: &Definition, symbols: &Symbols, lines: &mut LineCounter<'_>) -> FileDefinition {
    let text = lines.text;
    let name = |range: &Range<u32>| {
        let name = text.get(range.start as usize..range.end as usize);
        name.unwrap_or_default().to_vec()
    };
    let (parent, parent_index) = match &it.parent {
        Parent::None => (Vec::new(), None),
        Parent::Name(range) => (name(range), None),
        Parent::Definition(index) => {
            let parent = symbols.definitions.get(*index as usize);
            let in_list = Some(*index).filter(|index| (*index as usize) < DEFINITIONS_MAX);
            (parent.map_or(Vec::new(), |it| name(&it.name)), in_list)
        }
    };
    let (line, start) = lines.at(it.name.start as usize);
    // The end is behind the last byte of the body.
    let body = text.get(it.name.end as usize..it.end.saturating_sub(1) as usize);
    let more = memchr::memchr_iter(b'\n', body.unwrap_or_default()).count();
    FileDefinition {
        name: name(&it.name),
        kind: it.kind as u32,
        is_declaration: it.is_declaration,
        line,
        column: (it.name.start as usize - start) as u32,
        end_line: line.saturating_add(more as u32),
        parent,
        parent_index,
    }
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

    /// Number and start of the line with an offset.
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
        add(
            &mut reply,
            text,
            &Symbols::of(Language::named("rust"), text),
        );
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
    }
}
