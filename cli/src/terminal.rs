//! Text from repositories and other processes, made safe to print on a terminal; and closed pipes.

use std::borrow::Cow;
use std::fmt::Write;
use std::io;

/// Escapes control characters (other than tab and line feed) and characters that reorder text, as
/// `\u{1b}`. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn escaped<T: AsRef<[u8]> + ?Sized>(bytes: &T) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes.as_ref());
    if !text.chars().any(is_unsafe) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_unsafe(letter) {
            write!(out, "{}", letter.escape_unicode()).expect("writing to a string cannot fail");
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

fn is_unsafe(letter: char) -> bool {
    (letter.is_control() && letter != '\t' && letter != '\n')
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether the reader of our output has closed its pipe, which is not an error: `trawl … | head`.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_and_reordering_characters() {
        assert_eq!(escaped(b"int a;\tx"), "int a;\tx");
        assert_eq!(escaped(b"\x1b[31mred"), "\\u{1b}[31mred");
        assert_eq!(escaped("a\u{202e}b\u{9b}c"), "a\\u{202e}b\\u{9b}c");
        assert_eq!(escaped(b"na\xefve"), "na\u{fffd}ve");
    }
}
