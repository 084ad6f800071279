//! Intersection and union of posting lists.

use super::PostingList;
use super::bits::{Forward, for_each_one, has_bit};
use std::ops::Range;
use std::slice;

/// Ratio of list to ids above which ids are sought, not decoded. With 16 and 32 `errno == EINTR`
/// takes a fifth longer.
pub(super) const SEEK_RATIO: u32 = 8;

pub fn intersect(ids: &mut Vec<u32>, list: &PostingList<'_>) {
    let is_sought = list.len() / SEEK_RATIO > ids.len() as u32;
    match *list {
        PostingList::One(one) => ids.retain(|&id| id == one),
        PostingList::Bitmap { bits, .. } => retain(ids, |id| has_bit(bits, id)),
        PostingList::EliasFano(cursor) if is_sought => retain_sought(ids, cursor),
        PostingList::Gaps(cursor) if is_sought => retain_sought(ids, cursor),
        PostingList::EliasFano(_) | PostingList::Gaps(_) => {
            if let (Some(&first), Some(&last)) = (ids.first(), ids.last()) {
                let range = first..last.saturating_add(1);
                let all = ids.len() as u64 + u64::from(list.len());
                if all < range.len() as u64 / SPARSE_RATIO {
                    retain_common(ids, &list.within(slice::from_ref(&range)));
                } else {
                    retain_marked(ids, list, &range);
                }
            }
        }
    }
}

fn retain_sought(ids: &mut Vec<u32>, mut list: impl Forward) {
    let mut other = list.next();
    retain(ids, |id| {
        if other.is_some_and(|other| other < id) {
            other = list.seek(id);
        }
        other == Some(id)
    });
}

/// Ratio of the range to both lists above which a bitmap does not pay.
const SPARSE_RATIO: u64 = 64;

/// Keeps `ids` (ascending in `range`) in `list`. Marks them in a bitmap that is probed during
/// decoding: three times as fast as a merge, where each step waits for the last.
fn retain_marked(ids: &mut Vec<u32>, list: &PostingList<'_>, range: &Range<u32>) {
    let mut marked = vec![0_u64; range.len().div_ceil(64)];
    for &id in ids.iter() {
        let at = id.wrapping_sub(range.start);
        // Malformed lists have ids outside the range.
        if let Some(word) = marked.get_mut(at as usize / 64) {
            *word |= 1 << (at % 64);
        }
    }
    let mut kept = 0;
    list.for_each_within(slice::from_ref(range), |id| {
        let at = id.wrapping_sub(range.start);
        if let (Some(target), Some(word)) = (ids.get_mut(kept), marked.get(at as usize / 64)) {
            *target = id;
            kept += (word >> (at % 64) & 1) as usize;
        }
    });
    ids.truncate(kept);
}

/// Branch-free `Vec::retain`: `keep` is unpredictable.
fn retain(ids: &mut Vec<u32>, mut keep: impl FnMut(u32) -> bool) {
    let mut kept = 0;
    for at in 0..ids.len() {
        let id = ids[at];
        ids[kept] = id;
        kept += usize::from(keep(id));
    }
    ids.truncate(kept);
}

/// Keeps `ids` in `others`; both ascend. Branch-free, since the advancing side is unpredictable.
pub(crate) fn retain_common(ids: &mut Vec<u32>, others: &[u32]) {
    let (mut kept, mut at, mut at_other) = (0, 0, 0);
    while let (Some(&id), Some(&other)) = (ids.get(at), others.get(at_other)) {
        ids[kept] = id;
        kept += usize::from(id == other);
        at += usize::from(id <= other);
        at_other += usize::from(other <= id);
    }
    ids.truncate(kept);
}

type Ids<E> = Result<Option<Vec<u32>>, E>;

/// Ascending ids that all `parts` have. `None`, also from `ids_of`, means all ids.
pub(crate) fn common<P, E>(parts: &[P], mut ids_of: impl FnMut(&P) -> Ids<E>) -> Ids<E> {
    let mut left: Option<Vec<u32>> = None;
    for part in parts {
        match (&mut left, ids_of(part)?) {
            (_, None) => {}
            (None, ids) => left = ids,
            (Some(left), Some(ids)) => retain_common(left, &ids),
        }
        if left.as_ref().is_some_and(Vec::is_empty) {
            break;
        }
    }
    Ok(left)
}

/// Like [`common`], of any part.
pub(crate) fn united<P, E>(parts: &[P], mut ids_of: impl FnMut(&P) -> Ids<E>) -> Ids<E> {
    let mut all = Vec::new();
    for part in parts {
        match ids_of(part)? {
            None => return Ok(None),
            Some(ids) => all.extend(ids),
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(Some(all))
}

/// Union of `lists` inside ascending `ranges`. Stops before the next list once `stop`
/// returns true.
pub fn unite(
    lists: &[PostingList<'_>],
    universe: u32,
    ranges: &[Range<u32>],
    stop: &dyn Fn() -> bool,
) -> Vec<u32> {
    let wanted = || lists.iter().take_while(|_| !stop());
    let total: u64 = lists.iter().map(|list| u64::from(list.len())).sum();
    let mut ids = Vec::new();
    if total < u64::from(universe) / 64 {
        for list in wanted() {
            list.for_each_within(ranges, |id| ids.push(id));
        }
        ids.sort_unstable();
        ids.dedup();
        return ids;
    }
    let mut bits = vec![0_u8; universe.div_ceil(64) as usize * 8];
    for list in wanted() {
        list.for_each_within(ranges, |id| {
            if let Some(byte) = bits.get_mut(id as usize / 8) {
                *byte |= 1 << (id % 8);
            }
        });
    }
    for_each_one(&bits, 0..universe, |id| ids.push(id));
    ids
}

/// Joins adjacent ranges and drops empty ones; `None` on overlap.
pub(crate) fn push_range(ranges: &mut Vec<Range<u32>>, range: Range<u32>) -> Option<()> {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if range.start < last.end => return None,
        Some(last) if range.start == last.end => last.end = range.end,
        _ => ranges.push(range),
    }
    Some(())
}

/// Joins ascending numbers to ranges. Others, of a damaged file, stay apart: the reader of the
/// ranges refuses them.
pub(crate) fn joined(numbers: impl IntoIterator<Item = u32>) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_damaged_file_are_joined_without_a_panic() {
        assert_eq!(joined([3, 4, 6]), [3..5, 6..7]);
        assert_eq!(joined([5, 1, 2, 2]), [5..6, 1..3, 2..3]);
    }

    #[test]
    fn joins_touching_ranges_and_rejects_overlap() {
        let mut ranges = Vec::new();
        for range in [2..4, 4..5, 9..9, 7..8] {
            assert_eq!(push_range(&mut ranges, range), Some(()));
        }
        assert_eq!(ranges, [2..5, 7..8]);
        assert_eq!(push_range(&mut ranges, 6..9), None);
        assert_eq!(push_range(&mut ranges, 0..0), Some(()));
        assert_eq!(ranges, [2..5, 7..8]);
    }
}
