//! Org: headings with stars.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::{Line, Parser};
use super::{Sections, count, rest};

#[derive(Default)]
pub(crate) struct Org {
    sections: Sections,
}

impl Parser for Org {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !line.is_begin {
            return;
        }
        let text = outline.bytes(line.range.clone());
        let level = count(text, b'*');
        match text.get(usize::from(level)) {
            Some(b' ') if level > 0 => {
                let title = title(&text[usize::from(level)..]);
                let start = line.range.end - title.len() as u32;
                let end = start + untagged(title).len() as u32;
                self.sections
                    .open(level, line.range.start, start..end, outline);
            }
            _ => named(line, text, outline),
        }
    }
}

/// `#+NAME: name`
fn named(line: &Line<'_>, text: &[u8], outline: &mut Outline<'_>) {
    const SIGN: &[u8] = b"#+name:";
    if let Some((sign, name)) = text.split_at_checked(SIGN.len())
        && sign.eq_ignore_ascii_case(SIGN)
    {
        outline.define(rest(line, name), Kind::Label);
    }
}

/// Text behind `TODO` and `[#A]`.
fn title(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii_start();
    for word in [&b"TODO "[..], b"DONE ", b"[#A] ", b"[#B] ", b"[#C] "] {
        text = text.strip_prefix(word).unwrap_or(text).trim_ascii_start();
    }
    text
}

/// Text before `:tag:tag:`.
fn untagged(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let word = text.iter().rposition(u8::is_ascii_whitespace);
    let word = word.map_or(text.len(), |blank| blank + 1);
    match &text[word..] {
        [b':', _, .., b':'] => text[..word].trim_ascii_end(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn headings_have_no_tags() {
        check(
            "org",
            "#+TITLE: t\n* TODO [#A] A b :x:y:\ntext\n** B\n#+NAME: n\n#+BEGIN_SRC c\n,* c\n#+END_SRC\n* C: d\n*bold*\n * list\n*\n* \n",
            "section A b 2-8
             section A b.B 4-8
             label A b.B.n 5
             section C: d 9-12",
        );
    }
}
