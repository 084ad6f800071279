//! Token for the next page of an answer. At the first match it is a *link* to the answer.
//!
//! A cursor has the query, the generation, and a hash of scope and length of the answer. It works
//! on every frontend with the same secret, also after the answer is evicted, until the answer
//! changes. It reveals nothing to callers with another scope. It has no search id, which is private
//! to a client.
//!
//! **Invariant:** cursors are signed (see `link_secrets`), but a forged one does no more than its
//! query: that is checked as usual, the answer is compared, and a page past the end is empty.
//!
//! ```text
//! route                        8 hexadecimal digits: see [`Route`]
//! in base64url:
//!   version 1, group and copies 1, generation 8, answer 8, offset 8, query
//!   signature 16               of the route (4 bytes) and all before it
//! ```

use crate::search::choice::{Copies, Group};
use access::{LinkKeys, SIGNATURE_BYTES};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::{Query, SearchResult};

const VERSION: u8 = 5;

/// Added to the group if copies are folded.
const FOLDED: u8 = 0x80;

const HEAD_BYTES: usize = 26;

const ROUTE_LEN: usize = 8;

/// Key by which a proxy chooses a frontend, equal for all pages of a search: CRC-32C of the query
/// as typed. Only speed depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Route(pub(crate) u32);

impl Route {
    pub(crate) fn of(q: Option<&[u8]>) -> Route {
        Route(q.map_or(0, crc32c::crc32c))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) route: Route,
    pub(crate) group: Group,
    pub(crate) copies: Copies,
    generation: u64,
    /// Result of [`hash`].
    answer: u64,
    /// Items before the next page.
    pub(crate) offset: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadCursor {
    Malformed,
    /// Altered, or signed with an unknown secret.
    Unsigned,
}

impl Cursor {
    pub(crate) fn new(
        answer: &SearchResult,
        group: Group,
        copies: Copies,
        offset: usize,
    ) -> Cursor {
        Cursor {
            route: Route::default(),
            group,
            copies,
            generation: number(answer.generation()),
            answer: hash(answer.identity(), answer.scope, answer.len()),
            offset: offset as u64,
        }
    }

    pub(crate) fn by(self, route: Route) -> Cursor {
        Cursor { route, ..self }
    }

    pub(crate) fn generation(&self) -> String {
        format!("{:016x}", self.generation)
    }

    /// False if an incomplete answer was replaced.
    pub(crate) fn is_of(&self, answer: &SearchResult) -> bool {
        let of_answer = Cursor::new(answer, self.group, self.copies, self.offset as usize);
        *self == of_answer.by(self.route)
    }

    pub(crate) fn encode(&self, query: &Query, keys: &LinkKeys) -> String {
        let folded = FOLDED * u8::from(self.copies == Copies::Folded);
        let mut bytes = self.route.0.to_be_bytes().to_vec();
        bytes.extend([VERSION, self.group as u8 | folded]);
        for number in [self.generation, self.answer, self.offset] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&query.encode());
        bytes.extend_from_slice(&keys.sign(&bytes));
        let (_, rest) = bytes.split_at(size_of::<u32>());
        format!("{:08x}{}", self.route.0, BASE64.encode(rest))
    }

    pub(crate) fn decode(text: &str, keys: &LinkKeys) -> Result<(Cursor, Query), BadCursor> {
        let (signed, bytes) = signed(text).ok_or(BadCursor::Malformed)?;
        if !keys.verify(&bytes, signed) {
            return Err(BadCursor::Unsigned);
        }
        parse(&bytes).ok_or(BadCursor::Malformed)
    }
}

/// Signature, and the bytes that it covers.
fn signed(text: &str) -> Option<([u8; SIGNATURE_BYTES], Vec<u8>)> {
    let (route, rest) = text.split_at_checked(ROUTE_LEN)?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !route.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = u32::from_str_radix(route, 16).ok()?.to_be_bytes().to_vec();
    bytes.extend(BASE64.decode(rest).ok()?);
    let signed_len = bytes.len().checked_sub(SIGNATURE_BYTES)?;
    let signature = bytes.split_off(signed_len).try_into().ok()?;
    let version = bytes.get(size_of::<u32>())?;
    (*version == VERSION).then_some((signature, bytes))
}

fn parse(bytes: &[u8]) -> Option<(Cursor, Query)> {
    let (route, bytes) = bytes.split_first_chunk()?;
    let (head, query) = bytes.split_at_checked(HEAD_BYTES)?;
    let query = Query::decode(query)?;
    let groups = [Group::None, Group::Package, Group::Document];
    let number_at = |index: usize| {
        let at = 2 + 8 * index;
        u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"))
    };
    let cursor = Cursor {
        route: Route(u32::from_be_bytes(*route)),
        group: *groups.get(usize::from(head[1] & !FOLDED))?,
        copies: [Copies::All, Copies::Folded][usize::from(head[1] & FOLDED != 0)],
        generation: number_at(0),
        answer: number_at(1),
        offset: number_at(2),
    };
    Some((cursor, query))
}

fn hash(identity: &str, scope: [u8; 16], len: usize) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(identity.as_bytes());
    hasher.update(&scope);
    hasher.update(&(len as u64).to_le_bytes());
    let hash = hasher.finalize();
    let first = hash.as_bytes().first_chunk().expect("there are 32 bytes");
    u64::from_le_bytes(*first)
}

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
        let keys = LinkKeys::default();
        let cursor = Cursor {
            route: Route::of(Some(b"word /a+/ lang:c")),
            group: Group::Document,
            copies: Copies::Folded,
            generation: u64::MAX,
            answer: 1_000_000,
            offset: 20,
        };
        let text = cursor.encode(&query, &keys);
        assert_eq!(Cursor::decode(&text, &keys), Ok((cursor, query)));
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'a' { b'b' } else { b'a' };
            let other = String::from_utf8(other).unwrap();
            assert!(Cursor::decode(&other, &keys).is_err(), "{other}");
            assert!(Cursor::decode(&text[..at], &keys).is_err());
        }
        // The route is case-sensitive, too.
        let upper = text.to_ascii_uppercase();
        let other = format!("{}{}", &upper[..8], &text[8..]);
        assert!(Cursor::decode(&other, &keys).is_err() || other == text);
        assert_eq!(Cursor::decode("a cursor", &keys), Err(BadCursor::Malformed));
    }
}
