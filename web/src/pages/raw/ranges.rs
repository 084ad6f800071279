//! Headers of a request for a file: `Range` (RFC 9110, section 14), and the conditions `If-Match`,
//! `If-None-Match` and `If-Range` (section 13).
//!
//! As the standard allows, `Range` is ignored if it is malformed, names another unit, or has
//! overlapping ranges or more than [`RANGES_MAX`]. The tag is strong: the hash of the sent bytes.
//! Conditions on dates are ignored; an `If-Range` with one selects the whole file.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
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

/// `None` if malformed, `Some(None)` past the end.
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

const TAG_BYTES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Send,
    NotModified,
    /// The client means another file.
    Failed,
}

pub(super) fn tag(hash: &[u8]) -> HeaderValue {
    let digits = hash.iter().take(TAG_BYTES);
    let digits: String = digits.map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::from_str(&format!("\"{digits}\"")).expect("digits are ASCII")
}

/// True if the whole file may be unnecessary.
pub(super) fn has_conditions(headers: &HeaderMap) -> bool {
    let names = [header::IF_MATCH, header::IF_NONE_MATCH, header::RANGE];
    names.iter().any(|name| headers.contains_key(name))
}

/// `If-Match` comes first.
pub(super) fn check(headers: &HeaderMap, tag: &HeaderValue) -> Verdict {
    let is_listed = |name, is_weak_enough| lists(headers, name, tag, is_weak_enough);
    if headers.contains_key(header::IF_MATCH) && !is_listed(header::IF_MATCH, false) {
        Verdict::Failed
    } else if is_listed(header::IF_NONE_MATCH, true) {
        Verdict::NotModified
    } else {
        Verdict::Send
    }
}

/// False if `If-Range` names another file.
pub(super) fn allow_ranges(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let mut values = headers.get_all(header::IF_RANGE).iter();
    values.all(|value| value.as_bytes().trim_ascii() == tag.as_bytes())
}

/// Accepts the tag or `*`; weak tags if `weak`.
fn lists(headers: &HeaderMap, name: HeaderName, tag: &HeaderValue, weak: bool) -> bool {
    let values = headers.get_all(name).into_iter();
    let mut tags = values
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii);
    tags.any(|listed| {
        let listed = match listed.strip_prefix(b"W/") {
            Some(strong) if weak => strong,
            _ => listed,
        };
        listed == b"*" || listed == tag.as_bytes()
    })
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

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        [(name, HeaderValue::from_static(value))]
            .into_iter()
            .collect()
    }

    #[test]
    fn conditions_compare_tags_as_the_standard_says() {
        let tag = tag(&[0xab; 32]);
        assert_eq!(tag, "\"abababababababababababababababab\"");
        let (this, weak) = (
            "\"x\", \"abababababababababababababababab\"",
            "W/\"abababababababababababababababab\"",
        );
        for (name, value, expected) in [
            (header::IF_NONE_MATCH, this, Verdict::NotModified),
            (header::IF_NONE_MATCH, weak, Verdict::NotModified),
            (header::IF_NONE_MATCH, "*", Verdict::NotModified),
            (header::IF_NONE_MATCH, "\"x\"", Verdict::Send),
            (header::IF_NONE_MATCH, "nonsense", Verdict::Send),
            (header::IF_MATCH, this, Verdict::Send),
            (header::IF_MATCH, "*", Verdict::Send),
            (header::IF_MATCH, weak, Verdict::Failed),
            (header::IF_MATCH, "\"x\"", Verdict::Failed),
            (header::IF_MATCH, "", Verdict::Failed),
            (
                header::IF_MODIFIED_SINCE,
                "Thu, 01 Jan 1970 00:00:00 GMT",
                Verdict::Send,
            ),
        ] {
            assert_eq!(
                check(&headers(name.clone(), value), &tag),
                expected,
                "{name}: {value}"
            );
        }
        let allows = |value| allow_ranges(&headers(header::IF_RANGE, value), &tag);
        assert!(allows("\"abababababababababababababababab\""));
        assert!(!allows(weak));
        assert!(!allows("\"x\""));
        assert!(!allows("Thu, 01 Jan 1970 00:00:00 GMT"));
        assert!(allow_ranges(&HeaderMap::new(), &tag));
    }
}
