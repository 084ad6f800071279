//! Matches of a file as zoekt's chunks or lines, with byte offsets in the file.
//!
//! Offsets of lines around a match follow from their lengths. A long line, known only in part,
//! stands alone, without context.

use super::shape::{Bytes, ChunkMatch, LineFragment, LineMatch, Location, Range, Symbol};
use frontend::{ContextLine, Match};
use language::symbols::Kind;
use language::words::is_word;

#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    start: u64,
    text: &'a [u8],
    /// Bytes of the line before the text; `None` if it is whole.
    part: Option<u64>,
}

impl Line<'_> {
    fn location(&self, number: u32, at: usize) -> Location {
        Location {
            byte_offset: self.start + at as u64,
            line_number: number,
            column: self.part.unwrap_or(0) + runes(&self.text[..at.min(self.text.len())]) + 1,
        }
    }
}

fn last_line(found: &Match) -> u32 {
    found.line.saturating_add(found.lines.max(1) - 1)
}

fn lines_of(found: &Match) -> impl Iterator<Item = (u32, Line<'_>)> {
    let part = found.window.map(|window| window.start);
    let lines = (found.line..).zip(found.text.split(|&byte| byte == b'\n'));
    lines.scan(
        found.offset + part.unwrap_or(0),
        move |next, (number, text)| {
            let start = *next;
            *next += text.len() as u64 + 1;
            Some((number, Line { start, text, part }))
        },
    )
}

fn context_line(line: &ContextLine, start: u64) -> (u32, Line<'_>) {
    let text = &line.text[..];
    (
        line.line,
        Line {
            start,
            text,
            part: None,
        },
    )
}

/// Counts like Go: each byte that is not UTF-8 is one.
fn runes(bytes: &[u8]) -> u64 {
    let chunks = bytes.utf8_chunks();
    let counts = chunks.map(|chunk| chunk.valid().chars().count() + chunk.invalid().len());
    counts.sum::<usize>() as u64
}

pub(super) struct FileLines<'a> {
    matches: &'a [Match],
    /// Known lines, by number.
    lines: Vec<(u32, Line<'a>)>,
    context_lines: u32,
}

impl<'a> FileLines<'a> {
    /// `matches` are by line, without names.
    pub(super) fn new(matches: &'a [Match], context_lines: u32) -> FileLines<'a> {
        let mut file = FileLines {
            matches,
            lines: matches.iter().flat_map(lines_of).collect(),
            context_lines,
        };
        file.sort();
        let whole = matches.iter().filter(|found| found.window.is_none());
        let context: Vec<_> = whole.flat_map(|found| file.context(found)).collect();
        if !context.is_empty() {
            file.lines.extend(context);
            file.sort();
        }
        file
    }

    fn sort(&mut self) {
        self.lines.sort_by_key(|line| line.0);
        self.lines.dedup_by_key(|line| line.0);
    }

    fn index(&self, number: u32) -> usize {
        self.lines.partition_point(|line| line.0 < number)
    }

    fn line(&self, number: u32) -> Option<&Line<'a>> {
        let line = self.lines.get(self.index(number));
        line.filter(|it| it.0 == number).map(|it| &it.1)
    }

    fn context(&self, found: &'a Match) -> impl Iterator<Item = (u32, Line<'a>)> + use<'a> {
        let whole = |line: &&ContextLine| line.window.is_none();
        let before = found.before.iter().rev().take_while(whole);
        let before = before.scan(found.offset, |start, line| {
            *start = start.checked_sub(line.text.len() as u64 + 1)?;
            Some(context_line(line, *start))
        });
        let last = self.line(last_line(found));
        let after = found.after.iter().take_while(whole);
        let end = last.map(|line| line.start + line.text.len() as u64 + 1);
        let after = after.scan(end, |next, line| {
            let start = (*next)?;
            *next = Some(start + line.text.len() as u64 + 1);
            Some(context_line(line, start))
        });
        before.chain(after)
    }

    /// Line `count` lines from `number`, or the last known one before it.
    fn reach(&self, number: u32, count: u32, step: fn(u32, u32) -> Option<u32>) -> u32 {
        let is_part = |number: u32| self.line(number).is_none_or(|it| it.part.is_some());
        if is_part(number) {
            return number;
        }
        let steps = (1..=count).map_while(|by| step(number, by));
        let known = steps.take_while(|&number| !is_part(number));
        known.last().unwrap_or(number)
    }

    /// True if no bytes are missing between the lines.
    fn is_gapless(&self, first: u32, last: u32) -> bool {
        (first..last).all(|number| {
            let (line, next) = (self.line(number), self.line(number + 1));
            let (Some(line), Some(next)) = (line, next) else {
                return false;
            };
            let is_whole = line.part.is_none() && next.part.is_none();
            is_whole && line.start + line.text.len() as u64 + 1 == next.start
        })
    }

    fn content(&self, first: u32, last: u32) -> Bytes {
        let lines = &self.lines[self.index(first)..];
        let lines = lines.iter().take_while(|line| line.0 <= last);
        let len = lines.clone().map(|line| line.1.text.len() + 1).sum();
        let mut bytes = Vec::with_capacity(len);
        for (_, line) in lines {
            bytes.extend_from_slice(line.text);
            if line.part.is_none() {
                bytes.push(b'\n');
            }
        }
        Bytes(bytes)
    }

    /// Matches whose contexts touch, in groups.
    fn groups(&self) -> Vec<(u32, u32, &'a [Match])> {
        let mut groups: Vec<(u32, u32, &'a [Match])> = Vec::new();
        let mut at = 0;
        for (index, found) in self.matches.iter().enumerate() {
            let last = last_line(found);
            let near = |end: u32| {
                u64::from(end) + 2 * u64::from(self.context_lines) >= found.line.into()
                    && self.is_gapless(end.min(found.line), found.line)
            };
            match groups.last_mut() {
                Some((_, end, matches)) if near(*end) => {
                    *end = last.max(*end);
                    *matches = &self.matches[at..=index];
                }
                _ => {
                    at = index;
                    groups.push((found.line, last, &self.matches[at..=index]));
                }
            }
        }
        groups
    }

    pub(super) fn chunks(&self) -> Vec<ChunkMatch> {
        let groups = self.groups().into_iter();
        let chunk = |(first, last, matches): (u32, u32, &[Match])| {
            let first = self.reach(first, self.context_lines, u32::checked_sub);
            let last = self.reach(last, self.context_lines, u32::checked_add);
            let best = matches.iter().max_by(|a, b| a.rank.total_cmp(&b.rank));
            let start = self.line(first).map(|it| it.location(first, 0));
            ChunkMatch {
                content: self.content(first, last),
                ranges: matches.iter().flat_map(|it| self.ranges(it)).collect(),
                symbol_info: symbols(matches),
                content_start: start.unwrap_or_default(),
                score: best.map_or(0.0, |best| best.rank.into()),
                best_line_match: best.map_or(0, |best| best.line),
                ..ChunkMatch::default()
            }
        };
        groups.map(chunk).collect()
    }

    fn ranges(&self, found: &Match) -> Vec<Range> {
        let location = |at: usize, is_end: bool| {
            let text = &found.text[..at.min(found.text.len())];
            let lines = text[..text.len() - usize::from(is_end && !text.is_empty())].iter();
            let number = found.line + lines.filter(|&&byte| byte == b'\n').count() as u32;
            let before = text.split(|&byte| byte == b'\n');
            let start = before.take((number - found.line) as usize);
            let start = start.map(|line| line.len() + 1).sum::<usize>();
            let line = self.line(number);
            line.map(|line| line.location(number, at - start))
        };
        let ranges = found.ranges.iter();
        let range = |range: &std::ops::Range<usize>| Range {
            start: location(range.start, false).unwrap_or_default(),
            end: location(range.end, range.end > range.start).unwrap_or_default(),
        };
        ranges.map(range).collect()
    }

    pub(super) fn line_matches(&self) -> Vec<LineMatch> {
        let matches = self.matches.iter();
        matches.map(|found| self.line_match(found)).collect()
    }

    fn line_match(&self, found: &Match) -> LineMatch {
        let last = last_line(found);
        let content = self.content(found.line, last);
        let start = self.line(found.line).map_or(0, |line| line.start);
        let has_context = self.context_lines > 0;
        let first = self.reach(found.line, self.context_lines, u32::checked_sub);
        let after = self.reach(last, self.context_lines, u32::checked_add);
        let symbols = symbols(std::slice::from_ref(found)).unwrap_or_default();
        let symbols = symbols.into_iter().map(Some).chain(std::iter::repeat(None));
        let ranges = self.ranges(found).into_iter();
        let fragment = |(range, symbol_info): (Range, Option<Symbol>)| LineFragment {
            line_offset: range.start.byte_offset.saturating_sub(start),
            offset: range.start.byte_offset,
            match_length: (range.end.byte_offset).saturating_sub(range.start.byte_offset),
            symbol_info,
        };
        LineMatch {
            line_start: start,
            line_end: start + content.0.len() as u64,
            line: content,
            line_number: found.line,
            before: has_context.then(|| self.content(first, found.line.saturating_sub(1))),
            after: has_context.then(|| self.content(last.saturating_add(1), after)),
            score: found.rank.into(),
            line_fragments: ranges.zip(symbols).map(fragment).collect(),
            ..LineMatch::default()
        }
    }
}

/// Definitions, in a search for them.
fn symbols(matches: &[Match]) -> Option<Vec<Symbol>> {
    let is_symbol = matches.iter().any(|found| found.kinds != 0);
    let each = matches
        .iter()
        .flat_map(|found| found.ranges.iter().map(move |range| (found, range)));
    let symbol = |(found, range): (&Match, &std::ops::Range<usize>)| {
        let text = &found.text[..];
        let before = text[..range.start].iter().rev();
        let after = text[range.end..].iter();
        let start = range.start - before.take_while(|&&byte| is_word(byte)).count();
        let end = range.end + after.take_while(|&&byte| is_word(byte)).count();
        let kinds = Kind::names_of(found.kinds);
        Symbol {
            sym: String::from_utf8_lossy(&text[start..end]).into_owned(),
            kind: kinds.first().copied().unwrap_or_default(),
            ..Symbol::default()
        }
    };
    is_symbol.then(|| each.map(symbol).collect())
}

#[cfg(test)]
mod tests;
