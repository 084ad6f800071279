//! Forward iteration over sequentially decoded lists.

use std::ops::Range;

/// Forward-only cursor.
pub(super) trait Forward {
    fn next(&mut self) -> Option<u32>;

    /// Passes ids below `end` to `take` and returns the next one.
    fn take_below(&mut self, end: u32, take: impl FnMut(u32)) -> Option<u32>;

    /// Next id of at least `target`. Targets must ascend.
    fn seek(&mut self, target: u32) -> Option<u32>;
}

pub(super) fn take_within(
    mut list: impl Forward,
    ranges: &[Range<u32>],
    mut take: impl FnMut(u32),
) {
    let mut next = list.next();
    for range in ranges {
        if next.is_some_and(|id| id < range.start) {
            next = list.seek(range.start);
        }
        if let Some(id) = next.filter(|&id| id < range.end) {
            take(id);
            next = list.take_below(range.end, &mut take);
        }
    }
}
