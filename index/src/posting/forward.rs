//! Walking along a list whose ids are decoded one after the other.

use std::ops::Range;

/// A position in a list, which moves forward only.
pub(super) trait Forward {
    /// Returns the id at the position and moves behind it.
    fn next(&mut self) -> Option<u32>;

    /// Calls `take` with the ids below `end`, returns the next id and moves behind it.
    fn take_below(&mut self, end: u32, take: impl FnMut(u32)) -> Option<u32>;

    /// Returns the first id from here on that is at least `target` and moves behind it. Targets must
    /// ascend.
    fn seek(&mut self, target: u32) -> Option<u32>;
}

/// Calls `take` with the ids inside `ranges`, which ascend.
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
