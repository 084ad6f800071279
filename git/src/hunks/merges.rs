//! Lines of a merge that no parent has.

use super::{FileHunks, Hunk};
use std::ops::Range;

#[derive(Default)]
pub(super) struct OwnLines(Option<Vec<Range<u32>>>);

impl OwnLines {
    /// Leaves those that are added against this parent, too.
    pub(super) fn against(self, before: &[u8], after: &[u8]) -> OwnLines {
        let added = added(before, after);
        OwnLines(Some(match self.0 {
            None => added,
            Some(known) => intersection(&known, &added),
        }))
    }

    pub(super) fn hunks(self, after: &[u8]) -> FileHunks {
        let lines: Vec<&[u8]> = after.split_inclusive(|&byte| byte == b'\n').collect();
        let (mut found, mut end) = (FileHunks::default(), 0);
        for range in self.0.unwrap_or_default() {
            let added = &lines[range.start as usize..range.end as usize];
            found.push(range.start - end, &[], added);
            end = range.end;
        }
        found
    }
}

fn added(before: &[u8], after: &[u8]) -> Vec<Range<u32>> {
    let mut at = 0;
    let hunks = FileHunks::between(before, after).hunks;
    let ranges = hunks.into_iter().map(|Hunk { gap, added, .. }| {
        let start = at + gap;
        at = start + added.lines;
        start..at
    });
    ranges.filter(|range| !range.is_empty()).collect()
}

fn intersection(one: &[Range<u32>], other: &[Range<u32>]) -> Vec<Range<u32>> {
    let (mut found, mut from) = (Vec::new(), 0);
    for range in one {
        while other.get(from).is_some_and(|it| it.end <= range.start) {
            from += 1;
        }
        let overlapping = other[from..].iter().take_while(|it| it.start < range.end);
        found.extend(overlapping.map(|it| it.start.max(range.start)..it.end.min(range.end)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Changed;

    #[test]
    fn a_merge_adds_the_lines_of_no_parent() {
        let after = b"a\nx\nboth\ny\nb\n";
        let parents: [&[u8]; 2] = [b"a\nx\nb\n", b"a\ny\nb\n"];
        let own = parents.iter().fold(OwnLines::default(), |own, before| {
            own.against(before, after)
        });
        let found = own.hunks(after);
        assert_eq!(found.text, b"both\n");
        let changed = Changed { lines: 1, bytes: 5 };
        let hunk = Hunk {
            gap: 2,
            added: changed,
            ..Hunk::default()
        };
        assert_eq!(found.hunks, [hunk]);
    }
}
