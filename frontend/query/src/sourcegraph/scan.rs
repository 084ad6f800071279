//! Words, quotes and parentheses of a query.

use crate::source_text::SourceText;

/// Length of a word. It ends at a space, or at a parenthesis that is not its own.
pub(super) fn word(rest: &str, in_group: bool) -> usize {
    end(rest, in_group, false).unwrap_or_else(|| space(rest))
}

pub(super) fn balanced(rest: &str, in_group: bool) -> usize {
    end(rest, in_group, true).unwrap_or_else(|| word(rest, in_group))
}

fn space(rest: &str) -> usize {
    rest.find(char::is_whitespace).unwrap_or(rest.len())
}

fn end(rest: &str, in_group: bool, spaces: bool) -> Option<usize> {
    let (mut open, mut escaped) = (0_usize, false);
    for (at, letter) in rest.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            _ if letter.is_whitespace() && (open == 0 || !spaces) => {
                return (open == 0).then_some(at);
            }
            '\\' => escaped = true,
            '(' => open += 1,
            ')' if open == 0 && in_group => return Some(at),
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    (open == 0).then_some(rest.len())
}

pub(super) fn group(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix('(')?;
    let (mut open, mut at) = (0_usize, 0);
    while let Some(letter) = inner[at..].chars().next() {
        match letter {
            '(' => open += 1,
            ')' if open == 0 => return Some(&inner[..at]),
            ')' => open -= 1,
            '"' => at += delimited(&inner[at..], 0).map_or(0, |(_, length)| length - 1),
            '\\' => at += 1,
            _ => {}
        }
        at += inner[at..].chars().next().map_or(1, char::len_utf8);
        if !inner.is_char_boundary(at) || at >= inner.len() {
            return None;
        }
    }
    None
}

pub(super) fn delimited(rest: &str, base: usize) -> Option<(SourceText, usize)> {
    let mut letters = rest.char_indices();
    let (_, delimiter) = letters.next()?;
    let mut text = SourceText::default();
    while let Some((at, letter)) = letters.next() {
        if letter == delimiter {
            return Some((text, at + letter.len_utf8()));
        }
        let (end, last) = match letter {
            '\\' => letters.next()?,
            _ => (at, letter),
        };
        let is_escape = last == delimiter || last == '\\' && delimiter != '/';
        let start = if is_escape { end } else { at };
        text.push(base + start, &rest[start..end + last.len_utf8()]);
    }
    None
}

pub(super) fn escaped(text: &SourceText) -> SourceText {
    let mut out = SourceText::default();
    for (at, letter) in text.as_str().char_indices() {
        let part = regex_syntax::escape(letter.encode_utf8(&mut [0; 4]));
        out.push(text.at(at), &part);
    }
    out
}

pub(super) fn joined(texts: &[SourceText], separator: &str) -> SourceText {
    let mut out = SourceText::default();
    for text in texts {
        let separator = separator.chars().filter(|_| !out.is_empty());
        for letter in separator.collect::<Vec<_>>() {
            out.push(text.at(0), letter.encode_utf8(&mut [0; 4]));
        }
        append(&mut out, text);
    }
    out
}

pub(super) fn append(out: &mut SourceText, text: &SourceText) {
    for (at, letter) in text.as_str().char_indices() {
        out.push(text.at(at), letter.encode_utf8(&mut [0; 4]));
    }
}
