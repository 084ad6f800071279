//! Where a page ended, as a token that a client gives back to get the next page.
//!
//! A cursor has the query, the generation that was searched, and a hash of the answer: of what its callers may see
//! and of how many matches there were. If the answer has changed, a request for the next page fails. Another
//! caller who may see the same packages can use the cursor, even when the answer is no longer kept. It says nothing of the
//! answer to those who do not see the same. It has no id of a search, which is its client's alone. The checksum
//! guards against accidents, such as a lost letter. It has no key, so a client can forge a cursor. **Invariant:** a
//! forged cursor does no more than its query does: that is checked like any other, the answer is compared,
//! and a page beyond the last item is empty.
//!
//! ```text
//! version 1, group and copies 1, generation 8, answer 8, offset 8, query, CRC-32C of all before it 4; in base64url
//! ```

use crate::choice::{Copies, Group};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::{Query, SearchResult};

/// The version of the format.
const VERSION: u8 = 4;

/// Added to the group's number if copies are folded.
const FOLDED: u8 = 0x80;

/// Bytes before the query.
const HEAD_BYTES: usize = 26;

/// Bytes of the checksum.
const CHECKSUM_BYTES: usize = 4;

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) group: Group,
    pub(crate) copies: Copies,
    generation: u64,
    /// A hash of the answer, as [`hash`].
    answer: u64,
    /// The number of items before the next page.
    pub(crate) offset: u64,
}

impl Cursor {
    /// The cursor before item number `offset` of an answer.
    pub(crate) fn new(
        answer: &SearchResult,
        group: Group,
        copies: Copies,
        offset: usize,
    ) -> Cursor {
        Cursor {
            group,
            copies,
            generation: number(answer.generation()),
            answer: hash(answer.identity(), answer.scope(), answer.len()),
            offset: offset as u64,
        }
    }

    /// The generation that was searched.
    pub(crate) fn generation(&self) -> String {
        format!("{:016x}", self.generation)
    }

    /// Whether the cursor was made for this answer. An incomplete answer may have been replaced.
    pub(crate) fn is_of(&self, answer: &SearchResult) -> bool {
        *self == Cursor::new(answer, self.group, self.copies, self.offset as usize)
    }

    /// Encodes the cursor of an answer to `query`.
    pub(crate) fn encode(&self, query: &Query) -> String {
        let folded = match self.copies {
            Copies::Folded => FOLDED,
            Copies::All => 0,
        };
        let mut bytes = vec![VERSION, self.group as u8 | folded];
        for number in [self.generation, self.answer, self.offset] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&query.encode());
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        BASE64.encode(bytes)
    }

    /// Decodes a cursor and its query.
    pub(crate) fn decode(text: &str) -> Option<(Cursor, Query)> {
        let bytes = BASE64.decode(text).ok()?;
        let (bytes, checksum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM_BYTES)?)?;
        if checksum != crc32c::crc32c(bytes).to_le_bytes() {
            return None;
        }
        let (head, query) = bytes.split_at_checked(HEAD_BYTES)?;
        let query = Query::decode(query).filter(|_| head[0] == VERSION)?;
        let groups = [Group::None, Group::Package, Group::Document];
        let number_at = |index: usize| {
            let at = 2 + 8 * index;
            u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"))
        };
        let cursor = Cursor {
            group: *groups.get(usize::from(head[1] & !FOLDED))?,
            copies: if head[1] & FOLDED == 0 {
                Copies::All
            } else {
                Copies::Folded
            },
            generation: number_at(0),
            answer: number_at(1),
            offset: number_at(2),
        };
        Some((cursor, query))
    }
}

/// Returns a hash of an answer: of query and generation, of what its callers may see, and of its length.
fn hash(identity: &str, scope: [u8; 16], len: usize) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(identity.as_bytes());
    hasher.update(&scope);
    hasher.update(&(len as u64).to_le_bytes());
    let hash = hasher.finalize();
    let first = hash.as_bytes().first_chunk().expect("there are 32 bytes");
    u64::from_le_bytes(*first)
}

/// Reads a name of 16 hexadecimal digits.
fn number(name: &str) -> u64 {
    u64::from_str_radix(name, 16).expect("a name consists of hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::QueryInput;

    #[test]
    fn rejects_damaged_cursors() {
        let parsed = Query::parse(&QueryInput {
            q: "word /a+/ lang:c",
            ..QueryInput::default()
        });
        let query = parsed.unwrap().query;
        let generation = u64::MAX;
        let cursor = Cursor {
            group: Group::Document,
            copies: Copies::Folded,
            generation,
            answer: 1_000_000,
            offset: 20,
        };
        let text = cursor.encode(&query);
        assert_eq!(Cursor::decode(&text), Some((cursor, query)));
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(Cursor::decode(&other), None, "{other}");
            assert_eq!(Cursor::decode(&text[..at]), None);
        }
        assert_eq!(Cursor::decode("a cursor"), None);
    }
}
