//! Hover: the head of the best definition, and the comment above it.

use super::lexed::Lexed;
use super::lookup::{Lookup, definitions_of};
use super::places::Place;
use super::text::Text;
use crate::CorpusError;
use language::symbols::{Class, Definition};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, TextDocumentPositionParams};

const HEAD_LINES_MAX: usize = 8;

const COMMENT_LINES_MAX: usize = 20;

const FENCE: &str = "```";

/// Shown bytes of a line.
const LINE_BYTES_MAX: usize = 200;

/// Documents that are read until one has more than a declaration.
const READ_MAX: usize = 8;

/// Beginnings of lines that continue a head.
const CONTINUED: [&str; 8] = [
    "{",
    "where",
    "->",
    ":",
    "throws",
    "extends",
    "implements",
    "=>",
];

/// Signs before the words of a comment.
const SIGNS: [char; 9] = ['/', '*', '!', '#', ';', '-', '%', '<', '"'];

impl Lookup<'_> {
    pub(super) fn hover(
        &self,
        at: &TextDocumentPositionParams,
    ) -> Result<Option<Hover>, CorpusError> {
        let Some((own, word)) = self.word(at)? else {
            return Ok(None);
        };
        let mut best = best_of(&own, &word).map(|it| (it.is_declaration, described(&own, it)));
        if best
            .as_ref()
            .is_none_or(|(is_declaration, _)| *is_declaration)
        {
            let found = self.elsewhere(&definitions_of(&word), &own)?;
            for found in found.iter().take(READ_MAX) {
                let Some(other) = self.newest(&Place::of(found))? else {
                    continue;
                };
                let Some(it) = best_of(&other, &word) else {
                    continue;
                };
                if best.is_none() || !it.is_declaration {
                    best = Some((it.is_declaration, described(&other, it)));
                }
                if !it.is_declaration {
                    break;
                }
            }
        }
        Ok(best.map(|(_, value)| Hover {
            contents: HoverContents::Markup(MarkupContent {
                kind: MarkupKind::Markdown,
                value,
            }),
            range: None,
        }))
    }
}

/// First definition of the highest level.
fn best_of<'s>(lexed: &'s Lexed, word: &'s str) -> Option<&'s Definition> {
    lexed
        .definitions(word)
        .min_by_key(|it| std::cmp::Reverse(it.level()))
}

/// Describes a definition in Markdown.
fn described(lexed: &Lexed, it: &Definition) -> String {
    let text = Text::new(&lexed.text);
    let line = text.line_of(it.name.start as usize);
    let head = head(lexed, &text, it).join("\n");
    let fence = if head.contains(FENCE) {
        "~~~~~~"
    } else {
        FENCE
    };
    let language = lexed
        .language
        .map_or(String::new(), |it| it.name.to_lowercase());
    let mut parts = vec![format!("{fence}{language}\n{head}\n{fence}")];
    let comment = comment(lexed, &text, line);
    let comment = comment.join("\n").trim().to_owned();
    parts.extend((!comment.is_empty()).then_some(comment));
    if let Some(Place { package, path }) = &lexed.place {
        let name = String::from_utf8_lossy(&[&package[..], path].join(&b'/')).into_owned();
        let name: String = name
            .chars()
            .filter(|it| !it.is_control() && *it != '`')
            .collect();
        parts.push(format!("`{name}:{}`", line + 1));
    }
    parts.join("\n\n")
}

/// Lines up to the body.
fn head(lexed: &Lexed, text: &Text<'_>, it: &Definition) -> Vec<String> {
    let first = text.line_of(it.name.start as usize);
    let (mut lines, mut depth) = (Vec::new(), 0);
    for number in first..first + HEAD_LINES_MAX {
        let (start, line) = (text.start(number), text.line(number));
        let body = line.iter().enumerate().position(|(at, byte)| {
            let is_code =
                start + at >= it.name.end as usize && lexed.class_at(start + at) == Class::Code;
            match byte {
                b'(' | b'[' if is_code => depth += 1,
                b')' | b']' if is_code => depth -= 1,
                b'{' if is_code && depth <= 0 => return true,
                _ => {}
            }
            false
        });
        lines.push(shown(&line[..body.unwrap_or(line.len())]));
        let next = text.line(number + 1).trim_ascii();
        let is_continued = depth > 0 || CONTINUED.iter().any(|it| next.starts_with(it.as_bytes()));
        if body.is_some() || !is_continued {
            break;
        }
    }
    if lines.last().is_some_and(|last| last.trim().is_empty()) {
        lines.pop();
    }
    lines
}

/// Words of the comment directly above a line. Attributes may be between.
fn comment(lexed: &Lexed, text: &Text<'_>, below: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for number in (0..below).rev().take(COMMENT_LINES_MAX) {
        let line = text.line(number);
        let blanks = line
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let begin = &line[blanks..];
        if begin.is_empty() {
            break;
        }
        if lexed.class_at(text.start(number) + blanks) == Class::Comment {
            lines.push(words(&shown(begin)).to_owned());
        } else if !begin.starts_with(b"#[") && !begin.starts_with(b"@") {
            break;
        }
    }
    let fences = lines.iter().filter(|line| line.starts_with(FENCE)).count();
    if fences % 2 == 1 {
        // The opening one is above the last line.
        lines.push(FENCE.to_owned());
    }
    lines.reverse();
    lines
}

/// Words of a line of a comment.
fn words(line: &str) -> &str {
    let words = line.trim_start_matches(SIGNS);
    let words = words.strip_prefix(' ').unwrap_or(words);
    words
        .trim_end_matches("-->")
        .trim_end_matches("*/")
        .trim_end()
}

fn shown(line: &[u8]) -> String {
    let line = &line[..line.len().min(LINE_BYTES_MAX)];
    String::from_utf8_lossy(line).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_lose_their_signs() {
        for (line, expected) in [
            ("/// # Examples", "# Examples"),
            ("//!     let a = b();", "    let a = b();"),
            (" * An *area*. */".trim(), "An *area*."),
            ("/**", ""),
            ("-- | Doc", "| Doc"),
            ("<!-- a -->", "a"),
            ("#", ""),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }
}
