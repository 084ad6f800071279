//! Lines on the way to their commit, and those shared with an earlier text.

use super::sliding;
use gix_imara_diff::{Algorithm, Diff, InternedInput, Token};
use schema::message::BlameHunk;

/// Step of removing the common end of two texts.
const STEP: usize = 1024;

/// From 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines {
    /// Position in the blamed file.
    pub(super) target: u32,
    /// Position in its own text.
    pub(super) at: u32,
    pub(super) count: u32,
}

impl Lines {
    pub(super) fn all(count: u32) -> Vec<Lines> {
        let all = Lines {
            target: 0,
            at: 0,
            count,
        };
        Vec::from_iter((count > 0).then_some(all))
    }
}

/// Lines in an earlier text, by its numbers, and the others.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) passed: Vec<Lines>,
    pub(super) kept: Vec<Lines>,
}

struct Same {
    before: u32,
    after: u32,
    count: u32,
}

pub(super) fn count(text: &[u8]) -> u32 {
    let ends = text.iter().filter(|&&byte| byte == b'\n').count();
    let rest = usize::from(text.last().is_some_and(|&byte| byte != b'\n'));
    u32::try_from(ends + rest).unwrap_or(u32::MAX)
}

/// Divides the second text's lines.
pub(super) fn pass(before: &[u8], after: &[u8], lines: &[Lines]) -> Passed {
    divided(lines, &same(before, after))
}

pub(super) fn pass_changed(before: &[u8], after: &[u8], lines: &[Lines]) -> Passed {
    let end = Same {
        before: count(before),
        after: count(after),
        count: 0,
    };
    let (mut changed, mut at) = (Vec::new(), (0, 0));
    for same in same(before, after).into_iter().chain([end]) {
        let count = (same.before - at.0).min(same.after - at.1);
        if count > 0 {
            changed.push(Same {
                before: at.0,
                after: at.1,
                count,
            });
        }
        at = (same.before + same.count, same.after + same.count);
    }
    divided(lines, &changed)
}

fn divided(lines: &[Lines], same: &[Same]) -> Passed {
    let mut found = Passed::default();
    for lines in lines {
        divide(*lines, same, &mut found);
    }
    found
}

fn same(before: &[u8], after: &[u8]) -> Vec<Same> {
    let lines = count(after);
    let (before, after) = without_common_end(before, after);
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    let indent = |token| sliding::indent(input.interner[token]);
    diff.postprocess_with_heuristic(&input, |tokens: &[Token], block, earliest_end| {
        sliding::best_end(tokens, block, earliest_end, indent)
    });
    let (mut same, mut at) = (Vec::new(), (0, 0));
    let mut add = |(before, after): (u32, u32), end: u32| {
        if end > after {
            same.push(Same {
                before,
                after,
                count: end - after,
            });
        }
    };
    for hunk in diff.hunks() {
        add(at, hunk.after.start);
        at = (hunk.before.end, hunk.after.end);
    }
    add(at, lines);
    same
}

/// Removes the common end, in steps of 1 KiB cut at a line end, as in git: otherwise a block that
/// fits several places might move into it.
pub(crate) fn without_common_end<'t>(before: &'t [u8], after: &'t [u8]) -> (&'t [u8], &'t [u8]) {
    let steps = before.rchunks_exact(STEP).zip(after.rchunks_exact(STEP));
    let common = STEP * steps.take_while(|(one, other)| one == other).count();
    let end = &before[before.len() - common..];
    let first_line = end.iter().position(|&byte| byte == b'\n');
    let cut = common - first_line.map_or(common, |at| at + 1);
    (&before[..before.len() - cut], &after[..after.len() - cut])
}

fn divide(lines: Lines, same: &[Same], found: &mut Passed) {
    let end = lines.at + lines.count;
    let part = |from: u32, to: u32, at: u32| Lines {
        target: lines.target + (from - lines.at),
        at,
        count: to - from,
    };
    let mut from = lines.at;
    let first = same.partition_point(|same| same.after + same.count <= from);
    for same in &same[first..] {
        let (start, stop) = (same.after.max(from), (same.after + same.count).min(end));
        if start >= stop {
            break;
        }
        if from < start {
            found.kept.push(part(from, start, from));
        }
        let at = same.before + (start - same.after);
        found.passed.push(part(start, stop, at));
        from = stop;
    }
    if from < end {
        found.kept.push(part(from, end, from));
    }
}

pub(super) fn joined(hunks: impl Iterator<Item = BlameHunk>) -> Vec<BlameHunk> {
    let mut joined: Vec<BlameHunk> = Vec::new();
    for hunk in hunks {
        match joined.last_mut() {
            Some(last)
                if last.source == hunk.source
                    && last.or_earlier == hunk.or_earlier
                    && last.first + last.lines == hunk.first
                    && last.source_line + last.lines == hunk.source_line =>
            {
                last.lines += hunk.lines;
            }
            _ => joined.push(hunk),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(target: u32, at: u32, count: u32) -> Lines {
        Lines { target, at, count }
    }

    #[test]
    fn lines_that_the_earlier_text_has_are_passed_on_by_their_numbers_there() {
        let before = b"a\nb\nc\nd\n";
        let after = b"new\na\nb\nchanged\nd\nend";
        let all = [lines(10, 0, 6)];
        let found = pass(before, after, &all);
        assert_eq!(found.passed, [lines(11, 0, 2), lines(14, 3, 1)]);
        assert_eq!(
            found.kept,
            [lines(10, 0, 1), lines(13, 3, 1), lines(15, 5, 1)]
        );
        let middle = pass(before, after, &[lines(0, 2, 2)]);
        assert_eq!(
            (middle.passed, middle.kept),
            (vec![lines(0, 1, 1)], vec![lines(1, 3, 1)])
        );
    }

    #[test]
    fn changed_lines_are_passed_to_those_in_whose_place_they_came() {
        let found = pass_changed(b"a\nb\nc\n", b"a\nB\nnew\nc\n", &[lines(0, 0, 4)]);
        assert_eq!(found.passed, [lines(1, 1, 1)]);
        assert_eq!(found.kept, [lines(0, 0, 1), lines(2, 2, 2)]);
    }

    #[test]
    fn the_common_end_is_cut_in_steps_at_a_line_end() {
        let end = "0123456\n".repeat(300);
        let (before, after) = (format!("a\n{end}"), format!("b\nc\n{end}"));
        let (before, after) = without_common_end(before.as_bytes(), after.as_bytes());
        let rest = 2400 - 2048 + 8;
        assert_eq!((before.len(), after.len()), (2 + rest, 4 + rest));
        let (one, other) = ([b'x'; 3000], [b'x'; 2000]);
        assert_eq!(without_common_end(&one, &other), (&one[..], &other[..]));
        let lines = same(b"a\n", b"b\na\n").len();
        assert_eq!(lines, 1);
    }

    #[test]
    fn a_last_line_without_an_end_is_a_line() {
        assert_eq!(
            [count(b""), count(b"a"), count(b"a\n"), count(b"a\nb")],
            [0, 1, 1, 2]
        );
    }

    #[test]
    fn neighbours_of_one_commit_are_one_hunk() {
        let hunk = |first, lines, source, source_line| BlameHunk {
            first,
            lines,
            source,
            source_line,
            or_earlier: false,
        };
        let hunks = [
            hunk(1, 2, 0, 1),
            hunk(3, 1, 0, 3),
            hunk(4, 1, 0, 9),
            hunk(5, 1, 1, 10),
        ];
        assert_eq!(
            joined(hunks.into_iter()),
            [hunk(1, 3, 0, 1), hunk(4, 1, 0, 9), hunk(5, 1, 1, 10)]
        );
    }
}
