//! TeX, Texinfo, Roff and BibTeX: headings and macros.

#[cfg(test)]
mod tests;

use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use super::super::{Kind, Parent};
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Tex,
    Texinfo,
    Roff,
    Bibtex,
}

pub(crate) struct Headings {
    dialect: Dialect,
    levels: Vec<u8>,
    /// Level of Roff's heading in the next line.
    next: Option<u8>,
    start: u32,
}

const TITLE_BYTES_MAX: usize = 512;

impl Parser for Headings {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !line.is_begin || line.begins_inside {
            return;
        }
        self.start = line.range.start;
        if let Some(level) = self.next.take() {
            self.heading(level, trimmed(line.range.clone(), outline), outline);
        }
        match (self.dialect, line.tokens.first()) {
            (Dialect::Tex, _) => self.tex(line, outline),
            (_, None) => {}
            (Dialect::Roff, Some(first)) => self.roff(*first, outline),
            (Dialect::Texinfo, Some(first)) => self.texinfo(*first, line, outline),
            (Dialect::Bibtex, Some(_)) => bibtex(line.tokens, outline),
        }
    }
}

impl Headings {
    pub(crate) fn new(dialect: Dialect) -> Headings {
        Headings {
            dialect,
            levels: Vec::new(),
            next: None,
            start: 0,
        }
    }

    fn heading(&mut self, level: u8, name: Range<u32>, outline: &mut Outline<'_>) {
        while self.levels.last().is_some_and(|last| *last >= level) {
            self.levels.pop();
            outline.leave(self.start);
        }
        if let Some(index) = outline.define(name, Kind::Section) {
            outline.enter(Some(index));
            self.levels.push(level);
        }
    }

    fn roff(&mut self, request: Token, outline: &mut Outline<'_>) {
        let text = request.text(outline);
        let Some(rest) = text
            .strip_prefix(b".")
            .filter(|_| request.role == Role::Meta)
        else {
            return;
        };
        let word = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let level = match &rest[..word] {
            b"TH" | b"Dt" => 0,
            b"SH" | b"Sh" => 1,
            b"SS" | b"Ss" => 2,
            b"de" => 3,
            _ => return,
        };
        let start = request.start + 1 + word as u32;
        let mut name = trimmed(start..request.end, outline);
        if level == 0 || level == 3 {
            name.end = name.start + first_argument(outline.bytes(name.clone()));
        }
        match level {
            3 => {
                outline.define(name, Kind::Macro);
            }
            1 | 2 if name.is_empty() => self.next = Some(level),
            _ => self.heading(level, unquoted(name, outline), outline),
        }
    }

    fn texinfo(&mut self, first: Token, line: &Line<'_>, outline: &mut Outline<'_>) {
        let level = match first.text(outline) {
            b"@node" => return node(first.end..line.range.end, outline),
            b"@macro" | b"@rmacro" => {
                if let Some(name) = line.tokens.get(1) {
                    outline.define(name.range(), Kind::Macro);
                }
                return;
            }
            b"@part" => 0,
            b"@top" | b"@chapter" | b"@unnumbered" | b"@appendix" | b"@majorheading" => 1,
            b"@chapheading" | b"@centerchap" => 1,
            b"@section" | b"@unnumberedsec" | b"@appendixsec" | b"@heading" => 2,
            b"@appendixsection" => 2,
            b"@subsection" | b"@unnumberedsubsec" | b"@appendixsubsec" | b"@subheading" => 3,
            b"@subsubsection" | b"@unnumberedsubsubsec" | b"@appendixsubsubsec" => 4,
            b"@subsubheading" => 4,
            _ => return,
        };
        self.heading(level, trimmed(first.end..line.range.end, outline), outline);
    }

    fn tex(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for (at, token) in line.tokens.iter().enumerate() {
            if token.role != Role::Keyword {
                continue;
            }
            let rest = &line.tokens[at + 1..];
            let level = match token.text(outline) {
                b"\\part" => 0,
                b"\\chapter" => 1,
                b"\\section" => 2,
                b"\\subsection" => 3,
                b"\\subsubsection" => 4,
                b"\\paragraph" => 5,
                b"\\subparagraph" => 6,
                text => {
                    tex_macro(text, rest, outline);
                    continue;
                }
            };
            if let Some(title) = argument(token.end..line.range.end, outline) {
                self.heading(level, title, outline);
            }
        }
    }
}

/// `\newcommand{\name}`, `\def\name`, `\label{name}`
fn tex_macro(text: &[u8], rest: &[Token], outline: &mut Outline<'_>) {
    let is_environment = matches!(
        text,
        b"\\newenvironment" | b"\\newtheorem" | b"\\newcounter" | b"\\label"
    );
    let is_macro = matches!(
        text,
        b"\\newcommand" | b"\\renewcommand" | b"\\providecommand" | b"\\DeclareRobustCommand"
    ) || matches!(
        text,
        b"\\DeclareMathOperator" | b"\\NewDocumentCommand" | b"\\newif"
    ) || matches!(
        text,
        b"\\def" | b"\\gdef" | b"\\edef" | b"\\xdef" | b"\\let"
    );
    let mut rest = rest
        .iter()
        .filter(|token| !token.is(b'{') && !token.is(b'*'));
    let Some(name) = rest.next() else { return };
    match name.role {
        Role::Keyword if is_macro => {
            outline.define(name.start + 1..name.end, Kind::Macro);
        }
        _ if is_environment && name.role == Role::Word => {
            let text = &outline.text[name.start as usize..];
            let count = text
                .iter()
                .take_while(|byte| !b"}\n{".contains(byte))
                .count();
            let is_label = text_is_label(outline, name.start);
            let kind = if is_label { Kind::Label } else { Kind::Macro };
            outline.define(name.start..name.start + count as u32, kind);
        }
        _ => {}
    }
}

fn text_is_label(outline: &Outline<'_>, start: u32) -> bool {
    outline.text[..start as usize].ends_with(b"\\label{")
}

fn argument(rest: Range<u32>, outline: &Outline<'_>) -> Option<Range<u32>> {
    let text = outline.bytes(rest.clone());
    let text = &text[..text.len().min(TITLE_BYTES_MAX)];
    let open = match text.iter().find(|byte| !b" *".contains(byte))? {
        b'[' => memchr::memmem::find(text, b"]{")? + 1,
        b'{' => memchr::memchr(b'{', text)?,
        _ => return None,
    };
    let mut depth = 0;
    for (at, byte) in text.iter().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(rest.start + open as u32 + 1..rest.start + at as u32);
        }
    }
    Some(rest.start + open as u32 + 1..rest.start + text.len() as u32)
}

/// `@node name, next, previous, up`
fn node(rest: Range<u32>, outline: &mut Outline<'_>) {
    let text = outline.bytes(rest.clone());
    let count = memchr::memchr(b',', text).unwrap_or(text.len());
    let name = trimmed(rest.start..rest.start + count as u32, outline);
    outline.define_in(Parent::None, name, Kind::Label);
}

/// `@article{key,`
fn bibtex(tokens: &[Token], outline: &mut Outline<'_>) {
    let [at, entry, open, key, ..] = tokens else {
        return;
    };
    let word = entry.text(outline);
    if !at.is(b'@') || !open.is(b'{') || word.eq_ignore_ascii_case(b"comment") {
        return;
    }
    let text = &outline.text[key.start as usize..];
    let is_end = |byte: &u8| b",}= \t\r\n".contains(byte);
    let count = text.iter().take_while(|byte| !is_end(byte)).count();
    let is_string = word.eq_ignore_ascii_case(b"string");
    let kind = if is_string { Kind::Constant } else { Kind::Key };
    outline.define(key.start..key.start + count as u32, kind);
}

fn first_argument(text: &[u8]) -> u32 {
    if let Some(quoted) = text.strip_prefix(b"\"")
        && let Some(end) = memchr::memchr(b'"', quoted)
    {
        return end as u32 + 2;
    }
    text.iter()
        .take_while(|byte| !byte.is_ascii_whitespace())
        .count() as u32
}

fn trimmed(range: Range<u32>, outline: &Outline<'_>) -> Range<u32> {
    let text = outline.bytes(range.clone());
    let start = text.len() - text.trim_ascii_start().len();
    let end = start + text.trim_ascii().len();
    range.start + start as u32..range.start + end as u32
}

fn unquoted(range: Range<u32>, outline: &Outline<'_>) -> Range<u32> {
    match outline.bytes(range.clone()) {
        [b'"', .., b'"'] if range.end - range.start > 1 => range.start + 1..range.end - 1,
        _ => range,
    }
}
