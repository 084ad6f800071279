//! INI, Properties, TOML, Cabal and Opam: sections and keys.

use super::super::super::outline::Outline;
use super::super::super::parser::{Line, Parser, Role};
use super::super::super::{Kind, Parent};
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Ini,
    Properties,
    Toml,
    Cabal,
    Opam,
}

pub(crate) struct Ini {
    dialect: Dialect,
    /// Columns of the first key; lines with more continue a value.
    indent: Option<usize>,
    brackets: usize,
    end: u32,
    /// Line after a backslash.
    is_continued: bool,
}

impl Parser for Ini {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let text = outline.bytes(line.range.clone());
        let was_inside = self.brackets > 0;
        if self.dialect == Dialect::Toml || self.dialect == Dialect::Opam {
            self.count_brackets(line, outline);
        }
        if !line.is_begin || text.trim_ascii().is_empty() {
            return;
        }
        if !line.begins_inside {
            self.text(line, text, was_inside, outline);
        }
        self.end = line.range.end;
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        outline.leave_to(0, self.end);
    }
}

impl Ini {
    pub(crate) fn new(dialect: Dialect) -> Ini {
        Ini {
            dialect,
            indent: None,
            brackets: 0,
            end: 0,
            is_continued: false,
        }
    }

    fn text(&mut self, line: &Line<'_>, text: &[u8], was_inside: bool, outline: &mut Outline<'_>) {
        let is_continued = std::mem::take(&mut self.is_continued);
        self.is_continued = self.dialect == Dialect::Properties && ends_with_backslash(text);
        if matches!(text.trim_ascii_start(), [b'#' | b';' | b'!', ..]) || is_continued {
            return;
        }
        match self.section(text, line.range.start, outline) {
            Some((parent, name)) if !was_inside || text[0] == b'[' && is_bare(text) => {
                self.brackets = 0;
                self.open(parent, name, outline);
            }
            _ if was_inside => {}
            _ => self.key(line, text, outline),
        }
    }

    fn count_brackets(&mut self, line: &Line<'_>, outline: &Outline<'_>) {
        for token in line.tokens {
            let signs = match token.role {
                Role::Sign(_) | Role::Meta => token.text(outline),
                _ => continue,
            };
            for sign in signs {
                match sign {
                    b'[' | b'{' => self.brackets += 1,
                    b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
                    _ => {}
                }
            }
        }
    }

    fn open(&mut self, parent: Parent, name: Range<u32>, outline: &mut Outline<'_>) {
        outline.leave_to(0, self.end);
        let index = outline.define_in(parent, name, Kind::Section);
        outline.enter(index);
        self.indent = None;
    }

    /// Section that a line opens, and the table around it.
    fn section(
        &self,
        text: &[u8],
        start: u32,
        outline: &Outline<'_>,
    ) -> Option<(Parent, Range<u32>)> {
        let at = |part: Range<usize>| start + part.start as u32..start + part.end as u32;
        match self.dialect {
            Dialect::Ini | Dialect::Toml => {
                let part = bracketed(text)?;
                if self.dialect == Dialect::Ini {
                    return Some((Parent::None, at(part)));
                }
                let (table, name) = split_table(text, part);
                let parent = table.map_or(Parent::None, |table| Parent::Name(at(table)));
                Some((parent, unquoted(at(name), outline)))
            }
            Dialect::Cabal => Some((Parent::None, at(stanza(text)?))),
            Dialect::Properties | Dialect::Opam => None,
        }
    }

    fn key(&mut self, line: &Line<'_>, text: &[u8], outline: &mut Outline<'_>) {
        let indent = line.indent(outline);
        let is_continuation = match self.dialect {
            Dialect::Ini => indent > *self.indent.get_or_insert(indent),
            Dialect::Opam | Dialect::Cabal => indent > 0,
            Dialect::Toml | Dialect::Properties => false,
        };
        let blanks = text.len() - text.trim_ascii_start().len();
        if !is_continuation
            && self.dialect != Dialect::Cabal
            && let Some(bytes) = key(&text[blanks..], self.dialect)
        {
            let start = line.range.start + blanks as u32;
            let name = unquoted(start..start + bytes as u32, outline);
            outline.define(name, Kind::Key);
        }
    }
}

fn bracketed(text: &[u8]) -> Option<Range<usize>> {
    let open = text.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let signs = text[open..]
        .iter()
        .take(2)
        .take_while(|byte| **byte == b'[');
    let start = open + signs.count();
    if start == open {
        return None;
    }
    let mut quote = 0;
    for (at, byte) in text.iter().enumerate().skip(start) {
        match byte {
            b']' if quote == 0 => return Some(trim(text, start..at)),
            b'"' | b'\'' if quote == 0 => quote = *byte,
            byte if *byte == quote => quote = 0,
            _ => {}
        }
    }
    None
}

fn trim(text: &[u8], part: Range<usize>) -> Range<usize> {
    let inside = &text[part.clone()];
    let start = part.end - inside.trim_ascii_start().len();
    start..start + inside.trim_ascii().len()
}

fn split_table(text: &[u8], part: Range<usize>) -> (Option<Range<usize>>, Range<usize>) {
    let (mut quote, mut point) = (0, None);
    for at in part.clone() {
        match text[at] {
            b'.' if quote == 0 => point = Some(at),
            byte @ (b'"' | b'\'') if quote == 0 => quote = byte,
            byte if byte == quote => quote = 0,
            _ => {}
        }
    }
    match point {
        Some(at) => (Some(part.start..at), at + 1..part.end),
        None => (None, part),
    }
}

/// Tells `[name]` from a value of TOML.
fn is_bare(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\"'".contains(byte);
    let name = text.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]"));
    name.is_some_and(|name| {
        name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(of_name)
    })
}

/// Name of a stanza, or its kind.
fn stanza(text: &[u8]) -> Option<Range<usize>> {
    let word = text
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(text.len());
    let rest = trim(text, word..text.len());
    let kinds = "library executable test-suite benchmark flag common foreign-library custom-setup \
        source-repository package";
    let is_stanza = |kind: &str| text[..word].eq_ignore_ascii_case(kind.as_bytes());
    if !kinds.split(' ').any(is_stanza) {
        return None;
    }
    Some(if rest.is_empty() { 0..word } else { rest })
}

fn key(text: &[u8], dialect: Dialect) -> Option<usize> {
    if let [quote @ (b'"' | b'\''), rest @ ..] = text {
        let end = 2 + rest.iter().position(|byte| byte == quote)?;
        let behind = text[end..].trim_ascii_start();
        let is_key = dialect == Dialect::Toml && behind.starts_with(b"=");
        return is_key.then_some(end);
    }
    let end = (0..text.len()).find(|at| is_separator(text, *at, dialect))?;
    let name = text[..end].trim_ascii_end();
    let name = name.strip_suffix(b"+").unwrap_or(name).trim_ascii_end();
    let is_other = |byte: &u8| b"<>(){}\"'`$@|&;,?*~=!".contains(byte);
    let is_operator = matches!(text.get(end + 1), Some(b'=' | b'~'));
    let words = name.split(u8::is_ascii_whitespace).count();
    let words_max = if text[end] == b'=' { 3 } else { 1 };
    let is_key = !name.iter().any(is_other)
        && !is_operator
        && words <= words_max
        && !text.trim_ascii_end().ends_with(b"{");
    is_key.then_some(name.len())
}

/// Sees `\:` and `::` as parts of a key.
fn is_separator(text: &[u8], at: usize, dialect: Dialect) -> bool {
    let byte = text[at];
    let (before, after) = (at.checked_sub(1).map(|at| text[at]), text.get(at + 1));
    let is_known = match dialect {
        Dialect::Toml => byte == b'=',
        Dialect::Opam => byte == b':',
        _ => byte == b'=' || byte == b':' && before != Some(b':') && after != Some(&b':'),
    };
    is_known && before != Some(b'\\')
}

fn unquoted(name: Range<u32>, outline: &Outline<'_>) -> Range<u32> {
    match outline.bytes(name.clone()) {
        [b'"' | b'\'', .., b'"' | b'\''] => name.start + 1..name.end - 1,
        _ => name,
    }
}

fn ends_with_backslash(text: &[u8]) -> bool {
    let signs = text.iter().rev().take_while(|byte| **byte == b'\\');
    signs.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn sections_and_keys_of_ini() {
        check(
            "ini",
            "a = 1\n; b = 2\n[c d] # x\nKey-1=v\n  more = 3\nName[de]: y\n\n[remote \"o]\"]\n\turl = z\n\tfetch = +r\nServer {\nif (x == 1)\n$x = 1\n",
            "key a 1
             section c d 3-6
             key c d.Key-1 4
             key c d.Name[de] 6
             section remote \"o]\" 8-13
             key remote \"o]\".url 9
             key remote \"o]\".fetch 10",
        );
    }

    #[test]
    fn keys_of_properties() {
        check(
            "java properties",
            "# a=b\n! c=d\ne.f = g \\\n  h=i\n\nj:k\nl\\:m=n\n",
            "key e.f 3
             key j 6
             key l\\:m 7",
        );
    }

    #[test]
    fn tables_and_keys_of_toml() {
        check(
            "toml",
            "a = 1\n[package]\nname = \"b\" # [c]\nd = [\n  [\"e\", 1],\n  { f = 1 },\n]\n\n[dependencies.\"g.h\"]\n\"i j\" = '''\n[k]\n'''\n[[bin]]\nl.m = { n = 1 }\no = [\n[p]\nq=1\n",
            "key a 1
             section package 2-7
             key package.name 3
             key package.d 4
             section dependencies.g.h 9-12
             key dependencies.g.h.i j 10
             section bin 13-15
             key bin.l.m 14
             key bin.o 15
             section p 16-17
             key p.q 17",
        );
    }

    #[test]
    fn stanzas_of_cabal_and_keys_of_opam() {
        check(
            "cabal config",
            "name: a\n-- library\nflag B\n  default: True\nlibrary\n  exposed-modules: C\nTest-Suite d-e\n  type: f\n",
            "section B 3-4
             section library 5-6
             section d-e 7-8",
        );
        check(
            "opam",
            "opam-version: \"2.0\"\ndepends: [\n  \"a\" {>= \"1\"}\nb: c\n]\nurl {\nsrc: \"d\"\n}\nbuild: []\n",
            "key opam-version 1
             key depends 2
             key build 9",
        );
    }
}
