//! Forms of some languages only.

use super::super::families::{BACKSLASH, DIRECTIVES, KEYS, PERCENT, QUOTING};
use super::super::{Colour, Tokens};
use super::{NAME_BYTES_MAX, Reader, closing, hash};
use memchr::memmem;

/// Longer ones are divisions.
const REGEX_BYTES_MAX: usize = 1024;

fn is_directive(name: &[u8]) -> bool {
    matches!(
        name,
        b"if"
            | b"ifdef"
            | b"ifndef"
            | b"elif"
            | b"else"
            | b"endif"
            | b"define"
            | b"undef"
            | b"include"
            | b"error"
            | b"pragma"
    )
}

impl<T: Tokens> Reader<'_, T> {
    pub(super) fn line_head(&mut self) {
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

    pub(super) fn directive(&mut self, start: usize) {
        self.at = start + 1;
        self.skip(|byte| byte == b' ' || byte == b'\t');
        let name = self.at;
        self.skip(|byte| byte.is_ascii_alphabetic());
        let name = &self.line[name..self.at];
        // Other words are a comment in assembly.
        if self.syntax.opens(b'#') && !is_directive(name) {
            self.at = 0;
            return;
        }
        let has_path = matches!(name, b"include" | b"import" | b"include_next");
        let is_text = matches!(name, b"error" | b"warning" | b"pragma" | b"region");
        self.push(start, Some(Colour::Meta));
        if is_text {
            self.at = self.line.len();
        } else if has_path {
            self.skip(|byte| byte == b' ' || byte == b'\t');
            let path = self.at;
            if self.byte(0) == b'<'
                && let Some(end) = memchr::memchr(b'>', self.rest())
            {
                self.at += end + 1;
                self.push(path, Some(Colour::String));
            }
        }
    }

    pub(super) fn key(&mut self, blanks: usize) {
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

    pub(super) fn may_be_value(&self) -> bool {
        self.last == 0 || b"(,=:[!&|?{};+*~^%>".contains(&self.last)
    }

    /// True for Ruby's `puts /a/` and `puts %w[a]`.
    pub(super) fn may_be_argument(&self) -> bool {
        let is_behind_blank = self.at > 0 && self.line[self.at - 1] == b' ';
        self.last == b'a' && is_behind_blank && !matches!(self.byte(1), b' ' | b'=')
    }

    pub(super) fn regex(&mut self) -> bool {
        if self.at < self.no_regex_before
            || !(self.may_be_value() || self.syntax.has(PERCENT) && self.may_be_argument())
            || matches!(self.byte(1), b'/' | b'*' | 0)
            || matches!(self.last, 0 | b'>') && matches!(self.byte(1), b' ' | b'=')
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

    pub(super) fn here_document(&mut self) {
        let rest = &self.rest()[..self.rest().len().min(NAME_BYTES_MAX)];
        let Some(name) = rest.strip_prefix(b"<<") else {
            return;
        };
        let is_shell = self.syntax.has(BACKSLASH);
        let before = &self.line[self.at.saturating_sub(NAME_BYTES_MAX)..self.at];
        if is_shell && memmem::rfind(before, b"((") > memmem::rfind(before, b"))") {
            // A shift.
            return;
        }
        let is_php = name.starts_with(b"<");
        let name = match name {
            // `<<<` is a here-string in shells, a here-document in PHP.
            [b'<', ..] if is_shell => return,
            [b'<' | b'-' | b'~', name @ ..] => name,
            name => name,
        };
        let name = match name {
            [b' ', name @ ..] if self.syntax.has(QUOTING) && matches!(name, [b'"' | b'\'', ..]) => {
                name
            }
            [b' ', name @ ..] if is_shell && !name.first().is_some_and(u8::is_ascii_lowercase) => {
                name
            }
            name => name,
        };
        let is_escaped = name.first() == Some(&b'\\');
        let quoted = is_escaped || matches!(name.first(), Some(b'"' | b'\''));
        let is_first = |byte: u8| {
            let any = quoted || is_shell || is_php;
            byte == b'_' || byte.is_ascii_uppercase() || any && byte.is_ascii_alphabetic()
        };
        let name = &name[usize::from(quoted)..];
        let length = name.iter().take_while(|byte| {
            let is_blank = **byte == b' ' || **byte == b'.';
            byte.is_ascii_alphanumeric()
                || **byte == b'_'
                || quoted && (**byte == b'-' || is_blank && !is_escaped)
        });
        let name = &name[..length.count()];
        if name.first().is_some_and(|first| is_first(*first)) {
            self.heredoc = Some(hash(name));
        }
    }

    pub(super) fn variable(&mut self) -> bool {
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
}
