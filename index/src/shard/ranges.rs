//! Lists of ranges: ascending, none empty, and never two that touch.

use std::ops::Range;

/// Appends a range, joining it to the last one when they touch; an empty range is dropped.
/// Returns `None` when it begins before the last range ends.
pub(super) fn push(ranges: &mut Vec<Range<u32>>, range: Range<u32>) -> Option<()> {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if range.start < last.end => return None,
        Some(last) if range.start == last.end => last.end = range.end,
        _ => ranges.push(range),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_touching_ranges_and_rejects_overlap() {
        let mut ranges = Vec::new();
        for range in [2..4, 4..5, 9..9, 7..8] {
            assert_eq!(push(&mut ranges, range), Some(()));
        }
        assert_eq!(ranges, [2..5, 7..8]);
        assert_eq!(push(&mut ranges, 6..9), None);
        assert_eq!(push(&mut ranges, 0..0), Some(()));
        assert_eq!(ranges, [2..5, 7..8]);
    }
}
