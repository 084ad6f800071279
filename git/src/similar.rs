//! Similarity of two files, as git measures it: bytes of the lines that both have.

use crate::error::Result;
use crate::objects::Objects;
use gix::ObjectId;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// Bytes of a compared part without a line end.
const PART_BYTES: usize = 64;

/// Start of a file searched for a NUL that marks it binary, as in git.
const BINARY_BYTES: usize = 8_000;

/// Score of equal files, as in git.
const SCORE_MAX: usize = 60_000;

/// Lowest score of a moved file.
pub(crate) const SCORE_MIN: usize = SCORE_MAX / 2;

/// Score of the only file of a last name that ends the search.
pub(crate) const NAMED_SCORE_MIN: usize = SCORE_MAX / 4 * 3;

pub(crate) fn last_name(path: &[u8]) -> Option<&[u8]> {
    path.rsplit(|&byte| byte == b'/').next()
}

/// True if texts of these sizes can share half.
pub(crate) fn may_be_similar(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= one.max(other) / 2
}

pub(crate) struct Content {
    pub(crate) bytes: usize,
    parts: Parts,
}

impl Content {
    /// `None` if over `bytes_max`.
    pub(crate) fn read(
        objects: &Objects<'_>,
        id: ObjectId,
        bytes_max: u64,
    ) -> Result<Option<Content>> {
        let text = objects.text(id, bytes_max)?;
        Ok(text.map(|text| Content {
            bytes: text.len(),
            parts: Parts::of(&text),
        }))
    }

    pub(crate) fn score(&self, other: &Content) -> usize {
        let largest = self.bytes.max(other.bytes).max(1);
        self.parts.shared(&other.parts) * SCORE_MAX / largest
    }
}

/// Bytes by hash of a line, long ones in parts. CRLF counts as one byte.
struct Parts(HashMap<u64, usize>);

impl Parts {
    fn of(text: &[u8]) -> Parts {
        let is_binary = text[..text.len().min(BINARY_BYTES)].contains(&0);
        let mut parts = HashMap::new();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let line = match line.strip_suffix(b"\r\n") {
                Some(line) if !is_binary => Cow::Owned([line, b"\n"].concat()),
                _ => Cow::Borrowed(line),
            };
            for part in line.chunks(PART_BYTES) {
                let mut hasher = DefaultHasher::new();
                hasher.write(part);
                *parts.entry(hasher.finish()).or_default() += part.len();
            }
        }
        Parts(parts)
    }

    fn shared(&self, other: &Parts) -> usize {
        let shared =
            |(part, bytes): (&u64, &usize)| other.0.get(part).map(|other| *bytes.min(other));
        self.0.iter().filter_map(shared).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_share_the_lines_that_both_have() {
        let shared =
            |one: &str, other: &str| Parts::of(one.as_bytes()).shared(&Parts::of(other.as_bytes()));
        assert_eq!(shared("a\nb\n", "b\nc\n"), 2);
        assert_eq!(shared("a\na\n", "a\n"), 2);
        assert_eq!(shared("a", "b"), 0);
        assert_eq!(shared("a\r\n", "a\n"), 2);
        assert_eq!(shared("a\r\n\0", "a\n"), 0);
        let long = "x".repeat(100);
        assert_eq!(shared(&long, &format!("{long}\n")), 64);
    }

    #[test]
    fn texts_of_too_different_sizes_are_not_similar() {
        assert!(may_be_similar(50, 100) && !may_be_similar(49, 100));
    }
}
