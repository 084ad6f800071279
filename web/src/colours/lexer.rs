//! The lexer: reads a line from the state in which it begins, to the state in which it ends.

use super::quote::{Quote, Rule};
use super::syntax::{
    ANY_CASE, AT, BACKSLASH, COMMANDS, DIGIT_QUOTES, DIRECTIVES, DOLLAR, HASHES, HEREDOC, KEYS,
    LONG, MARKUP, PERCENT, PERL, RAW, REGEX, STRING_KEYS, Syntax,
};
use super::{Colour, LineState, Tokens, markup};

/// Bytes of a regular expression between slashes. A slash without an end is read as a division, so each is
/// looked at so far and no further.
const REGEX_BYTES_MAX: usize = 256;

/// Bytes of the delimiter of a raw string of C++, by its standard.
const DELIMITER_BYTES_MAX: usize = 16;

/// Bytes of a name after `$`, of the end of a here-document, and of blanks before a `:`.
const NAME_BYTES_MAX: usize = 64;

/// Bytes of a character between quotes: `'\u{10FFFF}'`.
const CHARACTER_BYTES_MAX: usize = 12;

impl Syntax {
    /// The state in which a file begins.
    pub(crate) fn begin(&self) -> LineState {
        let form = self.row.begins_in;
        form.map_or(LineState::Code, |form| LineState::Quote { form, depth: 1 })
    }

    /// Reads a line without its end, which begins in `state`, and returns the state in which it ends. Appends
    /// its coloured parts.
    pub(crate) fn line(&self, line: &[u8], state: LineState, tokens: &mut Tokens) -> LineState {
        if self.has(MARKUP) {
            return markup::line(line, state, tokens);
        }
        let mut reader = Reader {
            syntax: self,
            line,
            at: 0,
            tokens,
            last: 0,
            heredoc: None,
            no_regex_before: 0,
        };
        let inside = match state {
            LineState::Code => None,
            state => reader.go_on(state),
        };
        let state = inside.unwrap_or_else(|| reader.code());
        match (state, reader.heredoc) {
            (LineState::Code, Some(end)) => LineState::Heredoc(end),
            (state, _) => state,
        }
    }
}

/// A position in a line.
struct Reader<'a> {
    syntax: &'a Syntax,
    line: &'a [u8],
    at: usize,
    tokens: &'a mut Tokens,
    /// The last byte of code that is no blank, 0 at first. After a keyword it is `(`: a value may follow.
    last: u8,
    /// The end of a here-document that begins with the next line.
    heredoc: Option<u32>,
    /// No regular expression begins before it.
    no_regex_before: usize,
}

impl Reader<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.line.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &[u8] {
        &self.line[self.at..]
    }

    /// Colours everything from `start` to here.
    fn push(&mut self, start: usize, colour: Option<Colour>) {
        let Some(colour) = colour.filter(|_| start < self.at) else {
            return;
        };
        match self.tokens.last_mut() {
            Some((range, last)) if range.end == start && *last == colour => range.end = self.at,
            _ => self.tokens.push((start..self.at, colour)),
        }
    }

    /// Reads what began in an earlier line. Returns the state in which the line ends, `None` if code follows.
    fn go_on(&mut self, state: LineState) -> Option<LineState> {
        match state {
            LineState::Quote { form, depth } => match self.syntax.row.quotes.get(usize::from(form))
            {
                Some(quote) => self.quoted(form, quote, 0, depth),
                None => None,
            },
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

    fn code(&mut self) -> LineState {
        self.line_head();
        while self.at < self.line.len() {
            if let Some(state) = self.next() {
                return state;
            }
        }
        LineState::Code
    }

    /// Reads what only the beginning of a line may have.
    fn line_head(&mut self) {
        if self.at > 0 {
            return;
        }
        let blanks = self.line.len() - self.line.trim_ascii_start().len();
        if self.syntax.has(DIRECTIVES) && self.line.get(blanks) == Some(&b'#') {
            self.directive(blanks);
        }
        if self.syntax.has(KEYS) {
            self.key(blanks);
        }
    }

    /// `#include <stdio.h>`, `#define`
    fn directive(&mut self, start: usize) {
        self.at = start + 1;
        self.skip(|byte| byte == b' ' || byte == b'\t');
        let name = self.at;
        self.skip(|byte| byte.is_ascii_alphabetic());
        let name = &self.line[name..self.at];
        let (has_path, is_text) = (
            matches!(name, b"include" | b"import" | b"include_next"),
            matches!(name, b"error" | b"warning" | b"pragma" | b"region"),
        );
        self.push(start, Some(Colour::Meta));
        if is_text {
            self.at = self.line.len();
        } else if has_path {
            self.skip(|byte| byte == b' ' || byte == b'\t');
            let path = self.at;
            if self.byte(0) == b'<'
                && let Some(end) = memchr(b'>', self.rest())
            {
                self.at += end + 1;
                self.push(path, Some(Colour::String));
            }
        }
    }

    /// `name: value`, `name = value`
    fn key(&mut self, blanks: usize) {
        let mut start = blanks;
        while self.line.get(start) == Some(&b'-') && self.line.get(start + 1) == Some(&b' ') {
            start += 2;
        }
        let is_of_key = |byte: &&u8| self.syntax.is_in_name(**byte) || b".-/@%$()".contains(byte);
        let name = self.line[start..].iter().take_while(is_of_key).count();
        let behind = &self.line[start + name..];
        let gap = behind
            .iter()
            .take_while(|byte| **byte == b' ' || **byte == b'\t');
        let behind = &behind[gap.count()..];
        let is_key = match behind {
            [b'=', b'=' | b'~', ..] | [b':', b':' | b'\\', ..] => false,
            [b'=' | b':', ..] | [b'+' | b'?', b'=', ..] => true,
            _ => false,
        };
        if is_key && name > 0 {
            self.at = start + name;
            self.push(start, Some(Colour::Key));
        }
    }

    /// Reads one word, number, form or sign. Returns the state in which the line ends, if the form does not end
    /// before it.
    fn next(&mut self) -> Option<LineState> {
        let (start, byte) = (self.at, self.byte(0));
        if byte == b' ' || byte == b'\t' {
            self.at += 1;
            return None;
        }
        if self.syntax.opens(byte)
            && let Some((form, quote)) = self.form()
        {
            self.at += quote.open.len();
            let state = self.quoted(form, quote, start, 1);
            self.last = b'"';
            return state;
        }
        if byte.is_ascii_digit() {
            self.number();
            return None;
        }
        if self.syntax.is_in_name(byte) {
            return self.name();
        }
        self.sign(byte)
    }

    fn sign(&mut self, byte: u8) -> Option<LineState> {
        let (syntax, start) = (self.syntax, self.at);
        match byte {
            b'\\' if syntax.has(BACKSLASH) => {
                self.at = (self.at + 2).min(self.line.len());
                self.last = byte;
                return None;
            }
            b'\\' if syntax.has(COMMANDS) => {
                self.at = (self.at + 1).min(self.line.len());
                if self.byte(0).is_ascii_alphabetic() {
                    self.skip(|byte| byte.is_ascii_alphabetic() || byte == b'@');
                    self.push(start, Some(Colour::Keyword));
                } else {
                    self.at = (self.at + 1).min(self.line.len());
                }
                return None;
            }
            b'/' if syntax.has(REGEX) && self.regex() => return None,
            b'<' if syntax.has(HEREDOC) && self.heredoc.is_none() => self.here_document(),
            b'$' if syntax.has(DOLLAR) && self.variable() => return None,
            b'@' if syntax.has(AT) => {
                self.at += 1;
                self.skip(|byte| syntax.is_in_name(byte) || byte == b'.');
                self.push(start, Some(Colour::Meta));
                self.last = byte;
                return None;
            }
            b'[' | b'-' if syntax.has(LONG) => {
                if let Some((level, is_comment, bytes)) = long_bracket(self.rest()) {
                    self.at += bytes;
                    return self.long(level, is_comment, start);
                }
                if self.rest().starts_with(b"--") {
                    self.at = self.line.len();
                    self.push(start, Some(Colour::Comment));
                    return None;
                }
            }
            b'%' if syntax.has(PERCENT) && self.may_be_value() => {
                let has_letter = b"wWiIqQr".contains(&self.byte(1));
                let open = self.byte(1 + usize::from(has_letter));
                if b"([{<|!".contains(&open) && (has_letter || open != b'<') {
                    self.at += 2 + usize::from(has_letter);
                    return self.delimited(open, closing(open), 1, start);
                }
            }
            _ => {}
        }
        self.last = byte;
        self.at = (self.at + 1).min(self.line.len());
        None
    }

    fn skip(&mut self, is_part: impl Fn(u8) -> bool) {
        let parts = self.rest().iter().take_while(|byte| is_part(**byte));
        self.at += parts.count();
    }

    fn number(&mut self) {
        let start = self.at;
        let quotes = self.syntax.has(DIGIT_QUOTES);
        while self.at < self.line.len() {
            let (byte, next) = (self.byte(0), self.byte(1));
            let is_sign = matches!(byte, b'+' | b'-')
                && matches!(self.line[self.at - 1], b'e' | b'E' | b'p' | b'P')
                && self.at - start < NAME_BYTES_MAX
                && !self.line[start..self.at].contains(&b'x');
            let is_point = byte == b'.' && next != b'.' && !next.is_ascii_alphabetic();
            let is_quote = quotes && byte == b'\'' && next.is_ascii_hexdigit();
            if !(byte.is_ascii_alphanumeric() || byte == b'_' || is_point || is_quote)
                && !(is_sign && next.is_ascii_digit())
            {
                break;
            }
            self.at += 1;
        }
        self.push(start, Some(Colour::Number));
        self.last = b'0';
    }

    /// Reads a name or a keyword, and the string of which it is the first part.
    fn name(&mut self) -> Option<LineState> {
        let (syntax, start) = (self.syntax, self.at);
        self.skip(|byte| syntax.is_in_name(byte));
        let word = &self.line[start..self.at];
        if syntax.has(HASHES) && matches!(word, b"r" | b"br" | b"cr") {
            let hashes = self.rest().iter().take_while(|byte| **byte == b'#').count();
            if self.byte(hashes) == b'"' && hashes < 256 {
                self.at += hashes + 1;
                return self.hashes(hashes as u16, start);
            }
        }
        if syntax.has(RAW) && matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") {
            let bytes = self.rest().iter().take(DELIMITER_BYTES_MAX + 2);
            let open = bytes.clone().position(|byte| *byte == b'(');
            if let Some(open) = open.filter(|open| *open > 0 && self.byte(0) == b'"') {
                let delimiter = hash(&self.rest()[1..open]);
                self.at += open + 1;
                return self.raw(delimiter, start);
            }
        }
        if syntax.has(PERL) && self.is_quoting(word, start) {
            if self.byte(0) == b' ' {
                self.at += 1;
            }
            let open = self.byte(0);
            let has_two = matches!(word, b"s" | b"tr" | b"y");
            self.at += 1;
            return self.two_parts(open, has_two, start);
        }
        let colour = syntax
            .word(word)
            .filter(|_| self.last != b'.' || syntax.has(ANY_CASE));
        self.push(start, colour);
        self.last = match colour {
            Some(Colour::Keyword) => b'(',
            _ => b'a',
        };
        None
    }

    /// Whether a word of Perl such as `qw` begins a string here.
    fn is_quoting(&self, word: &[u8], start: usize) -> bool {
        let is_word = matches!(
            word,
            b"q" | b"qq" | b"qw" | b"qr" | b"qx" | b"m" | b"s" | b"tr" | b"y"
        );
        let before = start
            .checked_sub(1)
            .map_or(b' ', |before| self.line[before]);
        let (open, next) = (self.byte(0), self.byte(1));
        let opens = open.is_ascii_punctuation() && !b")}]>,;=_".contains(&open)
            || open == b' ' && matches!(next, b'(' | b'{' | b'[') && word[0] == b'q';
        is_word && opens && !b"$@%&>-{".contains(&before)
    }

    fn two_parts(&mut self, open: u8, has_two: bool, start: usize) -> Option<LineState> {
        let close = closing(open);
        let state = self.delimited(open, close, 1, start);
        if state.is_some() || !has_two {
            return state;
        }
        let second = self.at;
        if close == open {
            return self.delimited(open, close, 1, second);
        }
        self.skip(|byte| byte == b' ');
        let open = self.byte(0);
        if !open.is_ascii_punctuation() {
            return None;
        }
        let second = self.at;
        self.at += 1;
        self.delimited(open, closing(open), 1, second)
    }

    /// Finds the form that begins here.
    fn form(&self) -> Option<(u8, &'static Quote)> {
        let (rest, forms) = (self.rest(), (0..).zip(self.syntax.row.quotes));
        let fits = |quote: &Quote| {
            let open = quote.open.as_bytes();
            let before = &self.line[..self.at];
            let is_apart = || match before.last() {
                None => true,
                Some(byte) => byte.is_ascii_whitespace() || b"();[],|&".contains(byte),
            };
            let is_there = if self.syntax.has(ANY_CASE) {
                rest.len() >= open.len() && rest[..open.len()].eq_ignore_ascii_case(open)
            } else {
                rest.starts_with(open)
            };
            is_there
                && (!quote.has(Rule::Blank) || is_apart())
                && (!quote.has(Rule::Column) || self.at == 0)
                && (!quote.has(Rule::First) || self.last == 0 && self.tokens.is_empty())
                && (!quote.has(Rule::One) || is_character(&rest[open.len()..], open[0]))
        };
        let mut forms = forms;
        forms.find(|(_, quote)| fits(quote))
    }

    /// Reads a form up to its end. Returns the state in which the line ends if it has no end.
    fn quoted(
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

    /// The colour of a form that has ended: a string before a colon may be a key.
    fn colour_of_key(&self, quote: &Quote, start: usize) -> Option<Colour> {
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

    fn may_be_value(&self) -> bool {
        self.last == 0 || b"(,=:[!&|?{};+*~^%".contains(&self.last)
    }

    /// Reads a regular expression between slashes, if this is one.
    fn regex(&mut self) -> bool {
        if self.at < self.no_regex_before
            || !self.may_be_value()
            || matches!(self.byte(1), b' ' | b'=' | b'/' | b'*' | 0)
        {
            return false;
        }
        let (mut in_class, mut is_escaped) = (false, false);
        let text = self.rest().iter().skip(1).take(REGEX_BYTES_MAX);
        let mut end = None;
        for (at, byte) in text.enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let Some(end) = end else {
            self.no_regex_before = self.at + REGEX_BYTES_MAX;
            return false;
        };
        let start = self.at;
        self.at += end + 2;
        self.skip(|byte| byte.is_ascii_alphabetic());
        self.push(start, Some(Colour::String));
        self.last = b'"';
        true
    }

    /// Reads the begin of a here-document, if this is one.
    fn here_document(&mut self) {
        let rest = &self.rest()[..self.rest().len().min(NAME_BYTES_MAX)];
        let Some(name) = rest.strip_prefix(b"<<") else {
            return;
        };
        let is_shell = self.syntax.has(BACKSLASH);
        let name = match name {
            // `<<<` is a here-string of shells, and a here-document of PHP.
            [b'<', ..] if is_shell => return,
            [b'<' | b'-' | b'~', name @ ..] => name,
            name => name,
        };
        let name = match name {
            [b' ', name @ ..] if is_shell && !name.first().is_some_and(u8::is_ascii_lowercase) => {
                name
            }
            name => name,
        };
        let quoted = matches!(name.first(), Some(b'"' | b'\'' | b'\\'));
        let is_first = |byte: u8| {
            let any = quoted || is_shell;
            byte == b'_' || byte.is_ascii_uppercase() || any && byte.is_ascii_alphabetic()
        };
        let name = &name[usize::from(quoted)..];
        let length = name.iter().take_while(|byte| {
            byte.is_ascii_alphanumeric() || **byte == b'_' || quoted && b"-. ".contains(byte)
        });
        let name = &name[..length.count()];
        if name.first().is_some_and(|first| is_first(*first)) {
            self.heredoc = Some(hash(name));
        }
    }

    /// Reads `$name`, `${name}` or `$(name)`, if this is one of them.
    fn variable(&mut self) -> bool {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let (start, rest) = (self.at, &self.rest()[1..]);
        let rest = &rest[..rest.len().min(NAME_BYTES_MAX)];
        let bytes = match rest.first() {
            Some(open @ (b'{' | b'(')) => {
                let name = 1 + rest[1..].iter().take_while(|byte| is_part(byte)).count();
                let is_closed = rest.get(name) == Some(&closing(*open));
                if is_closed && name > 1 { name + 1 } else { 0 }
            }
            Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => {
                let is_in = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                rest.iter().take_while(is_in).count()
            }
            Some(byte) if byte.is_ascii_digit() || b"@#?*!<^$".contains(byte) => 1,
            _ => 0,
        };
        if bytes == 0 {
            return false;
        }
        self.at += 1 + bytes;
        self.push(start, Some(Colour::Key));
        self.last = b'a';
        true
    }

    fn hashes(&mut self, hashes: u16, start: usize) -> Option<LineState> {
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
        self.to_end(start, Colour::String);
        Some(LineState::Hashes(hashes))
    }

    fn raw(&mut self, delimiter: u32, start: usize) -> Option<LineState> {
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
        self.to_end(start, Colour::String);
        Some(LineState::Raw(delimiter))
    }

    fn long(&mut self, level: u16, is_comment: bool, start: usize) -> Option<LineState> {
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
        self.to_end(start, colour);
        Some(LineState::Long { level, is_comment })
    }

    fn delimited(
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
        self.to_end(start, Colour::String);
        Some(LineState::Delimited { open, close, depth })
    }

    fn to_end(&mut self, start: usize, colour: Colour) {
        self.at = self.line.len();
        self.push(start, Some(colour));
    }
}

/// Whether a quote ends after one character, `'a'` or `'\n'`.
fn is_character(text: &[u8], quote: u8) -> bool {
    let text = &text[..text.len().min(CHARACTER_BYTES_MAX)];
    match text {
        [b'\\', _, rest @ ..] => rest.contains(&quote),
        [first, rest @ ..] if *first != quote => {
            let inside = rest.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
            rest.get(inside) == Some(&quote)
        }
        _ => false,
    }
}

/// `[[`, `[==[`, `--[[`: the level, whether it is a comment, and its bytes.
fn long_bracket(text: &[u8]) -> Option<(u16, bool, usize)> {
    let (is_comment, bracket) = match text.strip_prefix(b"--") {
        Some(bracket) => (true, bracket),
        None => (false, text),
    };
    let inside = bracket.strip_prefix(b"[")?;
    let equals = inside.iter().take(NAME_BYTES_MAX);
    let level = equals.take_while(|byte| **byte == b'=').count();
    let is_long = inside.get(level) == Some(&b'[');
    is_long.then(|| {
        (
            level as u16,
            is_comment,
            level + 2 + 2 * usize::from(is_comment),
        )
    })
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    }
}

/// The text of a line that may end a here-document.
fn ending(line: &[u8]) -> &[u8] {
    let line = &line[..line.len().min(2 * NAME_BYTES_MAX)];
    let is_around = |byte: &u8| byte.is_ascii_whitespace() || b";,)".contains(byte);
    let end = line.iter().rposition(|byte| !is_around(byte));
    line[..end.map_or(0, |end| end + 1)].trim_ascii_start()
}

/// FNV-1a 32.
fn hash(bytes: &[u8]) -> u32 {
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(0x811c_9dc5, mix)
}

fn memchr(byte: u8, text: &[u8]) -> Option<usize> {
    text.iter().position(|other| *other == byte)
}
