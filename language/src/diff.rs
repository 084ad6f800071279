//! Differences of two texts by lines, as in `git diff --histogram`, and of changed lines by words.
//! Lines count from 0.

pub use gix_imara_diff::Hunk;

use gix_imara_diff::{Algorithm, Diff, InternedInput};
use std::ops::Range;

const WORDS_BYTES_MAX: usize = 16 << 10;

const BINARY_BYTES: usize = 8_000;

pub struct TextDiff<'t> {
    pub before: Vec<&'t [u8]>,
    pub after: Vec<&'t [u8]>,
    pub hunks: Vec<Hunk>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub before: Range<u32>,
    pub after: Range<u32>,
    pub hunks: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffRow {
    pub before: Option<u32>,
    pub after: Option<u32>,
}

pub type WordMarks = (Vec<Vec<Range<usize>>>, Vec<Vec<Range<usize>>>);

pub fn is_binary(text: &[u8]) -> bool {
    text[..text.len().min(BINARY_BYTES)].contains(&0)
}

pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
}

pub fn mapped(hunks: &[Hunk], line: u32) -> (u32, bool) {
    let after = hunks.partition_point(|hunk| hunk.before.end <= line);
    let shift = |hunk: &Hunk| hunk.after.end.wrapping_sub(hunk.before.end);
    match hunks.get(after).filter(|hunk| hunk.before.start <= line) {
        Some(hunk) => (hunk.after.start, false),
        None => {
            let by = after.checked_sub(1).map_or(0, |last| shift(&hunks[last]));
            (line.wrapping_add(by), true)
        }
    }
}

impl<'t> TextDiff<'t> {
    pub fn of(before: &'t [u8], after: &'t [u8]) -> TextDiff<'t> {
        let mut input = InternedInput::default();
        let (before, after): (Vec<_>, Vec<_>) = (lines(before).collect(), lines(after).collect());
        input.update_before(before.iter().copied());
        input.update_after(after.iter().copied());
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_lines(&input);
        TextDiff {
            before,
            after,
            hunks: diff.hunks().collect(),
        }
    }

    pub fn counts(&self) -> (u32, u32) {
        let sum = |side: fn(&Hunk) -> &Range<u32>| {
            let lengths = self.hunks.iter().map(side);
            lengths.map(|range| range.end - range.start).sum()
        };
        (sum(|hunk| &hunk.after), sum(|hunk| &hunk.before))
    }

    pub fn sections(&self, context: u32) -> Vec<Section> {
        let (old, new) = (self.before.len() as u32, self.after.len() as u32);
        let mut sections: Vec<Section> = Vec::new();
        for (at, hunk) in self.hunks.iter().enumerate() {
            let around = |range: &Range<u32>, lines: u32| {
                let end = range.end.saturating_add(context).min(lines);
                range.start.saturating_sub(context)..end
            };
            let (before, after) = (around(&hunk.before, old), around(&hunk.after, new));
            match sections.last_mut() {
                Some(last) if last.before.end >= before.start => {
                    last.before.end = before.end;
                    last.after.end = after.end;
                    last.hunks.end = at + 1;
                }
                _ => sections.push(Section {
                    before,
                    after,
                    hunks: at..at + 1,
                }),
            }
        }
        sections
    }

    pub fn rows(&self, section: &Section) -> Vec<DiffRow> {
        let mut rows = Vec::new();
        let (mut old, mut new) = (section.before.start, section.after.start);
        let end = section.before.end..section.after.end;
        for hunk in self.hunks[section.hunks.clone()].iter().chain([&Hunk {
            before: end.start..end.start,
            after: end.end..end.end,
        }]) {
            let common = (old..hunk.before.start).zip(new..hunk.after.start);
            rows.extend(common.map(|(before, after)| DiffRow {
                before: Some(before),
                after: Some(after),
            }));
            rows.extend(hunk.before.clone().map(|line| DiffRow {
                before: Some(line),
                after: None,
            }));
            rows.extend(hunk.after.clone().map(|line| DiffRow {
                before: None,
                after: Some(line),
            }));
            (old, new) = (hunk.before.end, hunk.after.end);
        }
        rows
    }

    pub fn words(&self, hunk: &Hunk) -> WordMarks {
        let of = |lines: &[&'t [u8]], range: &Range<u32>| {
            lines[range.start as usize..range.end as usize].to_vec()
        };
        let (before, after) = (of(&self.before, &hunk.before), of(&self.after, &hunk.after));
        let bytes: usize = before.iter().chain(&after).map(|line| line.len()).sum();
        if before.is_empty() || after.is_empty() || bytes > WORDS_BYTES_MAX {
            return (
                vec![Vec::new(); before.len()],
                vec![Vec::new(); after.len()],
            );
        }
        let mut input = InternedInput::default();
        input.update_before(before.iter().flat_map(|line| words(line)));
        input.update_after(after.iter().flat_map(|line| words(line)));
        let mut diff = Diff::compute(Algorithm::Myers, &input);
        diff.postprocess_no_heuristic(&input);
        (
            marked(&before, |token| diff.is_removed(token)),
            marked(&after, |token| diff.is_added(token)),
        )
    }
}

fn marked(lines: &[&[u8]], is_changed: impl Fn(u32) -> bool) -> Vec<Vec<Range<usize>>> {
    let mut token = 0;
    let line = |line: &&[u8]| {
        let (mut marks, mut at, mut common) = (Vec::<Range<usize>>::new(), 0, false);
        for word in words(line) {
            let end = at + word.len();
            match (is_changed(token), marks.last_mut()) {
                (true, Some(last)) if last.end == at => last.end = end,
                (true, _) => marks.push(at..end),
                (false, _) => common |= !word.trim_ascii().is_empty(),
            }
            (at, token) = (end, token + 1);
        }
        if common { marks } else { Vec::new() }
    };
    lines.iter().map(line).collect()
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let kind = |byte: u8| match byte {
        b'_' | 0x80.. => 0,
        _ if byte.is_ascii_alphanumeric() => 0,
        b' ' | b'\t' => 1,
        _ => 2,
    };
    line.chunk_by(move |one, other| kind(*one) == kind(*other) && kind(*one) < 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &[u8] = b"a\nb\nc\nd\ne\nf\ng\nh\nlast";
    const AFTER: &[u8] = b"new\na\nb\nC\nD\nd\ne\nf\ng\nh\nlast\n";

    #[test]
    fn hunks_have_the_lines_of_both_sides() {
        let diff = TextDiff::of(BEFORE, AFTER);
        let hunk = |before, after| Hunk { before, after };
        let expected = [hunk(0..0, 0..1), hunk(2..3, 3..5), hunk(8..9, 10..11)];
        assert_eq!(diff.hunks, expected);
        assert_eq!(diff.counts(), (4, 2));
        let sections = diff.sections(1);
        let ranges = sections
            .iter()
            .map(|it| (it.before.clone(), it.hunks.clone()));
        assert_eq!(ranges.collect::<Vec<_>>(), [(0..4, 0..2), (7..9, 2..3)]);
        assert_eq!(diff.sections(9).len(), 1);
        assert!(TextDiff::of(AFTER, AFTER).sections(3).is_empty());
    }

    #[test]
    fn rows_are_those_of_a_unified_diff() {
        let diff = TextDiff::of(b"a\nb\n", b"a\nc\n");
        let section = &diff.sections(3)[0];
        let rows = diff
            .rows(section)
            .into_iter()
            .map(|row| (row.before, row.after));
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [(Some(0), Some(0)), (Some(1), None), (None, Some(1))]
        );
    }

    #[test]
    fn a_line_is_mapped_by_the_hunks_before_it() {
        let diff = TextDiff::of(BEFORE, AFTER);
        let map = |line| mapped(&diff.hunks, line);
        assert_eq!([map(0), map(1)], [(1, true), (2, true)]);
        assert_eq!(map(2), (3, false), "the start of the change");
        assert_eq!(
            [map(3), map(7), map(8)],
            [(5, true), (9, true), (10, false)]
        );
        let back = TextDiff::of(AFTER, BEFORE);
        assert_eq!(mapped(&back.hunks, 0), (0, false));
        assert_eq!(mapped(&back.hunks, 5), (3, true));
    }

    #[test]
    fn words_are_marked_in_lines_that_share_some() {
        let diff = TextDiff::of(
            b"int old_name(a, b);\nx\n",
            b"int new_name(a, c);\n\xc3\xa4 y\n",
        );
        let (before, after) = diff.words(&diff.hunks[0]);
        assert_eq!(before, [vec![4..12, 16..17], vec![]]);
        assert_eq!(after, [vec![4..12, 16..17], vec![]]);
        let words: Vec<_> = words(b"a_1 \t+=\xc3\xa4").collect();
        assert_eq!(words, [&b"a_1"[..], b" \t", b"+", b"=", b"\xc3\xa4"]);
        assert!(is_binary(b"a\0") && !is_binary(b"a"));
    }
}
