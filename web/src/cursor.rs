//! Where a page ended, as a word that a client gives back to get the next one.
//!
//! It names the run, the documents it was about and how many matches it had: so a page that follows
//! another is of the same answer, or there is none. The checksum is against accidents, such as a
//! letter that was lost on the way: it has no key, so whoever wants can make a cursor. **Invariant:**
//! such a one gives nothing that its query does not, and does no harm: the run and the documents are
//! looked up, the total is compared, and behind the last item there is an empty page.
//!
//! ```text
//! version 1, group 1, run 8, generation 8, total 8, offset 8, CRC-32C of these 4; in base64url
//! ```

use crate::choice::Group;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::SearchResult;

/// The form of a cursor; another one when it changes.
const VERSION: u8 = 1;

const BYTES: usize = 34;

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) group: Group,
    run: u64,
    generation: u64,
    total: u64,
    /// Items before the page that is to come.
    pub(crate) offset: u64,
}

impl Cursor {
    /// Before item number `offset` of an answer.
    pub(crate) fn new(answer: &SearchResult, group: Group, offset: usize) -> Cursor {
        Cursor {
            group,
            run: number(answer.id()),
            generation: number(answer.generation()),
            total: answer.len() as u64,
            offset: offset as u64,
        }
    }

    /// The run's id.
    pub(crate) fn run(&self) -> String {
        format!("{:016x}", self.run)
    }

    /// The set of shards that the run was about.
    pub(crate) fn generation(&self) -> String {
        format!("{:016x}", self.generation)
    }

    /// Whether this is the answer that it was made for. Of one that was incomplete another may have
    /// come in the place.
    pub(crate) fn is_of(&self, answer: &SearchResult) -> bool {
        *self == Cursor::new(answer, self.group, self.offset as usize)
    }

    pub(crate) fn encode(&self) -> String {
        let mut bytes = vec![VERSION, self.group as u8];
        for number in [self.run, self.generation, self.total, self.offset] {
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
            run: number(0),
            generation: number(1),
            total: number(2),
            offset: number(3),
        })
    }
}

/// An id of 16 hexadecimal digits.
fn number(id: &str) -> u64 {
    u64::from_str_radix(id, 16).expect("ids are of hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_else_is_a_cursor() {
        let cursor = Cursor {
            group: Group::Document,
            run: 7,
            generation: u64::MAX,
            total: 1_000_000,
            offset: 20,
        };
        let text = cursor.encode();
        assert_eq!(Cursor::decode(&text), Some(cursor));
        assert_eq!(cursor.run(), "0000000000000007");
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
