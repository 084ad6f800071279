//! Where a page ended, as a token that a client gives back to get the next page.
//!
//! A cursor names the search, the documents that were searched, and how many matches there were. So the
//! next page belongs to the same answer, or the request fails. The checksum guards against accidents, such
//! as a lost letter. It has no key, so a client can forge a cursor. **Invariant:** a forged cursor does no
//! harm and reveals nothing that its query does not: the search and the documents are looked up, the total
//! is compared, and a page beyond the last item is empty.
//!
//! ```text
//! version 1, group 1, search 8, generation 8, total 8, offset 8, CRC-32C of these 4; in base64url
//! ```

use crate::choice::Group;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::SearchResult;

/// The version of the format.
const VERSION: u8 = 1;

/// Bytes before the checksum.
const BYTES: usize = 34;

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) group: Group,
    search: u64,
    generation: u64,
    total: u64,
    /// The number of items before the next page.
    pub(crate) offset: u64,
}

impl Cursor {
    /// The cursor before item number `offset` of an answer.
    pub(crate) fn new(answer: &SearchResult, group: Group, offset: usize) -> Cursor {
        Cursor {
            group,
            search: number(answer.id()),
            generation: number(answer.generation()),
            total: answer.len() as u64,
            offset: offset as u64,
        }
    }

    /// The id of the search.
    pub(crate) fn search(&self) -> String {
        format!("{:016x}", self.search)
    }

    /// The generation that was searched.
    pub(crate) fn generation(&self) -> String {
        format!("{:016x}", self.generation)
    }

    /// Whether the cursor was made for this answer. An incomplete answer may have been replaced.
    pub(crate) fn is_of(&self, answer: &SearchResult) -> bool {
        *self == Cursor::new(answer, self.group, self.offset as usize)
    }

    pub(crate) fn encode(&self) -> String {
        let mut bytes = vec![VERSION, self.group as u8];
        for number in [self.search, self.generation, self.total, self.offset] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        BASE64.encode(bytes)
    }

    pub(crate) fn decode(text: &str) -> Option<Cursor> {
        let bytes = BASE64.decode(text).ok()?;
        let (bytes, checksum) = bytes.split_at_checked(BYTES)?;
        if checksum != crc32c::crc32c(bytes).to_le_bytes() || bytes[0] != VERSION {
            return None;
        }
        let groups = [Group::None, Group::Package, Group::Document];
        let number = |index: usize| {
            let at = 2 + 8 * index;
            u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
        };
        Some(Cursor {
            group: *groups.get(usize::from(bytes[1]))?,
            search: number(0),
            generation: number(1),
            total: number(2),
            offset: number(3),
        })
    }
}

/// Reads an id of 16 hexadecimal digits.
fn number(id: &str) -> u64 {
    u64::from_str_radix(id, 16).expect("an id consists of hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_damaged_cursors() {
        let cursor = Cursor {
            group: Group::Document,
            search: 7,
            generation: u64::MAX,
            total: 1_000_000,
            offset: 20,
        };
        let text = cursor.encode();
        assert_eq!(Cursor::decode(&text), Some(cursor));
        assert_eq!(cursor.search(), "0000000000000007");
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
