//! Makefile, QMake, Ninja: read as bytes, since blanks and tabs separate names.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::Line;
use super::{Dialect, Lines};
use std::ops::Range;

impl Lines {
    pub(super) fn make(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let text = outline.bytes(line.range.clone());
        if self.is_in_define {
            self.is_in_define = !text.trim_ascii_start().starts_with(b"endef");
            if !self.is_in_define {
                self.leave_here(line, outline);
            }
            return;
        }
        let is_recipe = text.starts_with(b"\t") || text.starts_with(b"@") && text.contains(&b'\t');
        if is_recipe && self.is_in_rule || self.dialect == Dialect::Ninja && text.starts_with(b" ")
        {
            return;
        }
        let mut words = Words::new(text, line.range.start);
        let mut first = words.next();
        while first
            .as_ref()
            .is_some_and(|word| is_modifier(outline.bytes(word.clone())))
        {
            first = words.next();
        }
        let Some(first) = first.map(|word| without_condition(word, outline)) else {
            return;
        };
        self.make_definition(first, words, outline);
    }

    fn make_definition(
        &mut self,
        first: Range<u32>,
        mut words: Words<'_>,
        outline: &mut Outline<'_>,
    ) {
        match (outline.bytes(first.clone()), self.dialect) {
            (b"define", Dialect::Make) => {
                let Some(name) = words.next() else { return };
                self.begin(name, Kind::Variable, outline);
                self.is_in_define = true;
            }
            (b"rule" | b"pool", Dialect::Ninja) => {
                if let Some(name) = words.next() {
                    outline.define(name, Kind::Rule);
                }
            }
            (b"build", Dialect::Ninja) => self.targets(words.next(), words, outline),
            (b"ifeq" | b"ifneq" | b"ifdef" | b"ifndef" | b"else" | b"include" | b"-include", _) => {
            }
            (_, dialect) => match words.sign {
                Some(b'=') => {
                    self.is_in_rule = false;
                    if words.next().is_none() {
                        self.names.define(first, Kind::Variable, outline);
                    }
                }
                Some(b':') if dialect == Dialect::Make => {
                    self.is_in_rule = true;
                    self.targets(Some(first), words, outline);
                }
                _ => {}
            },
        }
    }

    fn targets(&mut self, first: Option<Range<u32>>, rest: Words<'_>, outline: &mut Outline<'_>) {
        if rest.sign != Some(b':') {
            return;
        }
        for name in first.into_iter().chain(rest) {
            let text = outline.bytes(name.clone());
            let is_special = match text {
                [b'$', ..] | b"%" => true,
                [b'.', rest @ ..] => rest.iter().all(u8::is_ascii_uppercase),
                _ => text.iter().any(|byte| b"*\"'=,".contains(byte)),
            };
            if !is_special {
                self.names.define(name, Kind::Target, outline);
            }
        }
    }
}

/// Strips conditions of Automake: `@HAS_X_TRUE@name`.
fn without_condition(mut word: Range<u32>, outline: &Outline<'_>) -> Range<u32> {
    while let Some(condition) = outline.bytes(word.clone()).strip_prefix(b"@")
        && let Some(end) = memchr::memchr(b'@', condition)
    {
        word.start += end as u32 + 2;
    }
    word
}

fn is_modifier(word: &[u8]) -> bool {
    matches!(word, b"export" | b"override" | b"private" | b"unexport")
}

/// Words before the first `=` or `:` of a line.
struct Words<'t> {
    text: &'t [u8],
    bytes: usize,
    /// `=` also for `:=`, `+=`
    sign: Option<u8>,
    at: usize,
    start: u32,
}

impl<'t> Words<'t> {
    fn new(text: &'t [u8], start: u32) -> Words<'t> {
        let (mut depth, mut found) = (0_usize, None);
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'(' | b'{' => depth += 1,
                b')' | b'}' => depth = depth.saturating_sub(1),
                b'=' | b':' if depth == 0 => {
                    found = Some(at);
                    break;
                }
                b'#' => break,
                _ => {}
            }
        }
        let bytes = found.unwrap_or(text.len());
        let behind = text.get(bytes..).unwrap_or_default();
        let sign = match behind {
            [b'=', ..] | [b':', b'=', ..] | [b':', b':', b'=', ..] => Some(b'='),
            [b':', ..] => Some(b':'),
            _ => None,
        };
        let is_before = |byte: &u8| b"+?!*~".contains(byte) && sign == Some(b'=');
        let operators = text[..bytes]
            .iter()
            .rev()
            .take_while(|byte| is_before(byte));
        Words {
            text,
            bytes: bytes - operators.count(),
            sign,
            at: 0,
            start,
        }
    }
}

impl Iterator for Words<'_> {
    type Item = Range<u32>;

    fn next(&mut self) -> Option<Range<u32>> {
        let text = &self.text[..self.bytes];
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'&' | b'\\');
        let first = text
            .get(self.at..)?
            .iter()
            .position(|byte| !is_blank(byte))?
            + self.at;
        let length = text[first..].iter().position(is_blank);
        self.at = length.map_or(text.len(), |length| first + length);
        Some(self.start + first as u32..self.start + self.at as u32)
    }
}
