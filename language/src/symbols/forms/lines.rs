//! Lines as bytes, since blanks, tabs and columns count in these languages.

use super::scopes::{Found, Scopes};
use super::{ANYWHERE, Act, BLANKS, BRACKETS, NEXT, RECIPES, REPEATED, SCOPES, SETTINGS, Table};
use crate::symbols::{Line, Outline, Parser, Role};
use std::borrow::Cow;
use std::ops::Range;

const SKIPPED_LINES_MAX: usize = 1_000;

pub(crate) struct Lines {
    table: &'static Table,
    scopes: Scopes,
    is_continued: bool,
    in_recipes: bool,
    depth: usize,
    until: Option<(Vec<u8>, usize)>,
}

impl Parser for Lines {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let text = outline.bytes(line.range.clone());
        let sign = self.table.goes_on;
        let goes_on = !sign.is_empty() && text.ends_with(sign);
        let is_continued = std::mem::replace(&mut self.is_continued, goes_on);
        let is_inside = line.begins_inside && self.until.is_none();
        let is_first = line.is_begin && !is_inside && !is_continued;
        let is_searched = is_first && !self.is_skipped(line, text) || self.has(ANYWHERE);
        if is_searched && self.table.may_match(text) {
            self.find(line, outline);
        }
        if self.has(BRACKETS) {
            self.count_brackets(line, outline);
        }
        let is_inside = line.begins_inside && !text.trim_ascii().is_empty();
        if !self.has(BLANKS) && (is_inside || !line.tokens.is_empty()) {
            self.scopes.end = line.range.end;
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        if !self.has(BLANKS) {
            outline.leave_to(0, self.scopes.end);
        }
    }
}

impl Lines {
    pub(crate) fn of(table: &'static Table) -> Lines {
        Lines {
            table,
            scopes: Scopes::default(),
            is_continued: false,
            in_recipes: false,
            depth: 0,
            until: None,
        }
    }

    fn has(&self, flag: u32) -> bool {
        self.table.has(flag)
    }

    fn is_skipped(&mut self, line: &Line<'_>, text: &[u8]) -> bool {
        if let [b'[', b'A'..=b'Z' | b'a'..=b'z', ..] = text {
            self.depth = 0;
        }
        let trimmed = text.trim_ascii();
        if line.range.start <= 3
            && self.has(SETTINGS)
            && let Some(row) = [&b"---"[..], b"+++"]
                .into_iter()
                .find(|row| trimmed == *row)
        {
            self.until = Some((row.to_vec(), 0));
            return true;
        }
        if let Some((begin, count)) = &mut self.until {
            *count += 1;
            let is_row = begin.first().is_some_and(u8::is_ascii_punctuation);
            let is_end = match begin.as_slice() {
                [] => !text.is_empty() && !text[0].is_ascii_whitespace(),
                row if is_row => trimmed == row,
                begin => trimmed.starts_with(begin),
            };
            if is_end || *count == SKIPPED_LINES_MAX {
                self.until = None;
            }
            if is_row || !is_end {
                return true;
            }
        }
        self.depth > 0 || self.in_recipes && text.starts_with(b"\t")
    }

    fn searched(&self, line: &Line<'_>, outline: &Outline<'_>) -> Option<Range<u32>> {
        let mut range = line.range.clone();
        match line.tokens {
            [first, .., last] if self.has(ANYWHERE) => range = first.start..last.end,
            [] if !self.has(BLANKS) => return None,
            _ => {}
        }
        if self.has(NEXT) {
            let behind = &outline.text[range.end as usize..];
            let end = memchr::memchr_iter(b'\n', behind).nth(1);
            range.end += end.unwrap_or(behind.len()) as u32;
        }
        Some(range)
    }

    fn find(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(range) = self.searched(line, outline) else {
            return;
        };
        let mut text = Cow::Borrowed(outline.bytes(range.clone()));
        let mut before = 0;
        if self.has(SCOPES) {
            let scope = [self.scopes.innermost().as_bytes(), b">"].concat();
            before = scope.len();
            text = Cow::Owned([&scope, &*text].concat());
        }
        let place = |part: &Range<usize>| {
            let at = |at: usize| range.start + at.saturating_sub(before) as u32;
            at(part.start)..at(part.end)
        };
        let mut from = 0;
        while let Some(found) = self.table.find(&text, from) {
            if self.is_code(&place(&found.whole), line) {
                let found = Found {
                    act: found.act,
                    name: found.name.as_ref().map(place),
                    of: found.of.as_ref().map(place),
                    start: line.range.start,
                    end: line.range.end,
                };
                self.apply(&found, outline);
            }
            let next = match &found.name {
                Some(name) if self.has(ANYWHERE) => name.end.max(found.whole.start + 1),
                _ => found.whole.end,
            };
            let goes_on = self.has(ANYWHERE) || self.has(REPEATED) && found.row == 0;
            if !goes_on || next <= from {
                break;
            }
            from = next;
        }
    }

    fn apply(&mut self, found: &Found, outline: &mut Outline<'_>) {
        match found.act {
            Act::Until(begin) => self.until = Some((begin.into(), 0)),
            Act::Fence => {
                let row = outline.bytes(found.start..found.end).trim_ascii_end();
                let row = if row.starts_with(b"```") { b"```" } else { row };
                self.until = Some((row.to_vec(), 0));
            }
            Act::Underlined(..) if !is_underlined(found, outline) => {}
            Act::Underlined(kind, level) => {
                self.is_continued = true;
                self.scopes.level(kind, level, found, outline);
            }
            Act::Braced(kind) if self.depth == 0 => self.scopes.open(kind, "{", found, outline),
            Act::Braced(_) => {}
            Act::Outer(_) if self.depth > 0 => {}
            act => {
                match act {
                    Act::Words(_) => self.in_recipes = self.has(RECIPES),
                    Act::First(_) => self.in_recipes = false,
                    _ => {}
                }
                self.scopes.apply(found, outline);
                if let Act::Level(..) = act
                    && self.has(RECIPES)
                {
                    self.until = Some((b"endef".to_vec(), 0));
                }
            }
        }
    }

    /// Excludes comments, and strings in the middle of a line. Texts may have no tokens.
    fn is_code(&self, part: &Range<u32>, line: &Line<'_>) -> bool {
        let first = line.tokens.partition_point(|token| token.end <= part.start);
        let first = line.tokens.get(first).filter(|it| it.start < part.end);
        match first {
            Some(first) => !self.has(ANYWHERE) || first.role != Role::String,
            None => self.has(BLANKS) && !self.has(ANYWHERE),
        }
    }

    fn count_brackets(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for token in line.tokens {
            if !matches!(token.role, Role::Sign(_) | Role::Meta) {
                continue;
            }
            for sign in token.text(outline) {
                match sign {
                    b'[' | b'{' => self.depth += 1,
                    b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                    _ => continue,
                }
                if self.depth == 0 && self.scopes.innermost() == "{" {
                    self.scopes.close(token.end, outline);
                }
            }
        }
    }
}

fn is_underlined(found: &Found, outline: &Outline<'_>) -> bool {
    let width = |part: &Option<Range<u32>>| {
        let part = part.clone().map_or(&b""[..], |part| outline.bytes(part));
        part.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
    };
    width(&found.name).abs_diff(width(&found.of)) <= 2
}
