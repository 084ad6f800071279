//! Names and strings of Perl: `$a`, `q{…}`, `s/…/…/`.

use super::super::families::{CHARACTERS, QUOTING};
use super::super::{LineState, Tokens};
use super::{Reader, closing};

impl<T: Tokens> Reader<'_, T> {
    /// Reads a name with its signs: `x%y` has two names.
    pub(super) fn perl_name(&mut self) {
        let syntax = self.syntax;
        self.skip(|byte| syntax.is_in_name(byte) && byte.is_ascii_punctuation() && byte != b'_');
        self.skip(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80);
    }

    pub(super) fn quoting(&mut self, has_second: bool, start: usize) -> Option<LineState> {
        if self.byte(0) == b' ' {
            self.at += 1;
        }
        let open = self.byte(0);
        self.at += 1;
        self.delimited(open, closing(open), 1, has_second, start)
    }

    /// Takes the quote of `$'`, the character `?'`, and Perl's old `A'b`.
    pub(super) fn quote_in_name(&mut self, start: usize) {
        let (word, next) = (&self.line[start..self.at], self.byte(0));
        let is_in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_variable = word == b"$" && matches!(next, b'"' | b'\'' | b'`');
        let is_character = word == b"?"
            && self.syntax.has(CHARACTERS)
            && next.is_ascii_punctuation()
            && (next == b'\\' || !is_in_name(self.byte(1)));
        let is_name = next == b'\''
            && self.syntax.has(QUOTING)
            && word.last().is_some_and(u8::is_ascii_alphanumeric)
            && self.byte(1).is_ascii_alphabetic()
            && self.syntax.word(word).is_none()
            && !self.is_quoting(word, start);
        if is_character && next == b'\\' {
            self.at = (self.at + 2).min(self.line.len());
        } else if is_variable || is_character {
            self.at += 1;
        } else if is_name {
            self.at += 1;
            self.skip(is_in_name);
        }
    }

    pub(super) fn is_quoting(&self, word: &[u8], start: usize) -> bool {
        let is_word = matches!(
            word,
            b"q" | b"qq" | b"qw" | b"qr" | b"qx" | b"m" | b"s" | b"tr" | b"y"
        );
        let before = self.line[..start].last().copied().unwrap_or(b' ');
        let (open, next) = (self.byte(0), self.byte(1));
        let opens = open.is_ascii_punctuation() && !b")}]>,;=_".contains(&open)
            || open == b' ' && matches!(next, b'(' | b'{' | b'[') && word[0] == b'q';
        let is_key = before == b'{' && !b"{([</|!".contains(&open);
        is_word && opens && !is_key && !b"$@%&>-\\".contains(&before)
    }

    /// Reads the second part of `s{…}{…}`, maybe in a later line.
    pub(super) fn second_part(&mut self, open: u8, close: u8) -> Option<LineState> {
        let mut start = self.at;
        if open == close && open != 0 {
            return self.delimited(open, close, 1, false, start);
        }
        self.skip(|byte| byte.is_ascii_whitespace());
        if self.at == self.line.len() {
            return Some(LineState::Delimited {
                open: 0,
                close: 0,
                depth: 1,
                has_second: true,
            });
        }
        start = self.at;
        let open = self.byte(0);
        if !open.is_ascii_punctuation() {
            return None;
        }
        self.at += 1;
        self.delimited(open, closing(open), 1, false, start)
    }

    /// True if a slash can only begin a regular expression.
    pub(super) fn last_is_before_regex(&self) -> bool {
        let is_operator = b"~(&|!".contains(&self.last);
        is_operator && !matches!(self.byte(1), b'/' | b'=')
    }
}
