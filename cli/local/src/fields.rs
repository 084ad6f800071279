//! Fields of messages and files between processes of one build.
//!
//! A field is a number (u64, little-endian), or bytes with their length (u64) before.

use std::iter;

#[derive(Default)]
pub(crate) struct Fields(pub(crate) Vec<u8>);

impl Fields {
    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }
}

/// Pairs of fields up to the end.
pub(crate) fn pairs(mut rest: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    iter::from_fn(move || Some((bytes(&mut rest)?, bytes(&mut rest)?)))
}

pub(crate) fn number(rest: &mut &[u8]) -> Option<u64> {
    let (number, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u64::from_le_bytes(*number))
}

pub(crate) fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(rest)?).ok()?;
    rest.split_off(..length)
}
