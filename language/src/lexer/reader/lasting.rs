//! Forms over several lines. Each returns the state at the end of the line, or `None` if it ends
//! before.

use super::super::families::STRING_KEYS;
use super::super::quote::{self, Hole, Quote, is_indent};
use super::super::syntax::Syntax;
use super::super::{Colour, LineState, Tokens};
use super::{DELIMITER_BYTES_MAX, NAME_BYTES_MAX, Reader, hash};
use memchr::memmem;

impl Syntax {
    pub(crate) fn is_inside(&self, line: &[u8], state: LineState) -> bool {
        if state == LineState::Code {
            return false;
        }
        let blanks = line.iter().take_while(|byte| **byte == b' ').count();
        let is_over = blanks < line.len();
        match state {
            LineState::Block { indent } if is_over => blanks > usize::from(indent),
            LineState::Quote { form, .. } if is_over && blanks == 0 => {
                let quote = self.family.quotes.get(usize::from(form));
                !quote.is_some_and(|quote| quote.has(quote::VALUE))
            }
            _ => true,
        }
    }
}

impl<T: Tokens> Reader<'_, T> {
    pub(super) fn go_on(&mut self, state: LineState) -> Option<LineState> {
        match state {
            LineState::Quote { form, depth } => {
                let quote = self.syntax.family.quotes.get(usize::from(form))?;
                self.quoted(form, quote, 0, depth)
            }
            LineState::Long { .. } | LineState::Hashes(_) | LineState::Raw(_) => self.raw(state, 0),
            LineState::Delimited { open: 0, .. } => self.second_part(0, 0),
            LineState::Delimited {
                open,
                close,
                depth,
                has_second,
            } => self.delimited(open, close, depth, has_second, 0),
            LineState::Heredoc(end) => {
                let ending = ending(self.line);
                if hash(ending) != end {
                    self.push_rest(0, Colour::String);
                    return Some(state);
                }
                let blanks = self.line.len() - self.line.trim_ascii_start().len();
                self.at = blanks + ending.len();
                self.push(0, Some(Colour::String));
                None
            }
            LineState::Hole(holes) => self.go_on_inside(holes),
            LineState::Block { .. } => {
                self.at = self.line.len();
                Some(state)
            }
            LineState::Code | LineState::Tag { .. } | LineState::RawText(_) => None,
        }
    }

    /// Reads a form and those in its holes.
    pub(super) fn quoted(
        &mut self,
        mut form: u8,
        mut quote: &'static Quote,
        mut start: usize,
        mut depth: u16,
    ) -> Option<LineState> {
        loop {
            match self.form_end(quote, start, &mut depth) {
                FormEnd::Line => {
                    return quote
                        .has(quote::LINES)
                        .then_some(LineState::Quote { form, depth });
                }
                FormEnd::Escape => return Some(LineState::Quote { form, depth }),
                FormEnd::Close => {
                    if quote.colour != Some(Colour::Comment) {
                        self.last = b'"';
                    }
                    (form, quote) = self.leave_form()?;
                    start = self.at;
                }
                FormEnd::Hole(hole_start) => {
                    let Some(hole) = self.open_hole(form, quote) else {
                        continue;
                    };
                    if hole.close != 0 {
                        self.push(start, quote.colour);
                        self.last = b'(';
                        return None;
                    }
                    self.push_to(start, hole_start, quote.colour);
                    (form, quote) = self.form_of_hole(hole)?;
                    start = hole_start;
                }
            }
            depth = 1;
        }
    }

    fn form_end(&mut self, quote: &Quote, start: usize, depth: &mut u16) -> FormEnd {
        let close = quote.close.as_bytes();
        let Some(&first) = close.first() else {
            return self.line_end(quote, start);
        };
        let again = quote.open.as_bytes()[0];
        loop {
            self.skip_plain(quote, first);
            let Some(&byte) = self.line.get(self.at) else {
                break;
            };
            if byte == b'\\' && quote.has(quote::BACKSLASH) {
                if self.is_hole(quote) {
                    return FormEnd::Hole(self.at);
                }
                if self.at + 1 == self.line.len() {
                    self.at += 1;
                    self.push(start, quote.colour);
                    return FormEnd::Escape;
                }
                self.at += 2;
            } else if byte == first
                && self.rest().starts_with(close)
                && (!quote.has(quote::CLOSES_IN_COLUMN) || self.at == 0)
                && (!quote.has(quote::FENCE) || self.closes_fence(close))
            {
                self.at += close.len();
                if quote.has(quote::DOUBLED) && self.rest().starts_with(close) {
                    self.at += close.len();
                    continue;
                }
                if quote.has(quote::INDENTED) && matches!(self.byte(0), b'\'' | b'$' | b'\\') {
                    self.at += 1;
                    continue;
                }
                *depth = depth.saturating_sub(1);
                if *depth == 0 {
                    if quote.has(quote::CLOSES_IN_COLUMN) {
                        self.at = self.line.len();
                    }
                    let colour = self.colour_of_key(quote, start);
                    self.push(start, colour);
                    return FormEnd::Close;
                }
            } else if byte == again
                && quote.has(quote::NESTS)
                && self.rest().starts_with(quote.open.as_bytes())
            {
                self.at += quote.open.len();
                *depth = depth.saturating_add(1);
            } else if self.is_hole(quote) {
                return FormEnd::Hole(self.at);
            } else {
                self.at += 1;
            }
        }
        self.push(start, quote.colour);
        FormEnd::Line
    }

    fn skip_plain(&mut self, quote: &Quote, first: u8) {
        let (rest, escape) = match quote.has(quote::BACKSLASH) {
            true => (self.rest(), b'\\'),
            false => (self.rest(), first),
        };
        let found = match quote.holes {
            _ if quote.has(quote::NESTS) => return,
            [] => memchr::memchr2(first, escape, rest),
            [hole] => memchr::memchr3(first, escape, hole.first(), rest),
            _ => return,
        };
        self.at += found.unwrap_or(rest.len());
    }

    fn line_end(&mut self, quote: &Quote, start: usize) -> FormEnd {
        let tag = quote
            .has(quote::TAG)
            .then(|| memmem::find(self.rest(), b"?>"));
        self.at = tag.flatten().map_or(self.line.len(), |tag| self.at + tag);
        self.push(start, quote.colour);
        if quote.has(quote::BACKSLASH) && self.line.ends_with(b"\\") {
            FormEnd::Escape
        } else {
            FormEnd::Close
        }
    }

    fn is_hole(&self, quote: &Quote) -> bool {
        let (mut holes, byte) = (quote.holes.iter(), self.byte(0));
        let may_begin = self.at == 0 || !quote.has(quote::COLUMN);
        let begins =
            |hole: &Hole| hole.first() == byte && self.rest().starts_with(hole.open.as_bytes());
        may_begin && holes.any(begins)
    }

    /// True if the line has only this fence, maybe a longer one.
    fn closes_fence(&self, close: &[u8]) -> bool {
        let is_behind = |byte: &u8| *byte == close[0] || byte.is_ascii_whitespace();
        is_indent(&self.line[..self.at]) && self.rest().iter().all(is_behind)
    }

    pub(super) fn colour_of_key(&self, quote: &Quote, start: usize) -> Option<Colour> {
        if !self.syntax.has(STRING_KEYS) || quote.colour != Some(Colour::String) {
            return quote.colour;
        }
        let behind = self.rest().iter().take(NAME_BYTES_MAX);
        let next = behind.copied().find(|byte| !byte.is_ascii_whitespace());
        let is_key = next == Some(b':') && !self.line[start..].starts_with(b"'");
        is_key.then_some(Colour::Key).or(quote.colour)
    }

    pub(super) fn raw(&mut self, state: LineState, start: usize) -> Option<LineState> {
        let (sign, colour) = match state {
            LineState::Hashes(_) => (b'"', Colour::String),
            LineState::Long { is_comment, .. } if is_comment => (b']', Colour::Comment),
            LineState::Long { .. } => (b']', Colour::String),
            _ => (b')', Colour::String),
        };
        while let Some(found) = memchr::memchr(sign, self.rest()) {
            self.at += found + 1;
            if let Some(bytes) = self.rest_of_end(state) {
                self.at += bytes;
                self.push(start, Some(colour));
                return None;
            }
        }
        self.push_rest(start, colour);
        Some(state)
    }

    /// Bytes of the end behind its first sign.
    fn rest_of_end(&self, state: LineState) -> Option<usize> {
        let has = |sign, count| self.signs(sign, count) == count;
        match state {
            LineState::Hashes(hashes) => {
                let count = usize::from(hashes);
                has(b'#', count).then_some(count)
            }
            LineState::Long { level, .. } => {
                let count = usize::from(level);
                (has(b'=', count) && self.byte(count) == b']').then_some(count + 1)
            }
            LineState::Raw(delimiter) => {
                let mut behind = self.rest().iter().take(DELIMITER_BYTES_MAX + 1);
                let end = behind.position(|byte| *byte == b'"')?;
                (hash(&self.rest()[..end]) == delimiter).then_some(end + 1)
            }
            _ => None,
        }
    }

    fn signs(&self, sign: u8, most: usize) -> usize {
        let signs = self.rest().iter().take(most);
        signs.take_while(|byte| **byte == sign).count()
    }

    pub(super) fn delimited(
        &mut self,
        open: u8,
        close: u8,
        mut depth: u16,
        has_second: bool,
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
                    return has_second.then(|| self.second_part(open, close)).flatten();
                }
            } else if byte == open {
                depth = depth.saturating_add(1);
            }
        }
        self.push_rest(start, Colour::String);
        Some(LineState::Delimited {
            open,
            close,
            depth,
            has_second,
        })
    }

    pub(super) fn push_rest(&mut self, start: usize, colour: Colour) {
        self.at = self.line.len();
        self.push(start, Some(colour));
    }

    /// State behind `key: |` of YAML.
    pub(super) fn block(&self) -> Option<LineState> {
        let text = self.line.trim_ascii_end();
        let mut head = text;
        while let [rest @ .., b'+' | b'-' | b'1'..=b'9'] = head
            && text.len() - head.len() < 2
        {
            head = rest;
        }
        let [head @ .., b' ', b'|' | b'>'] = head else {
            return None;
        };
        let mut value = head.trim_ascii_start();
        // A key behind a dash has its own column.
        while let [b'-', b' ', key @ ..] = value {
            value = key.trim_ascii_start();
        }
        let last = value.rsplit(|byte| *byte == b' ').next()?;
        let is_value = last.ends_with(b":") || last == b"-" || matches!(last, [b'!' | b'&', ..]);
        let indent = head.len() - value.len();
        let indent = u16::try_from(indent).ok()?;
        (is_value && value[0] != b'#').then_some(LineState::Block { indent })
    }
}

enum FormEnd {
    Close,
    /// Its offset in the line.
    Hole(usize),
    Line,
    /// Backslash at the end of the line.
    Escape,
}

fn ending(line: &[u8]) -> &[u8] {
    let line = &line[..line.len().min(2 * NAME_BYTES_MAX)];
    let is_around = |byte: &u8| byte.is_ascii_whitespace() || b";,)`".contains(byte);
    let end = line.iter().rposition(|byte| !is_around(byte));
    line[..end.map_or(0, |end| end + 1)].trim_ascii_start()
}
