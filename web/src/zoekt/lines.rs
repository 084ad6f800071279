//! Matches of a file as zoekt's chunks or lines, with byte offsets in the file.
//!
//! A match has its offset; the lengths of lines around it give theirs. Of a long line only a part is
//! known; it stands alone, without context.

use super::shape::{Bytes, ChunkMatch, LineFragment, LineMatch, Location, Range, Symbol};
use frontend::{ContextLine, Match};
use language::symbols::Kind;
use language::words::is_word;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    /// Offset of the text.
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

/// Counts like Go: each byte that is not UTF-8 is one.
fn runes(bytes: &[u8]) -> u64 {
    let chunks = bytes.utf8_chunks();
    let counts = chunks.map(|chunk| chunk.valid().chars().count() + chunk.invalid().len());
    counts.sum::<usize>() as u64
}

/// Lines of a file that are known, by number.
pub(super) struct FileLines<'a> {
    matches: &'a [Match],
    lines: BTreeMap<u32, Line<'a>>,
    context_lines: u32,
}

impl<'a> FileLines<'a> {
    /// `matches` are by line, without names.
    pub(super) fn new(matches: &'a [Match], context_lines: u32) -> FileLines<'a> {
        let mut file = FileLines {
            matches,
            lines: BTreeMap::new(),
            context_lines,
        };
        for found in matches {
            file.add_match(found);
        }
        for found in matches.iter().filter(|found| found.window.is_none()) {
            file.add_context(found);
        }
        file
    }

    fn add_match(&mut self, found: &'a Match) {
        let part = found.window.map(|window| window.start);
        let mut start = found.offset + part.unwrap_or(0);
        for (number, text) in (found.line..).zip(found.text.split(|&byte| byte == b'\n')) {
            let line = Line { start, text, part };
            self.lines.entry(number).or_insert(line);
            start += text.len() as u64 + 1;
        }
    }

    fn add_context(&mut self, found: &'a Match) {
        let whole = |line: &&ContextLine| line.window.is_none();
        let mut start = found.offset;
        for line in found.before.iter().rev().take_while(whole) {
            let bytes = line.text.len() as u64 + 1;
            let Some(before) = start.checked_sub(bytes) else {
                break;
            };
            start = before;
            self.add(line, start);
        }
        let last = last_line(found);
        let Some(line) = self.lines.get(&last) else {
            return;
        };
        let mut start = line.start + line.text.len() as u64 + 1;
        for line in found.after.iter().take_while(whole) {
            self.add(line, start);
            start += line.text.len() as u64 + 1;
        }
    }

    fn add(&mut self, line: &'a ContextLine, start: u64) {
        let line_of = Line {
            start,
            text: &line.text,
            part: None,
        };
        self.lines.entry(line.line).or_insert(line_of);
    }

    /// Number of the line that is `count` lines from `number`, or of the last known one before it.
    fn reach(&self, number: u32, count: u32, step: fn(u32, u32) -> Option<u32>) -> u32 {
        let is_part = |number: u32| self.lines.get(&number).is_none_or(|it| it.part.is_some());
        if is_part(number) {
            return number;
        }
        let steps = (1..=count).map_while(|by| step(number, by));
        let known = steps.take_while(|&number| !is_part(number));
        known.last().unwrap_or(number)
    }

    /// True if the text of the lines is one part of the file.
    fn is_gapless(&self, first: u32, last: u32) -> bool {
        (first..last).all(|number| {
            let (line, next) = (self.lines.get(&number), self.lines.get(&(number + 1)));
            let (Some(line), Some(next)) = (line, next) else {
                return false;
            };
            let is_whole = line.part.is_none() && next.part.is_none();
            is_whole && line.start + line.text.len() as u64 + 1 == next.start
        })
    }

    fn content(&self, first: u32, last: u32) -> Bytes {
        let mut bytes = Vec::new();
        let lines = (first <= last).then(|| self.lines.range(first..=last));
        for (_, line) in lines.into_iter().flatten() {
            bytes.extend_from_slice(line.text);
            if line.part.is_none() {
                bytes.push(b'\n');
            }
        }
        Bytes(bytes)
    }

    /// Runs of matches, of which the next begins within the context of the one before.
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
            let start = self.lines.get(&first).map(|it| it.location(first, 0));
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
            let line = self.lines.get(&number);
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
        let start = self.lines.get(&found.line).map_or(0, |line| line.start);
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

/// Names that are definitions, if these are searched for.
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
mod tests {
    use super::*;
    use frontend::Window;

    fn found(text: &[u8], number: u32, ranges: &[(usize, usize)], context: usize) -> Match {
        let lines: Vec<_> = text.split(|&byte| byte == b'\n').collect();
        let line = |number: usize| ContextLine {
            line: number as u32,
            text: lines[number - 1].to_vec(),
            window: None,
        };
        let at = number as usize;
        let before = lines[..at - 1].iter().map(|line| line.len() + 1);
        Match {
            line: number,
            lines: 1,
            text: line(at).text,
            ranges: ranges.iter().map(|&(start, end)| start..end).collect(),
            before: (at.saturating_sub(context).max(1)..at).map(line).collect(),
            after: (at + 1..=(at + context).min(lines.len()))
                .map(line)
                .collect(),
            offset: before.sum::<usize>() as u64,
            ..Match::default()
        }
    }

    fn shown(text: &[u8], matches: &[Match], context: u32) -> Vec<(String, u32, Vec<u64>)> {
        let chunks = FileLines::new(matches, context).chunks();
        let shown = chunks.into_iter().map(|chunk| {
            let start = chunk.content_start.byte_offset as usize;
            assert!(text[start..].starts_with(&chunk.content.0), "{start}");
            for range in &chunk.ranges {
                assert!(range.end.byte_offset as usize <= start + chunk.content.0.len());
            }
            let starts = chunk.ranges.iter().map(|range| range.start.byte_offset);
            let content = String::from_utf8_lossy(&chunk.content.0).into_owned();
            (content, chunk.content_start.line_number, starts.collect())
        });
        shown.collect()
    }

    const TEXT: &[u8] = b"zero\none x\ntwo\n\nfour x\nfive x\nsix\nseven\n";

    #[test]
    fn chunks_merge_only_if_their_context_overlaps() {
        let matches: Vec<_> = [(2, 4, 5), (5, 5, 6), (6, 5, 6)]
            .map(|(line, start, end)| found(TEXT, line, &[(start, end)], 3))
            .into();
        let own = |content: &str, line, starts: &[u64]| (content.to_owned(), line, starts.to_vec());
        let expected = [
            own("one x\n", 2, &[9]),
            own("four x\n", 5, &[21]),
            own("five x\n", 6, &[28]),
        ];
        assert_eq!(shown(TEXT, &matches, 0), expected);
        let expected = [
            own("zero\none x\ntwo\n", 1, &[9]),
            own("\nfour x\nfive x\nsix\n", 4, &[21, 28]),
        ];
        assert_eq!(shown(TEXT, &matches, 1), expected);
        assert_eq!(shown(TEXT, &matches, 2)[0].2, [9, 21, 28]);
    }

    #[test]
    fn a_part_of_a_line_stands_alone() {
        let mut matches = [1, 2, 3].map(|line| found(b"a x\nb x\nc x", line, &[(2, 3)], 2));
        matches[1].window = Some(Window {
            start: 1000,
            line_bytes: 5000,
        });
        matches[2].offset = 5005;
        let file = FileLines::new(&matches, 2);
        let chunks = file.chunks();
        let contents: Vec<_> = chunks.iter().map(|it| &it.content.0[..]).collect();
        assert_eq!(contents, [&b"a x\n"[..], b"b x", b"c x\n"]);
        let range = chunks[1].ranges[0];
        assert_eq!((range.start.byte_offset, range.start.column), (1006, 1003));
        assert_eq!(chunks[1].content_start.byte_offset, 1004);
        let lines = file.line_matches();
        assert_eq!(
            (lines[1].line_start, lines[1].line_fragments[0].line_offset),
            (1004, 2)
        );
    }

    #[test]
    fn spans_end_on_the_line_of_their_last_byte() {
        let span = Match {
            line: 4,
            lines: 2,
            text: "ü{\r\n}\r".into(),
            ranges: vec![2..6],
            offset: 30,
            ..Match::default()
        };
        let matches = [span];
        let chunk = &FileLines::new(&matches, 0).chunks()[0];
        assert_eq!(chunk.content.0, "ü{\r\n}\r\n".as_bytes());
        let Range { start, end } = chunk.ranges[0];
        assert_eq!(
            (start.byte_offset, start.line_number, start.column),
            (32, 4, 2)
        );
        assert_eq!((end.byte_offset, end.line_number, end.column), (36, 5, 2));
    }
}
