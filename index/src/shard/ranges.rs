//! Ranges of blocks: ascending, none empty, with a block between any two that is in neither.

use std::ops::Range;

/// Adds a range behind the others; an empty one is no range. `None`: it begins before their end.
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
    fn neighbours_are_joined_and_order_is_kept() {
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
