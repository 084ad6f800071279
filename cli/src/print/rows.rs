//! Printed rows of a document: matches and context.
//!
//! **Invariant:** rows ascend, and context lines are unique.

use frontend::{ContextLine, Match, shown_place};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// A match can have several lines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row<'a> {
    pub(super) number: u32,
    pub(super) lines: u32,
    /// Excludes the last line end.
    pub(super) text: &'a [u8],
    pub(super) ranges: &'a [Range<usize>],
    /// `None` for a context line.
    pub(super) found: Option<&'a Match>,
    pub(super) offset: u64,
}

impl<'a> Row<'a> {
    pub(super) fn of(found: &'a Match) -> Row<'a> {
        Row {
            number: found.line,
            lines: found.lines.max(1),
            text: &found.text,
            ranges: &found.ranges,
            found: Some(found),
            offset: found.offset,
        }
    }

    fn context(line: &'a ContextLine, offset: u64) -> Row<'a> {
        Row {
            number: line.line,
            lines: 1,
            text: &line.text,
            ranges: &[],
            found: None,
            offset,
        }
    }

    /// Distance of the shown number from the document's, and the mark before the text.
    pub(super) fn place(&self) -> (u32, &'static [u8]) {
        let changed = self.found.and_then(|found| found.changed);
        let (number, mark) = shown_place(self.number, changed);
        (number.wrapping_sub(self.number), mark)
    }

    pub(super) fn next(&self) -> u32 {
        self.number.saturating_add(self.lines)
    }

    /// Lines as number, text and ranges.
    pub(super) fn split(&self) -> impl Iterator<Item = (u32, &'a [u8], Vec<Range<usize>>)> {
        let mut rest = self.ranges;
        self.lines().map(move |(number, from, line)| {
            let to = from + line.len();
            while let [first, others @ ..] = rest
                && first.end < from
            {
                rest = others;
            }
            let inside = rest
                .iter()
                .take_while(|range| range.start <= to)
                .filter(|range| range.end >= from);
            let clipped =
                |range: &Range<usize>| range.start.max(from) - from..range.end.min(to) - from;
            (number, line, inside.map(clipped).collect())
        })
    }

    /// Returns for each range its first line (number and text), and the part in it.
    pub(super) fn starts(&self) -> impl Iterator<Item = (u32, &'a [u8], Range<usize>)> {
        let mut lines = self.lines().peekable();
        self.ranges.iter().filter_map(move |range| {
            let is_above = |(_, from, line): &(u32, usize, &[u8])| from + line.len() < range.start;
            while lines.next_if(is_above).is_some() {}
            let &(number, from, line) = lines.peek()?;
            let within = |at: usize| at.saturating_sub(from).min(line.len());
            Some((number, line, within(range.start)..within(range.end)))
        })
    }

    /// Lines as number, offset in the row, and text.
    fn lines(&self) -> impl Iterator<Item = (u32, usize, &'a [u8])> + use<'a> {
        let (mut next, lines) = (0, self.text.split(|&byte| byte == b'\n'));
        (self.number..=u32::MAX)
            .zip(lines)
            .map(move |(number, line)| {
                let from = next;
                next += line.len() + 1;
                (number, from, line)
            })
    }
}

/// Cuts ascending matches after `max` ranges.
pub(super) fn first(matches: &[Match], max: u64) -> Vec<Match> {
    let mut rest = max;
    let mut first = Vec::new();
    for found in matches {
        let Some(found) = first_of(found, rest) else {
            break;
        };
        rest -= found.ranges.len().max(1) as u64;
        first.push(found.into_owned());
    }
    first
}

/// Lines after `max` ranges become context. `None` if `max` is 0.
pub(super) fn first_of(found: &Match, max: u64) -> Option<Cow<'_, Match>> {
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    if max == 0 || found.ranges.len() <= max {
        return (max > 0).then_some(Cow::Borrowed(found));
    }
    let mut first = found.clone();
    first.ranges.truncate(max);
    let last = first.ranges.last()?;
    let last = last.end.max(last.start + 1) - 1;
    let line_end = found.text.iter().skip(last).position(|&byte| byte == b'\n');
    let Some(length) = line_end.map(|end| last + end) else {
        return Some(Cow::Owned(first));
    };
    let clip = |range: &mut Range<usize>| range.end = range.end.min(length);
    first.ranges.iter_mut().for_each(clip);
    let (rows, behind) = (&found.text[..length], &found.text[length + 1..]);
    first.text = rows.to_vec();
    first.lines = 1 + rows.iter().filter(|&&byte| byte == b'\n').count() as u32;
    let context = (found.line.saturating_add(first.lines)..=u32::MAX)
        .zip(behind.split(|&byte| byte == b'\n'))
        .map(|(line, text)| ContextLine {
            line,
            text: text.to_vec(),
            window: None,
        });
    first.after = context.chain(found.after.iter().cloned()).collect();
    Some(Cow::Owned(first))
}

/// Rows of the first `max` ascending matches. Further ones in their context stay matches.
pub(super) fn rows(matches: &[Match], before: u32, after: u32, max: u64) -> Vec<Row<'_>> {
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let (shown, others) = matches.split_at(max.min(matches.len()));
    let mut rows: BTreeMap<u32, Row<'_>> = BTreeMap::new();
    for found in shown {
        for row in context(found, before as usize, after as usize) {
            rows.entry(row.number).or_insert(row);
        }
    }
    for found in shown {
        rows.insert(found.line, Row::of(found));
    }
    for found in others {
        rows.entry(found.line)
            .and_modify(|row| *row = Row::of(found));
    }
    let mut rows: Vec<Row<'_>> = rows.into_values().collect();
    let mut next = 0;
    rows.retain(|row| {
        // Lines inside a match are not context.
        let is_new = row.number >= next || row.found.is_some();
        next = next.max(row.next());
        is_new
    });
    rows
}

fn context(found: &Match, before: usize, after: usize) -> impl Iterator<Item = Row<'_>> {
    let mut start = found.offset;
    let above = found.before.iter().rev().take(before).map(move |line| {
        start = start.saturating_sub(line.text.len() as u64 + 1);
        Row::context(line, start)
    });
    let mut end = found.offset + found.text.len() as u64 + 1;
    let below = found.after.iter().take(after).map(move |line| {
        let offset = end;
        end += line.text.len() as u64 + 1;
        Row::context(line, offset)
    });
    above.chain(below)
}
