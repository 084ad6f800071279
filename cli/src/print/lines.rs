//! Prints lines as ripgrep does: separators, groups, headings and colors.
//!
//! Programs get unchanged bytes, terminals escaped ones.

use super::print_options::PrintOptions;
use super::rows::{Row, rows};
use crate::terminal::escaped;
use frontend::{Document, Match, Window, about_commit, shown_place};
use std::ops::Range;
use std::slice::from_ref;
use std::sync::Arc;

/// ripgrep's colors, byte for byte.
const PATH: &str = "\x1b[0m\x1b[35m";
const NUMBER: &str = "\x1b[0m\x1b[32m";
const COLUMN: &str = "\x1b[0m";
const MATCHED: &str = "\x1b[0m\x1b[1m\x1b[31m";
const NORMAL: &str = "\x1b[0m";

const REVISIONS_MAX: usize = 3;

pub(super) struct LinePrinter {
    options: PrintOptions,
    has_printed: bool,
    pub(super) out: Vec<u8>,
    /// Fetched while `out` is written.
    pub(super) holes: Vec<Hole>,
}

pub(super) struct Hole {
    /// Position in `out`.
    pub(super) at: usize,
    pub(super) document: Arc<Document>,
    /// Position in the document.
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl LinePrinter {
    pub(super) fn new(options: &PrintOptions) -> LinePrinter {
        LinePrinter {
            options: options.clone(),
            has_printed: false,
            out: Vec::new(),
            holes: Vec::new(),
        }
    }

    pub(super) fn one(&mut self, found: &Match) {
        match found.line {
            0 => self.name_match(found),
            _ => self.row(&found.document, &Row::of(found)),
        }
    }

    /// Leaves a hole for the cut line.
    fn cut(&mut self, found: &Match, window: Window) {
        let first = found.ranges.first().filter(|_| self.options.columns);
        let column = first.map(|range| window.start as usize + range.start + 1);
        let (number, mark) = shown_place(found.line, found.changed);
        self.head(&found.document, number, column, b':');
        self.out.extend(mark);
        self.holes.push(Hole {
            at: self.out.len(),
            document: Arc::clone(&found.document),
            offset: found.offset,
            bytes: window.line_bytes,
        });
        self.out.push(b'\n');
    }

    pub(super) fn document(&mut self, matches: &[Match]) {
        let Some(first) = matches.first() else { return };
        if first.line == 0 {
            return self.name_match(first);
        }
        let (before, after) = (self.options.before, self.options.after);
        let rows = rows(matches, before, after, self.options.per_file_max);
        let has_context = before + after > 0;
        if self.has_printed && self.options.heading {
            self.out.push(b'\n');
        } else if self.has_printed && has_context {
            self.out.extend(b"--\n");
        }
        if self.options.heading && !self.options.flags.no_filename {
            self.heading(&first.document, rows[0].number);
        }
        let mut next = rows[0].number;
        for row in &rows {
            if has_context && row.number > next {
                self.out.extend(b"--\n");
            }
            self.row(&first.document, row);
            next = row.next();
        }
        self.has_printed = true;
    }

    fn heading(&mut self, document: &Document, line: u32) {
        let (names, more) = document.revisions.first(REVISIONS_MAX);
        self.path(document, &[], line, b'\n');
        if names.is_empty() || self.options.flags.null {
            return;
        }
        self.out.pop();
        let more = match more {
            0 => String::new(),
            more => format!(", +{more}"),
        };
        self.plain(format!(" ({}{more})", names.join(", ")).as_bytes());
        self.out.push(b'\n');
    }

    pub(super) fn name(&mut self, document: &Document) {
        self.path(document, &[], 1, b'\n');
    }

    pub(super) fn count(&mut self, document: &Document, count: u64) {
        if !self.options.flags.no_filename {
            self.path(document, &[], 1, b':');
        }
        self.out.extend(format!("{count}\n").as_bytes());
    }

    fn name_match(&mut self, found: &Match) {
        if let Some(change) = &found.document.change {
            self.path(&found.document, &[], 1, b'\t');
            return self.text(&about_commit(change)[1..], &[]);
        }
        // A name that is relative to a directory lacks the first bytes of the path.
        let (name, path) = (self.options.name(&found.document), &found.document.path);
        let shift = |at: usize| (at + name.len()).saturating_sub(path.len());
        let shift = |range: &Range<usize>| shift(range.start)..shift(range.end);
        let ranges: Vec<_> = found.ranges.iter().map(shift).collect();
        self.path(&found.document, &ranges, 1, b'\n');
    }

    fn row(&mut self, document: &Document, row: &Row<'_>) {
        if let Some((found, window)) = row.found.and_then(|found| Some((found, found.window?))) {
            return self.cut(found, window);
        }
        let flags = &self.options.flags;
        let (only_matching, columns) = (flags.only_matching, self.options.columns);
        let column = |range: &Range<usize>| columns.then_some(range.start + 1);
        if flags.vimgrep && !only_matching && row.found.is_some() {
            for (number, line, range) in row.starts() {
                self.head(document, number, column(&range), b':');
                self.text(line, from_ref(&range));
            }
            return;
        }
        let (shift, mark) = row.place();
        for (number, line, ranges) in row.split() {
            let number = number.wrapping_add(shift);
            if row.found.is_none() {
                self.head(document, number, None, b'-');
                self.text(line, &[]);
            } else if only_matching {
                for range in ranges.into_iter().filter(|range| !range.is_empty()) {
                    self.head(document, number, column(&range), b':');
                    self.text(&line[range.clone()], from_ref(&(0..range.len())));
                }
            } else {
                self.head(document, number, ranges.first().and_then(column), b':');
                self.out.extend(mark);
                self.text(line, &ranges);
            }
        }
    }

    fn head(&mut self, document: &Document, number: u32, column: Option<usize>, separator: u8) {
        let heading = self.options.heading;
        if !self.options.flags.no_filename && !heading {
            self.path(document, &[], number, separator);
        }
        if self.options.numbers {
            let is_linked = heading && self.link(document, number);
            self.number(NUMBER, number as usize);
            self.unlink(is_linked);
            self.out.push(separator);
        }
        if let Some(column) = column {
            self.number(COLUMN, column);
            self.out.push(separator);
        }
    }

    fn number(&mut self, color: &str, number: usize) {
        self.color(color);
        self.out.extend(number.to_string().as_bytes());
        self.color(NORMAL);
    }

    /// Colors `ranges`, links to `line`, and ends with the separator or NUL.
    fn path(&mut self, document: &Document, ranges: &[Range<usize>], line: u32, separator: u8) {
        let is_linked = self.link(document, line);
        self.color(PATH);
        let name = self.options.name(document);
        self.marked(&name, ranges, PATH);
        self.color(NORMAL);
        self.unlink(is_linked);
        let is_null = self.options.flags.null;
        self.out.push(if is_null { 0 } else { separator });
    }

    fn text(&mut self, text: &[u8], ranges: &[Range<usize>]) {
        if self.options.escape {
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            self.marked(text, ranges, NORMAL);
        } else {
            self.out.extend(text);
        }
        self.out.push(b'\n');
    }

    /// Colors `ranges`, each followed by `rest`.
    fn marked(&mut self, text: &[u8], ranges: &[Range<usize>], rest: &str) {
        let mut at = 0;
        for range in ranges {
            let (start, end) = (range.start.min(text.len()), range.end.min(text.len()));
            if start < at || start >= end {
                continue;
            }
            self.plain(&text[at..start]);
            self.color(MATCHED);
            self.plain(&text[start..end]);
            self.color(rest);
            at = end;
        }
        self.plain(&text[at..]);
    }

    /// Names stay on one line of a terminal.
    fn plain(&mut self, text: &[u8]) {
        if self.options.escape {
            let text = escaped(text).replace('\n', "\\n");
            self.out.extend(text.as_bytes());
        } else {
            self.out.extend(text);
        }
    }

    fn color(&mut self, color: &str) {
        if self.options.color {
            self.out.extend(color.as_bytes());
        }
    }

    /// True if enabled.
    fn link(&mut self, document: &Document, line: u32) -> bool {
        let links = self.options.links.as_ref();
        let url = links.map(|links| links.url(document, line, 1));
        if let Some(url) = &url {
            self.out.extend(format!("\x1b]8;;{url}\x1b\\").as_bytes());
        }
        url.is_some()
    }

    fn unlink(&mut self, is_linked: bool) {
        if is_linked {
            self.out.extend(b"\x1b]8;;\x1b\\");
        }
    }
}
