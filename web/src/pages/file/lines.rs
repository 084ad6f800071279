//! Lines of a file as HTML, and the outline beside them: links to lines that look like definitions.
//!
//! Chunks are elements, so that a browser lays out only visible ones.

use super::super::filters;
use super::super::visible::{self, VisibleLine};
use super::asked::LineRange;
use super::blame::{BlameCell, BlameColumn};
use super::marks::Marks;
use crate::http::site::Site;
use crate::model::{DefinitionKind, OutlineDefinition};
use crate::source::colours::{DocumentColours, split_lines};
use crate::source::outline::Outline;
use askama::Template;

/// The style sheet has the height of a chunk.
pub(super) const CHUNK_LINES: usize = 200;

/// Bytes before the first mark of a longer line, and of all of it.
const LINE_BYTES: (usize, usize) = (2000, 4000);

#[derive(Template)]
#[template(path = "file_lines.html")]
struct Chunk {
    /// True with [`CHUNK_LINES`] lines.
    is_full: bool,
    lines: Vec<Line>,
}

struct Line {
    number: u32,
    hit: bool,
    blame: Option<BlameCell>,
    shown: VisibleLine,
}

pub(super) struct LinesView {
    pub(super) marks: Marks,
    pub(super) blame: Option<BlameColumn>,
    pub(super) hit: LineRange,
    pub(super) colours: DocumentColours,
    pub(super) outline: Outline,
}

impl LinesView {
    /// `first` is the number of the first line.
    pub(super) fn render(&mut self, site: &Site, first: u32, text: &[u8]) -> String {
        let line = |(number, text)| {
            let coloured = self.colours.tokens(number, text);
            self.outline.add(number, text, &coloured);
            let marks = self.marks.of_line(number);
            Line {
                number,
                hit: self.hit.has(number),
                blame: (self.blame.as_ref()).map(|blame| blame.cell(number, number == first)),
                shown: visible::line(text, marks, &coloured, LINE_BYTES),
            }
        };
        let lines: Vec<Line> = (first..).zip(split_lines(text)).map(line).collect();
        let chunk = Chunk {
            is_full: lines.len() == CHUNK_LINES,
            lines,
        };
        site.render(&chunk)
    }
}

/// Bytes and number of at most `count` lines.
pub(super) fn first_lines(text: &[u8], count: usize) -> (usize, u32) {
    let (mut bytes, mut lines) = (0, 0);
    for line in text.split_inclusive(|&byte| byte == b'\n').take(count) {
        bytes += line.len();
        lines += 1;
    }
    (bytes, lines)
}

#[derive(Template)]
#[template(path = "file_outline.html")]
struct OutlineView<'a> {
    definitions: &'a [OutlineDefinition],
    is_cut: bool,
}

/// Empty without definitions.
pub(super) fn render_outline(outline: &Outline) -> String {
    if outline.definitions.is_empty() {
        return String::new();
    }
    let view = OutlineView {
        definitions: &outline.definitions,
        is_cut: outline.is_cut,
    };
    view.render().expect("an outline has a bound")
}

/// Kind, sign and CSS class.
fn look(kind: &DefinitionKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        DefinitionKind::Function => ("function", "f", "c-f"),
        DefinitionKind::Type => ("type", "T", "c-t"),
        DefinitionKind::Macro => ("macro", "#", "c-p"),
        DefinitionKind::Module => ("module", "M", "c-k"),
        DefinitionKind::Constant => ("constant", "c", "c-n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_marks_and_no_ends() {
        let mut view = LinesView {
            marks: Marks::default(),
            blame: None,
            hit: LineRange { first: 8, last: 9 },
            colours: DocumentColours::reading(""),
            outline: Outline::new(""),
        };
        let html = view.render(&Site::default(), 7, b"a\r\n\n<b>");
        for part in [
            r#"<div class="line" id="L7">"#,
            r#"<div class="line hit" id="L8">"#,
            r#"<div class="line hit" id="L9">"#,
            "<code>a</code>",
            "<code></code>",
            "<code>&#60;b&#62;</code>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn counts_the_first_lines() {
        assert_eq!(first_lines(b"a\nb\nc", 2), (4, 2));
        assert_eq!(first_lines(b"a\nb\nc", 5), (5, 3));
        assert_eq!(first_lines(b"", 5), (0, 0));
    }

    #[test]
    fn an_outline_leads_to_lines_and_says_that_it_is_a_guess() {
        let mut outline = Outline::new("C");
        assert_eq!(render_outline(&outline), "");
        outline.add(7, b"int main(void)", &Vec::new());
        let html = render_outline(&outline);
        for part in [
            "href=\"#L7\"",
            "title=\"function, line 7\"",
            "main</a>",
            "look like definitions",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
