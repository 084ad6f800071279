//! Conditional requests for raw files: `If-Match`, `If-None-Match` and `If-Range` (RFC 9110,
//! section 13).
//!
//! The tag is strong: the hash of the sent bytes. Files have no dates: conditions on dates are
//! ignored, and an `If-Range` with one selects the whole file.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

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

/// Returns true if the whole file may be unnecessary.
pub(super) fn are_in(headers: &HeaderMap) -> bool {
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

/// Looks for the tag or `*`. Weak tags count if `weak` is true.
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
