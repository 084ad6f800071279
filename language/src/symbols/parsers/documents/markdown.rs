//! Markdown: headings with `#`, or a row below.

use super::super::super::outline::Outline;
use super::super::super::parser::{Line, Parser};
use super::{Sections, count, is_row, rest};
use std::ops::Range;

const SETTINGS_LINES_MAX: usize = 256;

#[derive(Default)]
pub(crate) struct Markdown {
    sections: Sections,
    last: Last,
    /// Sign and line count.
    settings: Option<(u8, usize)>,
}

#[derive(Default)]
enum Last {
    #[default]
    Blank,
    /// Heading, if a row follows.
    Text(Range<u32>),
    Other,
}

impl Parser for Markdown {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !line.is_begin {
            return;
        }
        let text = outline.bytes(line.range.clone());
        let last = std::mem::take(&mut self.last);
        if line.begins_inside || self.is_in_settings(line, text) {
            return;
        }
        let indent = count(text, b' ');
        let text = text.trim_ascii();
        match text {
            _ if indent > 3 || text.is_empty() => {}
            [b'#', ..] => {
                let level = count(text, b'#');
                let start = line.range.start + u32::from(indent);
                if let (1..=6, Some(name)) = (level, heading(text, level, start)) {
                    self.sections.open(level, line.range.start, name, outline);
                }
            }
            [sign @ (b'=' | b'-'), ..] if is_row(text, *sign) => {
                if let Last::Text(name) = last {
                    let level = if *sign == b'=' { 1 } else { 2 };
                    self.sections.open(level, name.start, name, outline);
                }
            }
            _ if matches!(last, Last::Other) || is_other(text) => self.last = Last::Other,
            _ => self.last = Last::Text(rest(line, text)),
        }
    }
}

impl Markdown {
    fn is_in_settings(&mut self, line: &Line<'_>, text: &[u8]) -> bool {
        let sign = match text.trim_ascii_end() {
            b"---" => b'-',
            b"+++" => b'+',
            _ => 0,
        };
        match &mut self.settings {
            None if line.range.start <= 3 && sign != 0 => {
                self.settings = Some((sign, 0));
                true
            }
            None => false,
            Some((open, lines)) => {
                *lines += 1;
                if *open == sign || *lines == SETTINGS_LINES_MAX {
                    self.settings = None;
                }
                true
            }
        }
    }
}

fn heading(text: &[u8], level: u8, start: u32) -> Option<Range<u32>> {
    let name = text.get(usize::from(level)..)?;
    if !name.first()?.is_ascii_whitespace() {
        return None;
    }
    let name = name.trim_ascii();
    let start = start + (text.len() - name.len()) as u32;
    let open = name.iter().rposition(|byte| *byte != b'#');
    let open = &name[..open.map_or(0, |last| last + 1)];
    let is_closed = open.last().is_none_or(u8::is_ascii_whitespace);
    let name = if is_closed {
        open.trim_ascii_end()
    } else {
        name
    };
    Some(start..start + name.len() as u32)
}

/// `- a`, `1. a`, `> a`, `| a`, `<a>`, a fence.
fn is_other(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &text[digits..] {
        [b'.' | b')', b' ' | b'\t', ..] => digits > 0,
        [b'-' | b'*' | b'+', b' ' | b'\t', ..] => digits == 0,
        [b'>' | b'|' | b'<', ..] => digits == 0,
        [b'`', b'`', b'`', ..] | [b'~', b'~', b'~', ..] => digits == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn headings_are_nested_by_level() {
        check(
            "markdown",
            "---\ntitle: x\n---\n# A #\ntext\n## B `b` \n```sh\n# c\n```\n   ### D#\n## E ##\n\nF\n=\nG\n---\n",
            "section A 4-12
             section A.B `b` 6-10
             section A.B `b`.D# 10
             section A.E 11-12
             section F 13-16
             section F.G 15-16",
        );
    }

    #[test]
    fn other_lines_are_no_headings() {
        check(
            "markdown",
            "#a\n####### b\n    # c\n\n- d\n---\n> e\n---\n| f\n---\n- ```\n  # g\n  ```\n<!-- \n# h\n-->\n~~~~ c\n# i\n~~~~\n\n---\n````md\n```\n# j\n```\n````\n```a``` b\n# K\n",
            "section K 28",
        );
    }

    #[test]
    fn hostile_text_has_few_headings() {
        check(
            "markdown",
            "---\n# a\n---\n#\n# \n# #\n#\t#\n=\n\n=\n```\n# b\n",
            "",
        );
    }
}
