//! Comparison of API keys in constant time.

use std::hint::black_box;

/// The time reveals only the lengths of keys.
pub(super) fn is_known(keys: &[String], given: Option<&[u8]>) -> bool {
    let Some(given) = given else {
        return false;
    };
    let known = keys.iter().map(|key| is_equal(key.as_bytes(), given));
    // `fold` compares all keys, without an early exit.
    known.fold(false, |found, is_this| found | is_this)
}

fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let differing = a
        .iter()
        .zip(b)
        .fold(0, |bits, (a, b)| black_box(bits | (a ^ b)));
    a.len() == b.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn accepts_only_whole_keys() {
        let keys = ["first-key".to_owned(), "second".to_owned()];
        for (given, allowed) in [
            (Some("first-key"), true),
            (Some("second"), true),
            (Some("first-ke"), false),
            (Some("first-keyy"), false),
            (Some("First-key"), false),
            (Some(""), false),
            (None, false),
        ] {
            let given = given.map(str::as_bytes);
            assert_eq!(is_known(&keys, given), allowed, "{given:?}");
            assert!(!is_known(&[], given));
        }
    }
}
