//! Prints lines as ripgrep does: its separators, groups, headings and colors.
//!
//! A program gets the bytes unchanged; on a terminal control characters are escaped.

use super::print_options::PrintOptions;
use super::rows::{Row, rows};
use crate::terminal::escaped;
use frontend::{Document, Match};
use std::io::Write;
use std::ops::Range;

/// Escape sequences before a path, a line number, a column and a match, and after each of them: ripgrep's
/// colors, byte for byte.
const PATH: &str = "\x1b[0m\x1b[35m";
const NUMBER: &str = "\x1b[0m\x1b[32m";
const COLUMN: &str = "\x1b[0m";
const MATCHED: &str = "\x1b[0m\x1b[1m\x1b[31m";
const NORMAL: &str = "\x1b[0m";

/// Prints matches into a buffer.
pub(super) struct LinePrinter {
    options: PrintOptions,
    /// Whether a group was printed before.
    has_printed: bool,
}

impl LinePrinter {
    pub(super) fn new(options: &PrintOptions) -> LinePrinter {
        LinePrinter {
            options: options.clone(),
            has_printed: false,
        }
    }

    /// Prints a match that is not in a group.
    pub(super) fn one(&self, found: &Match, out: &mut Vec<u8>) {
        match found.line {
            0 => self.name_match(found, out),
            _ => self.row(&found.document, &Row::of(found), out),
        }
    }

    /// Prints the matches of a document, which must ascend.
    pub(super) fn document(&mut self, matches: &[Match], out: &mut Vec<u8>) {
        let Some(first) = matches.first() else { return };
        if first.line == 0 {
            return self.name_match(first, out);
        }
        let options = &self.options;
        let rows = rows(matches, options.before, options.after, options.per_file_max);
        let has_context = options.before + options.after > 0;
        if self.has_printed && options.heading {
            out.push(b'\n');
        } else if self.has_printed && has_context {
            out.extend_from_slice(b"--\n");
        }
        if options.heading && options.names {
            self.name_line(&first.document, &[], rows[0].number, out);
        }
        let mut next = rows[0].number;
        for row in &rows {
            if has_context && row.number > next {
                out.extend_from_slice(b"--\n");
            }
            self.row(&first.document, row, out);
            next = row.next();
        }
        self.has_printed = true;
    }

    /// Prints the name of a file.
    pub(super) fn name(&self, document: &Document, out: &mut Vec<u8>) {
        self.name_line(document, &[], 1, out);
    }

    /// Prints the name of a file and a count.
    pub(super) fn count(&self, document: &Document, count: u64, out: &mut Vec<u8>) {
        if self.options.names {
            self.path(document, &[], 1, out);
            out.push(if self.options.null { 0 } else { b':' });
        }
        out.extend_from_slice(format!("{count}\n").as_bytes());
    }

    /// Prints a name on a line of its own, with links to `line`.
    fn name_line(
        &self,
        document: &Document,
        ranges: &[Range<usize>],
        line: u32,
        out: &mut Vec<u8>,
    ) {
        self.path(document, ranges, line, out);
        out.push(if self.options.null { 0 } else { b'\n' });
    }

    /// Prints a match in a file's name.
    fn name_match(&self, found: &Match, out: &mut Vec<u8>) {
        let inside = found.document.package.len() + 1;
        let shift = |range: &Range<usize>| inside + range.start..inside + range.end;
        let ranges: Vec<_> = found.ranges.iter().map(shift).collect();
        self.name_line(&found.document, &ranges, 1, out);
    }

    fn row(&self, document: &Document, row: &Row<'_>, out: &mut Vec<u8>) {
        let options = &self.options;
        if options.each_match && !options.only_matching && row.found.is_some() {
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

    /// Prints for each match the line in which it starts.
    fn each_match(&self, document: &Document, row: &Row<'_>, out: &mut Vec<u8>) {
        for (number, line, range) in row.starts() {
            let column = self.options.columns.then_some(range.start + 1);
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
        let options = &self.options;
        let column = |range: &Range<usize>| options.columns.then_some(range.start + 1);
        if options.only_matching {
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

    /// Prints what comes before the text of a line: name, number and column.
    fn head(
        &self,
        document: &Document,
        number: u32,
        column: Option<usize>,
        separator: u8,
        out: &mut Vec<u8>,
    ) {
        let options = &self.options;
        if options.names && !options.heading {
            self.path(document, &[], number, out);
            out.push(if options.null { 0 } else { separator });
        }
        if options.numbers {
            let linked = options.heading.then_some((document, number));
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
        color: &str,
        number: usize,
        linked: Option<(&Document, u32)>,
        out: &mut Vec<u8>,
    ) {
        let is_linked = linked.is_some_and(|(document, line)| self.link(document, line, out));
        self.color(color, out);
        write!(out, "{number}").expect("writing to a vector cannot fail");
        self.color(NORMAL, out);
        self.unlink(is_linked, out);
    }

    /// Prints the name of a document, with `ranges` colored.
    fn path(&self, document: &Document, ranges: &[Range<usize>], line: u32, out: &mut Vec<u8>) {
        let is_linked = self.link(document, line, out);
        self.color(PATH, out);
        let name = [&document.package[..], b"/", &document.path].concat();
        let mut at = 0;
        for range in ranges
            .iter()
            .filter(|range| !range.is_empty() && self.options.color)
        {
            let (start, end) = (range.start.clamp(at, name.len()), range.end.min(name.len()));
            self.one_line(&name[at..start], out);
            self.color(MATCHED, out);
            self.one_line(&name[start..end.max(start)], out);
            self.color(PATH, out);
            at = end.max(start);
        }
        self.one_line(&name[at..], out);
        self.color(NORMAL, out);
        self.unlink(is_linked, out);
    }

    /// Prints a name, which may contain a line feed.
    fn one_line(&self, name: &[u8], out: &mut Vec<u8>) {
        if self.options.escape {
            out.extend_from_slice(escaped(name).replace('\n', "\\n").as_bytes());
        } else {
            out.extend_from_slice(name);
        }
    }

    /// Prints the text of a line, with `ranges` colored, and the line end.
    fn text(&self, text: &[u8], ranges: &[Range<usize>], out: &mut Vec<u8>) {
        if !self.options.escape {
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
            out.extend_from_slice(escaped(&text[at..start]).as_bytes());
            self.color(MATCHED, out);
            out.extend_from_slice(escaped(&text[start..end]).as_bytes());
            self.color(NORMAL, out);
            at = end;
        }
        out.extend_from_slice(escaped(&text[at..]).as_bytes());
        out.push(b'\n');
    }

    fn color(&self, color: &str, out: &mut Vec<u8>) {
        if self.options.color {
            out.extend_from_slice(color.as_bytes());
        }
    }

    fn link(&self, document: &Document, line: u32, out: &mut Vec<u8>) -> bool {
        let Some(links) = &self.options.links else {
            return false;
        };
        let url = links.url(document, line, 1);
        out.extend_from_slice(format!("\x1b]8;;{url}\x1b\\").as_bytes());
        true
    }

    fn unlink(&self, is_linked: bool, out: &mut Vec<u8>) {
        if is_linked {
            out.extend_from_slice(b"\x1b]8;;\x1b\\");
        }
    }
}
