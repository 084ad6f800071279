//! What is printed of a document: its matches and the lines around them, each line once.
//!
//! **Invariant:** rows ascend, and no line is in two of them.

use frontend::{ContextLine, Match};
use std::borrow::Cow;
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

    /// What matches in it one by one, each with the line that it starts in, as far as it is there.
    pub(super) fn starts(&self) -> impl Iterator<Item = (u32, &'a [u8], Range<usize>)> {
        let mut lines = self.lines().peekable();
        self.ranges.iter().filter_map(move |range| {
            while lines
                .next_if(|(_, from, line)| from + line.len() < range.start)
                .is_some()
            {}
            let &(number, from, line) = lines.peek()?;
            let within = |at: usize| at.saturating_sub(from).min(line.len());
            Some((number, line, within(range.start)..within(range.end)))
        })
    }

    /// Number and text of each line, and where in the row it starts.
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

/// The first `most` of what matches in runs of lines that ascend, with the lines that they are in.
pub(super) fn first(matches: &[Match], most: u64) -> Vec<Match> {
    let mut rest = most;
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

/// The first `most` of what matches in one, with the lines that they are in, and the lines behind beside
/// it; `None` of none.
pub(super) fn first_of(found: &Match, most: u64) -> Option<Cow<'_, Match>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if most == 0 || found.ranges.len() <= most {
        return (most > 0).then_some(Cow::Borrowed(found));
    }
    let mut first = found.clone();
    first.ranges.truncate(most);
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
    let beside = (found.line.saturating_add(first.lines)..=u32::MAX)
        .zip(behind.split(|&byte| byte == b'\n'))
        .map(|(line, text)| ContextLine {
            line,
            text: text.to_vec(),
            window: None,
        });
    first.after = beside.chain(found.after.iter().cloned()).collect();
    Some(Cow::Owned(first))
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
