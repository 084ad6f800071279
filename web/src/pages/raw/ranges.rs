//! The header `Range` of a request for a file (RFC 9110, section 14).
//!
//! As the standard allows, a header is ignored if it is malformed, names another unit, or has
//! overlapping ranges or more than [`RANGES_MAX`].

use axum::http::{HeaderMap, HeaderValue, header};
use std::ops::Range;

/// Ranges of a request. More cost more than the file.
const RANGES_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selected {
    Whole,
    One(Range<u64>),
    /// No overlaps, in the order of the request.
    Many(Vec<Range<u64>>),
    Unsatisfiable,
}

/// Returns the selected part of a file of `total` bytes.
pub(super) fn select(headers: &HeaderMap, total: u64) -> Selected {
    let mut values = headers.get_all(header::RANGE).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().map_or(Selected::Whole, |it| of(it, total)),
        _ => Selected::Whole,
    }
}

fn of(value: &str, total: u64) -> Selected {
    let ranges = match value.split_once('=') {
        Some((unit, ranges)) if unit.trim().eq_ignore_ascii_case("bytes") => ranges,
        _ => return Selected::Whole,
    };
    let specs = ranges.split(',').map(|it| it.trim_matches([' ', '\t']));
    let specs: Vec<&str> = specs
        .filter(|spec| !spec.is_empty())
        .take(RANGES_MAX + 1)
        .collect();
    if specs.is_empty() || specs.len() > RANGES_MAX {
        return Selected::Whole;
    }
    let mut selected = Vec::new();
    for spec in specs {
        let Some(range) = parse(spec, total) else {
            return Selected::Whole;
        };
        selected.extend(range);
    }
    match selected.len() {
        0 => Selected::Unsatisfiable,
        // A suffix of an empty file has no `Content-Range`.
        1 if selected[0].is_empty() => Selected::Whole,
        1 => Selected::One(selected.remove(0)),
        _ if overlap(&selected) => Selected::Whole,
        _ => Selected::Many(selected),
    }
}

/// `None` if malformed, `Some(None)` beyond the end of the file.
fn parse(spec: &str, total: u64) -> Option<Option<Range<u64>>> {
    let (first, last) = spec.split_once('-')?;
    if first.is_empty() {
        let count = number(last)?;
        return Some((count > 0).then(|| total.saturating_sub(count)..total));
    }
    let last = match last {
        "" => u64::MAX,
        last => number(last)?,
    };
    let first = number(first).filter(|first| *first <= last)?;
    Some((first < total).then(|| first..last.saturating_add(1).min(total)))
}

/// An overflow is beyond every file.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

fn overlap(ranges: &[Range<u64>]) -> bool {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| range.start);
    sorted.windows(2).any(|pair| pair[1].start < pair[0].end)
}

pub(super) fn content_range(range: &Range<u64>, total: u64) -> HeaderValue {
    let text = format!("bytes {}-{}/{total}", range.start, range.end - 1);
    HeaderValue::from_str(&text).expect("digits are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_select_what_the_standard_says() {
        let one = |range| Selected::One(range);
        for (value, expected) in [
            ("bytes=0-4", one(0..5)),
            ("bytes=5-", one(5..10)),
            ("bytes=-3", one(7..10)),
            ("bytes=-30", one(0..10)),
            ("bytes=9-99999999999999999999999", one(9..10)),
            ("BYTES=2-2", one(2..3)),
            ("bytes= 0-0 ,, ", one(0..1)),
            ("bytes=0-1,99-", one(0..2)),
            ("bytes=8-9,0-1", Selected::Many(vec![8..10, 0..2])),
            ("bytes=0-1,2-3", Selected::Many(vec![0..2, 2..4])),
            ("bytes=10-", Selected::Unsatisfiable),
            ("bytes=99999999999999999999999-", Selected::Unsatisfiable),
            ("bytes=-0", Selected::Unsatisfiable),
            ("bytes=0-4,4-5", Selected::Whole),
            ("bytes=5-4", Selected::Whole),
            ("bytes=0-4,5-4", Selected::Whole),
            ("bytes=", Selected::Whole),
            ("bytes=-", Selected::Whole),
            ("bytes=a-b", Selected::Whole),
            ("bytes=+1-2", Selected::Whole),
            ("bytes=1", Selected::Whole),
            ("lines=1-2", Selected::Whole),
            ("1-2", Selected::Whole),
        ] {
            assert_eq!(of(value, 10), expected, "{value}");
        }
        assert_eq!(of("bytes=-5", 0), Selected::Whole);
        assert_eq!(of("bytes=0-", 0), Selected::Unsatisfiable);
    }

    #[test]
    fn thousands_of_ranges_are_ignored() {
        let ranges = |count: usize| {
            let ranges = (0..count).map(|at| format!("{}-{}", 2 * at, 2 * at));
            format!("bytes={}", ranges.collect::<Vec<_>>().join(","))
        };
        assert_eq!(of(&ranges(RANGES_MAX + 1), 1 << 20), Selected::Whole);
        assert_eq!(of(&ranges(5000), 1 << 20), Selected::Whole);
        let Selected::Many(all) = of(&ranges(RANGES_MAX), 1 << 20) else {
            panic!("as many as may be");
        };
        assert_eq!(all.len(), RANGES_MAX);
        let mut headers = HeaderMap::new();
        headers.append(header::RANGE, HeaderValue::from_static("bytes=0-1"));
        assert_eq!(select(&headers, 10), Selected::One(0..2));
        headers.append(header::RANGE, HeaderValue::from_static("bytes=0-1"));
        assert_eq!(select(&headers, 10), Selected::Whole, "given twice");
    }
}
