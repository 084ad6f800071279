//! What is printed of a document: its matches and the lines around them, each line once.
//!
//! **Invariant:** rows ascend, and no line is in two of them.

use frontend::render::{ContextLine, Match};
use std::collections::BTreeMap;
use std::ops::Range;

/// A line, or the run of lines that a match is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row<'a> {
    /// The number of its first line.
    pub(super) number: u32,
    pub(super) lines: u32,
    /// Without the last line's end.
    pub(super) text: &'a [u8],
    pub(super) ranges: &'a [Range<usize>],
    /// The match; `None` of a line beside one.
    pub(super) found: Option<&'a Match>,
    /// Of its first byte in the document.
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

    fn beside(line: &'a ContextLine, offset: u64) -> Row<'a> {
        Row {
            number: line.line,
            lines: 1,
            text: &line.text,
            ranges: &[],
            found: None,
            offset,
        }
    }

    /// The number of the line behind it.
    pub(super) fn next(&self) -> u32 {
        self.number.saturating_add(self.lines)
    }

    /// Its lines one by one, each with what matches in it.
    pub(super) fn split(&self) -> impl Iterator<Item = (u32, &'a [u8], Vec<Range<usize>>)> {
        let (ranges, mut start) = (self.ranges, 0);
        let lines = self.text.split(|&byte| byte == b'\n');
        (self.number..=u32::MAX)
            .zip(lines)
            .map(move |(number, line)| {
                let (from, to) = (start, start + line.len());
                start = to + 1;
                let inside = ranges
                    .iter()
                    .filter(|range| range.start <= to && range.end >= from);
                let clipped =
                    |range: &Range<usize>| range.start.max(from) - from..range.end.min(to) - from;
                (number, line, inside.map(clipped).collect())
            })
    }
}

/// The rows of a document's matches, which ascend: of the first `most`, with as many lines around
/// each. A further match that is beside one of them is shown as one.
pub(super) fn rows(matches: &[Match], before: u32, after: u32, most: u64) -> Vec<Row<'_>> {
    let most = usize::try_from(most)
        .unwrap_or(usize::MAX)
        .min(matches.len());
    let (shown, others) = matches.split_at(most);
    let mut rows: BTreeMap<u32, Row<'_>> = BTreeMap::new();
    for found in shown {
        for row in around(found, before as usize, after as usize) {
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
        // A line of a match over several is not beside another one too.
        let is_new = row.number >= next || row.found.is_some();
        next = next.max(row.next());
        is_new
    });
    rows
}

/// The lines beside a match.
fn around(found: &Match, before: usize, after: usize) -> impl Iterator<Item = Row<'_>> {
    let mut start = found.offset;
    let above = found.before.iter().rev().take(before).map(move |line| {
        start = start.saturating_sub(line.text.len() as u64 + 1);
        Row::beside(line, start)
    });
    let mut end = found.offset + found.text.len() as u64 + 1;
    let below = found.after.iter().take(after).map(move |line| {
        let offset = end;
        end += line.text.len() as u64 + 1;
        Row::beside(line, offset)
    });
    above.chain(below)
}
