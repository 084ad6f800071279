//! Forms over several lines: quotes, long brackets, raw strings, here-documents. Each returns the
//! state at the end of the line, or `None` if it ends before.

use super::super::family::STRING_KEYS;
use super::super::quote::{Quote, Rule};
use super::super::{Colour, LineState};
use super::{DELIMITER_BYTES_MAX, NAME_BYTES_MAX, Reader, hash, memchr};

impl Reader<'_> {
    /// Continues a form of an earlier line.
    pub(super) fn go_on(&mut self, state: LineState) -> Option<LineState> {
        match state {
            LineState::Quote { form, depth } => {
                match self.syntax.family.quotes.get(usize::from(form)) {
                    Some(quote) => self.quoted(form, quote, 0, depth),
                    None => None,
                }
            }
            LineState::Long { level, is_comment } => self.long(level, is_comment, 0),
            LineState::Hashes(hashes) => self.hashes(hashes, 0),
            LineState::Raw(delimiter) => self.raw(delimiter, 0),
            LineState::Delimited { open, close, depth } => self.delimited(open, close, depth, 0),
            LineState::Heredoc(end) => {
                let is_end = hash(ending(self.line)) == end;
                self.at = self.line.len();
                self.push(0, Some(Colour::String));
                Some(if is_end { LineState::Code } else { state })
            }
            LineState::Code | LineState::Tag { .. } | LineState::RawText(_) => None,
        }
    }

    pub(super) fn quoted(
        &mut self,
        form: u8,
        quote: &Quote,
        start: usize,
        mut depth: u16,
    ) -> Option<LineState> {
        let close = quote.close.as_bytes();
        let state = |depth| LineState::Quote { form, depth };
        if close.is_empty() {
            self.at = self.line.len();
            self.push(start, quote.colour);
            let goes_on = quote.has(Rule::Backslash) && self.line.ends_with(b"\\");
            return goes_on.then(|| state(1));
        }
        let (first, again) = (close[0], quote.open.as_bytes()[0]);
        while self.at < self.line.len() {
            let byte = self.byte(0);
            if byte == b'\\' && quote.has(Rule::Backslash) {
                if self.at + 1 == self.line.len() {
                    self.at += 1;
                    self.push(start, quote.colour);
                    return Some(state(depth));
                }
                self.at += 2;
            } else if byte == first
                && self.rest().starts_with(close)
                && (!quote.has(Rule::ClosesInColumn) || self.at == 0)
            {
                self.at += close.len();
                if quote.has(Rule::Doubled) && self.rest().starts_with(close) {
                    self.at += close.len();
                    continue;
                }
                depth -= 1;
                if depth == 0 {
                    if quote.has(Rule::ClosesInColumn) {
                        self.at = self.line.len();
                    }
                    let colour = self.colour_of_key(quote, start);
                    self.push(start, colour);
                    return None;
                }
            } else if byte == again
                && quote.has(Rule::Nests)
                && self.rest().starts_with(quote.open.as_bytes())
            {
                self.at += quote.open.len();
                depth = depth.saturating_add(1);
            } else {
                self.at += 1;
            }
        }
        self.push(start, quote.colour);
        quote.has(Rule::Lines).then(|| state(depth))
    }

    /// A string before a colon may be a key.
    pub(super) fn colour_of_key(&self, quote: &Quote, start: usize) -> Option<Colour> {
        if !self.syntax.has(STRING_KEYS) || quote.colour != Some(Colour::String) {
            return quote.colour;
        }
        let behind = self.rest().iter().take(NAME_BYTES_MAX);
        let next = behind.copied().find(|byte| !byte.is_ascii_whitespace());
        let is_key = next == Some(b':') && !self.line[start..].starts_with(b"'");
        if is_key {
            Some(Colour::Key)
        } else {
            quote.colour
        }
    }

    pub(super) fn hashes(&mut self, hashes: u16, start: usize) -> Option<LineState> {
        let count = usize::from(hashes);
        while let Some(found) = memchr(b'"', self.rest()) {
            self.at += found + 1;
            let behind = self.rest().iter().take(count);
            if behind.take_while(|byte| **byte == b'#').count() == count {
                self.at += count;
                self.push(start, Some(Colour::String));
                return None;
            }
        }
        self.push_rest(start, Colour::String);
        Some(LineState::Hashes(hashes))
    }

    pub(super) fn raw(&mut self, delimiter: u32, start: usize) -> Option<LineState> {
        while let Some(found) = memchr(b')', self.rest()) {
            self.at += found + 1;
            let behind = self.rest().iter().take(DELIMITER_BYTES_MAX + 1);
            let end = behind.clone().position(|byte| *byte == b'"');
            if let Some(end) = end.filter(|end| hash(&self.rest()[..*end]) == delimiter) {
                self.at += end + 1;
                self.push(start, Some(Colour::String));
                return None;
            }
        }
        self.push_rest(start, Colour::String);
        Some(LineState::Raw(delimiter))
    }

    pub(super) fn long(&mut self, level: u16, is_comment: bool, start: usize) -> Option<LineState> {
        let colour = if is_comment {
            Colour::Comment
        } else {
            Colour::String
        };
        let count = usize::from(level);
        while let Some(found) = memchr(b']', self.rest()) {
            self.at += found + 1;
            let behind = self.rest().iter().take(count);
            let equals = behind.take_while(|byte| **byte == b'=').count();
            if equals == count && self.byte(count) == b']' {
                self.at += count + 1;
                self.push(start, Some(colour));
                return None;
            }
        }
        self.push_rest(start, colour);
        Some(LineState::Long { level, is_comment })
    }

    pub(super) fn delimited(
        &mut self,
        open: u8,
        close: u8,
        mut depth: u16,
        start: usize,
    ) -> Option<LineState> {
        while self.at < self.line.len() {
            let byte = self.byte(0);
            self.at += 1;
            if byte == b'\\' {
                self.at = (self.at + 1).min(self.line.len());
            } else if byte == close {
                depth -= 1;
                if depth == 0 {
                    self.push(start, Some(Colour::String));
                    self.last = b'"';
                    return None;
                }
            } else if byte == open {
                depth = depth.saturating_add(1);
            }
        }
        self.push_rest(start, Colour::String);
        Some(LineState::Delimited { open, close, depth })
    }

    pub(super) fn push_rest(&mut self, start: usize, colour: Colour) {
        self.at = self.line.len();
        self.push(start, Some(colour));
    }
}

/// Text that may end a here-document.
fn ending(line: &[u8]) -> &[u8] {
    let line = &line[..line.len().min(2 * NAME_BYTES_MAX)];
    let is_around = |byte: &u8| byte.is_ascii_whitespace() || b";,)".contains(byte);
    let end = line.iter().rposition(|byte| !is_around(byte));
    line[..end.map_or(0, |end| end + 1)].trim_ascii_start()
}
