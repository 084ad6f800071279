//! Bytes in JSON: readable text, and exact base64 if they are not UTF-8.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::borrow::Cow;

/// Field that no server writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("malformed base64 in an answer")]
    Base64,
    #[error("malformed hash in an answer")]
    Hash,
}

/// Returns the bytes of a pair such as `path` and `path_base64`.
pub fn exact(text: impl Into<String>, base64: Option<&str>) -> Result<Vec<u8>, Malformed> {
    match base64 {
        Some(base64) => BASE64.decode(base64).map_err(|_| Malformed::Base64),
        None => Ok(text.into().into_bytes()),
    }
}

/// Returns text, and base64 if the text is not exact.
pub(crate) fn readable(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    match str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(_) => (String::from_utf8_lossy(bytes), Some(BASE64.encode(bytes))),
    }
}

pub(crate) fn readable_owned(bytes: &[u8]) -> (String, Option<String>) {
    let (text, base64) = readable(bytes);
    (text.into_owned(), base64)
}

/// Renders hexadecimal digits. `format!` is too slow for the hash of every match.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = vec![0; 2 * bytes.len()];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    String::from_utf8(digits).expect("hexadecimal digits are ASCII")
}

pub(super) fn from_hex(digits: &str) -> Result<Vec<u8>, Malformed> {
    let value = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
    let byte = |pair: &[u8]| Some(value(*pair.first()?)? << 4 | value(*pair.get(1)?)?);
    let bytes = digits.as_bytes().chunks(2).map(byte);
    bytes.collect::<Option<_>>().ok_or(Malformed::Hash)
}
