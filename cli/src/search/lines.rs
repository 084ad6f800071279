//! Writes lines as ripgrep does: its separators, groups, headings and colours.
//!
//! For programs the bytes as they are; for a terminal what is harmless.

use super::look::Look;
use super::rows::{Row, rows};
use crate::terminal::harmless;
use frontend::{Document, Match};
use std::ops::Range;

/// Escape sequences in front of a path, a line's number and what matched, and behind each:
/// ripgrep's colours, byte for byte.
const PATH: &str = "\x1b[0m\x1b[35m";
const NUMBER: &str = "\x1b[0m\x1b[32m";
const COLUMN: &str = "\x1b[0m";
const MATCHED: &str = "\x1b[0m\x1b[1m\x1b[31m";
const NORMAL: &str = "\x1b[0m";

/// Writes matches into a buffer.
pub(super) struct Lines {
    look: Look,
    /// Something stands above.
    is_begun: bool,
}

impl Lines {
    pub(super) fn new(look: &Look) -> Lines {
        Lines {
            look: look.clone(),
            is_begun: false,
        }
    }

    /// A match by itself.
    pub(super) fn one(&mut self, found: &Match, out: &mut Vec<u8>) {
        match found.line {
            0 => self.name_match(found, out),
            _ => self.row(&found.document, &Row::of(found), out),
        }
    }

    /// The matches of a document, which ascend.
    pub(super) fn document(&mut self, matches: &[Match], out: &mut Vec<u8>) {
        let Some(first) = matches.first() else { return };
        if first.line == 0 {
            return self.name_match(first, out);
        }
        let look = &self.look;
        let rows = rows(matches, look.before, look.after, look.lines_max);
        let has_context = look.before + look.after > 0;
        if self.is_begun && look.heading {
            out.push(b'\n');
        } else if self.is_begun && has_context {
            out.extend_from_slice(b"--\n");
        }
        if look.heading && look.names {
            self.heading(&first.document, rows[0].number, out);
        }
        let mut next = rows[0].number;
        for row in &rows {
            if has_context && row.number > next {
                out.extend_from_slice(b"--\n");
            }
            self.row(&first.document, row, out);
            next = row.next();
        }
        self.is_begun = true;
    }

    /// A file's name, and nothing else.
    pub(super) fn name(&self, document: &Document, out: &mut Vec<u8>) {
        self.path(document, &[], 1, out);
        out.push(if self.look.null { 0 } else { b'\n' });
    }

    /// A file's name and a number.
    pub(super) fn count(&self, document: &Document, count: u64, out: &mut Vec<u8>) {
        if self.look.names {
            self.path(document, &[], 1, out);
            out.push(if self.look.null { 0 } else { b':' });
        }
        out.extend_from_slice(format!("{count}\n").as_bytes());
    }

    fn heading(&self, document: &Document, line: u32, out: &mut Vec<u8>) {
        self.path(document, &[], line, out);
        out.push(if self.look.null { 0 } else { b'\n' });
    }

    fn name_match(&mut self, found: &Match, out: &mut Vec<u8>) {
        let inside = found.document.package.len() + 1;
        let shift = |range: &Range<usize>| inside + range.start..inside + range.end;
        let ranges: Vec<_> = found.ranges.iter().map(shift).collect();
        self.path(&found.document, &ranges, 1, out);
        out.push(if self.look.null { 0 } else { b'\n' });
    }

    fn row(&self, document: &Document, row: &Row<'_>, out: &mut Vec<u8>) {
        let look = &self.look;
        if look.each_match && !look.only_matching && row.found.is_some() {
            return self.each_match(document, row, out);
        }
        for (number, line, ranges) in row.split() {
            if row.found.is_none() {
                self.head(document, number, None, b'-', out);
                self.text(line, &[], out);
            } else {
                self.matched(document, number, line, &ranges, out);
            }
        }
    }

    /// A line for each match: that which it starts in.
    fn each_match(&self, document: &Document, row: &Row<'_>, out: &mut Vec<u8>) {
        for (number, line, range) in row.starts() {
            let column = self.look.columns.then_some(range.start + 1);
            self.head(document, number, column, b':', out);
            self.text(line, std::slice::from_ref(&range), out);
        }
    }

    fn matched(
        &self,
        document: &Document,
        number: u32,
        line: &[u8],
        ranges: &[Range<usize>],
        out: &mut Vec<u8>,
    ) {
        let look = &self.look;
        let column = |range: &Range<usize>| look.columns.then_some(range.start + 1);
        if look.only_matching {
            for range in ranges.iter().filter(|range| !range.is_empty()) {
                self.head(document, number, column(range), b':', out);
                let text = &line[range.clone()];
                let all = 0..text.len();
                self.text(text, std::slice::from_ref(&all), out);
            }
        } else {
            self.head(document, number, ranges.first().and_then(column), b':', out);
            self.text(line, ranges, out);
        }
    }

    /// What stands in front of a line.
    fn head(
        &self,
        document: &Document,
        number: u32,
        column: Option<usize>,
        separator: u8,
        out: &mut Vec<u8>,
    ) {
        let look = &self.look;
        if look.names && !look.heading {
            self.path(document, &[], number, out);
            out.push(if look.null { 0 } else { separator });
        }
        if look.numbers {
            let linked = look.heading.then_some((document, number));
            self.number(NUMBER, number as usize, linked, out);
            out.push(separator);
        }
        if let Some(column) = column {
            self.number(COLUMN, column, None, out);
            out.push(separator);
        }
    }

    fn number(
        &self,
        colour: &str,
        number: usize,
        linked: Option<(&Document, u32)>,
        out: &mut Vec<u8>,
    ) {
        let is_linked = linked.is_some_and(|(document, line)| self.link(document, line, out));
        self.colour(colour, out);
        push_number(number, out);
        self.colour(NORMAL, out);
        self.unlink(is_linked, out);
    }

    /// A document's name, with what matches in it.
    fn path(&self, document: &Document, ranges: &[Range<usize>], line: u32, out: &mut Vec<u8>) {
        let is_linked = self.link(document, line, out);
        self.colour(PATH, out);
        let name = [&document.package[..], b"/", &document.path].concat();
        let mut at = 0;
        for range in ranges
            .iter()
            .filter(|range| !range.is_empty() && self.look.colour)
        {
            let (start, end) = (range.start.clamp(at, name.len()), range.end.min(name.len()));
            self.one_line(&name[at..start], out);
            self.colour(MATCHED, out);
            self.one_line(&name[start..end.max(start)], out);
            self.colour(PATH, out);
            at = end.max(start);
        }
        self.one_line(&name[at..], out);
        self.colour(NORMAL, out);
        self.unlink(is_linked, out);
    }

    /// A name, which could hold a line end.
    fn one_line(&self, name: &[u8], out: &mut Vec<u8>) {
        match self.look.harmless {
            true => out.extend_from_slice(harmless(name).replace('\n', "\\n").as_bytes()),
            false => out.extend_from_slice(name),
        }
    }

    /// A line's text and its end.
    fn text(&self, text: &[u8], ranges: &[Range<usize>], out: &mut Vec<u8>) {
        if !self.look.harmless {
            out.extend_from_slice(text);
            return out.push(b'\n');
        }
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let mut at = 0;
        for range in ranges {
            let (start, end) = (range.start.min(text.len()), range.end.min(text.len()));
            if start < at || start >= end {
                continue;
            }
            out.extend_from_slice(harmless(&text[at..start]).as_bytes());
            self.colour(MATCHED, out);
            out.extend_from_slice(harmless(&text[start..end]).as_bytes());
            self.colour(NORMAL, out);
            at = end;
        }
        out.extend_from_slice(harmless(&text[at..]).as_bytes());
        out.push(b'\n');
    }

    fn colour(&self, colour: &str, out: &mut Vec<u8>) {
        if self.look.colour {
            out.extend_from_slice(colour.as_bytes());
        }
    }

    fn link(&self, document: &Document, line: u32, out: &mut Vec<u8>) -> bool {
        let Some(links) = &self.look.links else {
            return false;
        };
        let address = links.address(document, line, 1);
        out.extend_from_slice(format!("\x1b]8;;{address}\x1b\\").as_bytes());
        true
    }

    fn unlink(&self, is_linked: bool, out: &mut Vec<u8>) {
        if is_linked {
            out.extend_from_slice(b"\x1b]8;;\x1b\\");
        }
    }
}

/// Appends a number in decimal digits, without the detour of a string.
fn push_number(number: usize, out: &mut Vec<u8>) {
    use std::io::Write;
    // A vector takes everything.
    let _ = write!(out, "{number}");
}
